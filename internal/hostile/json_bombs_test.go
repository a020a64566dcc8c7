package hostile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
)

// goodJSON is a pipeline. Each bomb replaces "$".
const goodJSON = `{"name": "n", "steps": [{"id": "s", "action": "search", "params": {"pattern": "x"$}}]}`

func inPlaceOf(text string) []byte { return []byte(strings.Replace(goodJSON, "$", text, 1)) }

func TestHostile_json_that_is_bad(t *testing.T) {
	fstest.OneGoroutine(t)
	t.Parallel()
	// Nothing runs, so the file system does not matter.
	if _, err := millrace.Decode(inPlaceOf("")); err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string][]byte{
		"duplicate key":        inPlaceOf(`, "pattern": "y"`),
		"duplicate at top":     []byte(`{"name": "n", "force": false, "force": true, "steps": []}`),
		"depth 10,000":         inPlaceOf(`, "include": ` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)),
		"depth of objects":     inPlaceOf(`, "include": ` + strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000)),
		"open for ever":        bytes.Repeat([]byte("["), 15<<20),
		"number 1e999":         inPlaceOf(`, "max_file_bytes": 1e999`),
		"number -1e999":        inPlaceOf(`, "max_file_bytes": -1e999`),
		"number 1e-999":        inPlaceOf(`, "max_file_bytes": 1e-999`),
		"number of 1 MB":       inPlaceOf(`, "max_file_bytes": ` + strings.Repeat("9", 1<<20)),
		"lone high surrogate":  inPlaceOf(`, "path": "\ud800"`),
		"lone low surrogate":   inPlaceOf(`, "path": "\udc00x"`),
		"reversed surrogates":  inPlaceOf(`, "path": "\udc00\ud800"`),
		"invalid UTF-8":        inPlaceOf(`, "path": "` + "\xff" + `"`),
		"NUL":                  inPlaceOf("\x00"),
		"trailing garbage":     []byte(strings.Replace(goodJSON, "$", "", 1) + "x"),
		"second value":         []byte(strings.Replace(goodJSON, "$", "", 1) + "{}"),
		"byte order mark":      []byte("\ufeff" + strings.Replace(goodJSON, "$", "", 1)),
		"nothing":              nil,
		"null":                 []byte("null"),
		"NaN":                  inPlaceOf(`, "max_file_bytes": NaN`),
		"comment":              inPlaceOf(`/* */`),
		"262,145 values":       inPlaceOf(`, "include": [` + strings.Repeat("1,", 1<<18) + `1]`),
		"100 MB":               append(inPlaceOf(""), bytes.Repeat([]byte(" "), 100<<20)...),
		"100 MB in one string": inPlaceOf(`, "path": "` + strings.Repeat("x", 100<<20) + `"`),
		"truncated":            []byte(goodJSON[:40]),
	} {
		t.Run(what, func(t *testing.T) {
			err := decodeBad(t, millrace.Decoder{}, text)
			invalid, ok := errors.AsType[*millrace.ValidationError](err)
			if !ok || len(invalid.Problems) == 0 {
				t.Fatalf("want a *ValidationError, got %T: %.300v", err, err)
			}
			p := invalid.Problems[0]
			if p.Code != "invalid_json" && p.Code != "json_too_deep" && p.Code != "json_too_large" {
				t.Errorf("code is %q: %s", p.Code, p.Message)
			}
			if len(err.Error()) > 1<<10 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
	}
}

// Unknown names are errors at every level.
func TestHostile_json_with_unknown_fields(t *testing.T) {
	t.Parallel()
	for pointer, text := range map[string]string{
		"/Name":                    `{"Name": "n", "name": "n", "steps": [{"id": "s", "action": "search", "params": {"pattern": "x"}}]}`,
		"/steps/0/Params":          `{"name": "n", "steps": [{"id": "s", "action": "search", "Params": {}, "params": {"pattern": "x"}}]}`,
		"/steps/0/params/forced":   `{"name": "n", "steps": [{"id": "s", "action": "search", "params": {"pattern": "x", "forced": 1}}]}`,
		"/steps/0/expect/min_file": `{"name": "n", "steps": [{"id": "s", "action": "search", "expect": {"min_file": 1}, "params": {"pattern": "x"}}]}`,
		"/__proto__":               `{"name": "n", "__proto__": {}, "steps": [{"id": "s", "action": "search", "params": {"pattern": "x"}}]}`,
	} {
		wantProblem(t, decodeBad(t, millrace.Decoder{}, []byte(text)), "unknown_field", pointer)
	}
}

// The memory to decode an invalid text is bounded by a small multiple of its size.
func TestHostile_json_takes_bounded_memory(t *testing.T) {
	fstest.OneGoroutine(t)
	t.Parallel()
	size := fstest.ByItself(4<<20, 16<<20)
	for what, text := range map[string]string{
		"open for ever":  strings.Repeat("[", size),
		"objects":        strings.Repeat(`{"a":`, size/5),
		"many values":    "[" + strings.Repeat("0,", size/2-1),
		"many problems":  `{"name": "n", "steps": [` + strings.Repeat(`{"x":[]},`, 50_000) + `{}]}`,
		"wrong types":    `{"name": "n", "steps": [{"id": "s", "action": "search", "params": {"pattern": "x", "include": [` + strings.Repeat("1,", 100_000) + `1]}}]}`,
		"unknown fields": `{` + manyFields(100_000) + `"name": "n"}`,
		"one string":     `{"name": "` + strings.Repeat("x", size-100) + `"}`,
	} {
		t.Run(what, func(t *testing.T) {
			m := measure(t, job{Pipeline: text})
			if m.Kind != "validation" {
				t.Errorf("want a *ValidationError, got %s: %.300s", m.Kind, m.Err)
			}
			m.wantPeak(t, 256<<20)
		})
	}
}

func manyFields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"field%d": 1, `, i)
	}
	return b.String()
}

// A host sets the depth of pipelines and of stored plans.
func TestHostile_json_nested_too_deeply(t *testing.T) {
	t.Parallel()
	nested := func(n int) []byte {
		return inPlaceOf(`, "include": ` + strings.Repeat("[", n) + strings.Repeat("]", n))
	}
	// The pipeline itself has six levels.
	err := decodeBad(t, millrace.Decoder{MaxDepth: 20}, nested(30))
	wantProblem(t, err, "json_too_deep", "")
	err = decodeBad(t, millrace.Decoder{MaxDepth: -1}, nested(9_000))
	if invalid, ok := errors.AsType[*millrace.ValidationError](err); !ok || invalid.Problems[0].Code == "json_too_deep" {
		t.Errorf("9,000 levels are too deep without a limit: %.300v", err)
	}
	eachBackend(t, func(t *testing.T, b *backend) {
		before := b.snapshot(t)
		for _, text := range [][]byte{bytes.Repeat([]byte("["), 1<<20), bytes.Repeat([]byte(`{"version":`), 1<<20), []byte("{}"), nil, nested(0)} {
			if _, err := host().OpenPlan(t.Context(), b.fs, text); err == nil {
				t.Errorf("opened %.40s", text)
			} else if _, ok := errors.AsType[*millrace.PlanError](err); !ok {
				t.Errorf("want a *PlanError, got %T: %.300v", err, err)
			}
		}
		b.unchanged(t, before)
	})
}

func TestHostile_steps_that_are_bad(t *testing.T) {
	t.Parallel()
	search := func(name string, fields ...obj) obj {
		return act("search", obj{"pattern": "x"}, append(fields, id(name))...)
	}
	many := make([]obj, 21)
	for i := range many {
		many[i] = search(fmt.Sprint("s", i))
	}
	from := func(name, input string) obj {
		return act("count_occurrences", obj{"pattern": "x"}, obj{"input_from": input}, id(name))
	}
	for what, test := range map[string]struct {
		code, pointer string
		steps         []obj
	}{
		"21 steps":          {"too_many_steps", "/steps", many},
		"duplicate id":      {"duplicate_id", "/steps/1/id", []obj{search("a"), search("a")}},
		"forward reference": {"forward_reference", "/steps/0/input_from", []obj{from("a", "b"), search("b")}},
		"own result":        {"forward_reference", "/steps/0/input_from", []obj{from("a", "a")}},
		"cycle":             {"forward_reference", "/steps/0/input_from", []obj{from("a", "b"), from("b", "a")}},
		"cycle by condition": {"forward_reference", "/steps/0/condition/step_ref",
			[]obj{search("a", obj{"condition": obj{"type": "has_matches", "step_ref": "b"}}), from("b", "a")}},
		"nobody": {"unknown_reference", "/steps/0/input_from", []obj{from("a", "nobody")}},
	} {
		t.Run(what, func(t *testing.T) {
			wantProblem(t, decodeBad(t, millrace.Decoder{}, pipeline(t, test.steps...)), test.code, test.pointer)
		})
	}
}

func TestHostile_a_million_edits(t *testing.T) {
	t.Parallel()
	n := fstest.Slowed(50_000, fstest.ByItself(200_000, 1_000_000))
	one := `{"old_text": "a", "new_text": "b"}`
	text := func(n int) string {
		return `{"name": "n", "steps": [{"id": "s", "action": "multi_edit", "params": {"files": ["a.txt"], "edits": [` +
			strings.Repeat(one+",", n-1) + one + `]}}]}`
	}
	m := measure(t, job{Pipeline: text(n)})
	if m.Kind != "validation" {
		t.Errorf("%d: want a *ValidationError, got %s: %.300s", n, m.Kind, m.Err)
	}
	m.wantPeak(t, 256<<20)
	// The most edits that can be decoded, with a host that accepts a text of that length.
	err := decodeBad(t, millrace.Decoder{MaxBytes: 1 << 30}, []byte(text(n)))
	if _, ok := errors.AsType[*millrace.ValidationError](err); !ok {
		t.Errorf("want a *ValidationError, got %T: %.300v", err, err)
	}
	wantProblem(t, decodeBad(t, millrace.Decoder{}, []byte(text(10_000+1))), "too_many", "/steps/0/params/edits")
	// The same without JSON.
	edits := make([]actions.TextEdit, n)
	for i := range edits {
		edits[i] = actions.TextEdit{OldText: "a", NewText: "b"}
	}
	_, err = millrace.New("n").Step("s", actions.MultiEdit{Files: []string{"a.txt"}, Edits: edits}).Build()
	wantProblem(t, err, "too_many", "/steps/0/params/edits")
	if _, err := json.Marshal(err); err != nil {
		t.Error(err)
	}
}
