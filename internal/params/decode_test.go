package params_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/params"
)

func TestDecode(t *testing.T) {
	proto := kitchen{Small: 7, Numbers: []int{1, 2}, Opt: lineRange{Start: 1, End: -1}, Weights: map[mode]float64{"x": 1}}
	got, binds, problems := decode(proto, `{
		"files": ["a", "b"], "pattern": "<&>", "mode": "regex", "kinds": ["b", "a"], "whole": true, "line": 3.0, "count": 65535,
		"big": 18446744073709551615, "ratio": -1e-7, "rough": 0.1, "edits": [{"new_text": "", "old_text": "x"}],
		"ranges": [{"start": 3e0}], "opt": {"start": 5}, "more": {"start": 1, "end": 2}, "limit": 0, "title": "",
		"matrix": [[], ["x"]], "vars": {"k": "v"}, "table": {"t": {"start": 9}}, "timeout": 1500, "level": "high",
		"levels": ["low"], "since": "2025-05-11T10:15:30Z", "extra": {"any": [1.50, null]}, "Plain": "p"
	}`)
	if problems != nil || binds != nil {
		t.Fatalf("problems %v, binds %v", problems, binds)
	}
	empty := ""
	want := kitchen{
		common:  common{Files: []string{"a", "b"}},
		Pattern: "<&>", Mode: "regex", Kinds: []string{"b", "a"}, Whole: true, Line: 3, Small: 7, Count: 65535, Big: 1<<64 - 1,
		Ratio: -1e-7, Rough: 0.1, Edits: []pair{{Old: "x"}}, Ranges: []*lineRange{{Start: 3}}, Opt: lineRange{Start: 5, End: -1},
		More: &lineRange{1, 2}, Limit: new(int), Title: &empty, Numbers: []int{1, 2}, Matrix: [][]string{{}, {"x"}},
		Vars: map[string]string{"k": "v"}, Weights: map[mode]float64{"x": 1}, Table: map[string]lineRange{"t": {Start: 9}},
		Timeout: millis(1500 * time.Millisecond), Level: 2, Levels: []level{0}, Since: time.Date(2025, 5, 11, 10, 15, 30, 0, time.UTC),
		Extra: json.RawMessage(`{"any":[1.50,null]}`), Plain: "p",
	}
	opts := cmp.Options{cmp.AllowUnexported(kitchen{}), cmp.FilterPath(func(p cmp.Path) bool { return strings.HasSuffix(p.String(), "host") || p.String() == "Progress" }, cmp.Ignore())}
	if diff := cmp.Diff(want, got, opts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if proto.Numbers[0] != 1 || proto.Opt.Start != 1 {
		t.Error("the prototype was modified")
	}
	got.(kitchen).Numbers[0] = 99
	if proto.Numbers[0] != 1 {
		t.Error("the value shares its default with the prototype")
	}
}

func TestDecodeKeepsTheTypeOfTheValue(t *testing.T) {
	text := `{"start": 4}`
	v, _, _ := decode(lineRange{End: 9}, text)
	if v != (lineRange{4, 9}) {
		t.Errorf("got %#v", v)
	}
	proto := &lineRange{End: 9}
	p, _, _ := decode(proto, text)
	if p == any(proto) || *p.(*lineRange) != (lineRange{4, 9}) || proto.Start != 0 {
		t.Errorf("got %#v, prototype %#v", p, proto)
	}
	p, _, _ = decode((*lineRange)(nil), text)
	if *p.(*lineRange) != (lineRange{Start: 4}) {
		t.Errorf("got %#v", p)
	}
	// A struct behind a pointer is also read into its default, and not into the prototype's.
	prototype := kitchen{Pattern: "x", More: &lineRange{1, 5}}
	v, _, _ = decode(prototype, `{"pattern": "x", "more": {"start": 2}}`)
	if *v.(kitchen).More != (lineRange{2, 5}) || *prototype.More != (lineRange{1, 5}) {
		t.Errorf("got %+v, prototype %+v", v.(kitchen).More, prototype.More)
	}
	v, _, problems := params.Decode(lineRange{}, nil, "try", nil)
	if v != (lineRange{}) || len(problems) != 1 || problems[0].Message != "try action requires 'start' parameter" {
		t.Errorf("without params: %#v, %v", v, problems)
	}
}

type bound struct {
	Line    int            `json:"line,omitempty"`
	Whole   bool           `json:"whole,omitempty"`
	Files   []string       `json:"files" param:"required"`
	Numbers []int          `json:"numbers,omitempty"`
	Limit   *int           `json:"limit,omitempty"`
	Level   level          `json:"level"`
	Vars    map[string]int `json:"a/b,omitempty"`
	Opt     *lineRange     `json:"opt,omitempty"`
	Pattern string         `json:"pattern,omitempty" enum:"x,y"`
}

func TestDecodeBindings(t *testing.T) {
	got, binds, problems := decode(bound{Line: 7}, `{"line": "{{a.count}}", "whole": "{{a.ok}}", "files": "{{a.files}}", "numbers": [1, "{{a.count}}", 3],
		"limit": "{{a.edits}}", "level": "{{a.risk}}", "a/b": {"k~": "{{a.count}}", "l": 2}, "opt": {"start": "{{a.count}}"}, "pattern": "is {{a.risk}}"}`)
	if problems != nil {
		t.Fatal(problems)
	}
	wantBinds := map[string]string{
		"/line": "{{a.count}}", "/whole": "{{a.ok}}", "/files": "{{a.files}}", "/numbers/1": "{{a.count}}", "/limit": "{{a.edits}}",
		"/level": "{{a.risk}}", "/a~1b/k~0": "{{a.count}}", "/opt/start": "{{a.count}}",
	}
	if diff := cmp.Diff(wantBinds, binds); diff != "" {
		t.Errorf("binds (-want +got):\n%s", diff)
	}
	// A bound parameter keeps its default; a string keeps its template.
	want := bound{Line: 7, Numbers: []int{1, 0, 3}, Vars: map[string]int{"k~": 0, "l": 2}, Opt: &lineRange{}, Pattern: "is {{a.risk}}"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
	data, err := params.Encode(got, nil, binds)
	if want := `{"line":"{{a.count}}","whole":"{{a.ok}}","files":"{{a.files}}","numbers":[1,"{{a.count}}",3],"limit":"{{a.edits}}",` +
		`"level":"{{a.risk}}","a/b":{"k~":"{{a.count}}","l":2},"opt":{"start":"{{a.count}}"},"pattern":"is {{a.risk}}"}`; err != nil || string(data) != want {
		t.Errorf("encoded: %v\n%s", err, data)
	}
	if problems := params.Check("try", got, binds, isTemplate); problems != nil {
		t.Errorf("check: %v", lines(problems))
	}
}

// Every message, in full.
func TestDecodeProblems(t *testing.T) {
	tests := []struct {
		name string
		into any
		text string
		want []string
	}{
		{"not an object", lineRange{}, `[]`, []string{` wrong_type: 'params' must be an object, got list: use an object: {"start": ..., "end": ...}`}},
		{"missing", pair{}, `{}`, []string{
			"/old_text missing_param: try action requires 'old_text' parameter",
			"/new_text missing_param: try action requires 'new_text' parameter",
		}},
		{"empty", pair{}, `{"old_text": "", "new_text": ""}`, []string{"/old_text empty_param: old_text cannot be empty"}},
		{"zero", lineRange{}, `{"start": 0}`, []string{"/start empty_param: start cannot be 0"}},
		{"false", struct {
			Sure bool `json:"sure" param:"required"`
		}{}, `{"sure": false}`, []string{"/sure empty_param: sure cannot be false"}},
		{"empty list", bound{}, `{"files": []}`, []string{"/files empty_param: files cannot be empty"}},
		{"within a list", struct {
			Edits []pair `json:"edits" param:"required"`
		}{}, `{"edits": [{"old_text": "a", "new_text": "b"}, {"old_text": ""}]}`, []string{
			"/edits/1/old_text empty_param: edits[1].old_text cannot be empty",
			"/edits/1/new_text missing_param: try action requires 'edits[1].new_text' parameter",
		}},
		{"unknown", lineRange{}, `{"start": 1, "ende": 2, "zzz": 3, "START": 4}`, []string{
			"/ende unknown_field: try action has no parameter 'ende': did you mean 'end'?",
			"/zzz unknown_field: try action has no parameter 'zzz': use 'start' or 'end'",
			"/START unknown_field: try action has no parameter 'START': did you mean 'start'?",
		}},
		{"unknown of none", struct{}{}, `{"a/b": 2}`, []string{"/a~1b unknown_field: try action has no parameter 'a/b': it takes none"}},
		{"ignored and unexported fields", kitchen{}, `{"pattern": "x", "Progress": 1, "host": 2, "-": 3, "common": {}}`, []string{
			"/Progress unknown_field: try action has no parameter 'Progress': " + kitchenNames,
			"/host unknown_field: try action has no parameter 'host': " + kitchenNames,
			"/- unknown_field: try action has no parameter '-': " + kitchenNames,
			"/common unknown_field: try action has no parameter 'common': " + kitchenNames,
		}},
		{"null", kitchen{}, `{"pattern": null, "files": null, "more": null, "edits": [null], "extra": null, "level": null}`, []string{
			"/pattern null_param: 'pattern' must be a string, got null: What to look for.",
			"/files null_param: 'files' must be a list of strings, got null: leave it out to get the default",
			"/more null_param: 'more' must be an object, got null: leave it out to get the default",
			"/edits/0 null_param: 'edits[0]' must be an object, got null: leave it out to get the default",
			"/extra null_param: 'extra' must be a value of type json.RawMessage, got null: leave it out to get the default",
			"/level null_param: 'level' must be a string, got null: leave it out to get the default",
		}},
		{"wrong types", kitchen{}, `{"pattern": 42, "whole": "maybe", "line": "x", "small": true, "ratio": [], "files": "a.txt", "numbers": "1", "edits": {},
			"opt": 1, "vars": [1], "table": {"a\nb": 3}, "timeout": "soon", "level": "higher", "since": "now", "title": {}, "kinds": [1], "matrix": ["x"], "levels": 5}`, []string{
			`/pattern wrong_type: 'pattern' must be a string, got number: write it in quotes: "42"`,
			"/whole wrong_type: 'whole' must be true or false, got string: of strings, only a template such as {{step.ok}} can stand here",
			"/line wrong_type: 'line' must be a whole number, got string: of strings, only a template such as {{step.count}} can stand here",
			"/small wrong_type: 'small' must be a whole number, got bool",
			"/ratio wrong_type: 'ratio' must be a number, got list",
			`/files wrong_type: 'files' must be a list of strings, got string: use a list: ["a.txt"]`,
			"/numbers wrong_type: 'numbers' must be a list of whole numbers, got string: use a list: [...]",
			"/edits wrong_type: 'edits' must be a list of objects, got object: use a list: [...]",
			`/opt wrong_type: 'opt' must be an object, got number: use an object: {"start": ..., "end": ...}`,
			"/vars wrong_type: 'vars' must be an object, got list",
			"/table/a\nb wrong_type: 'table.a\\nb' must be an object, got number: use an object: {\"start\": ..., \"end\": ...}",
			"/timeout bad_value: 'timeout' is not valid: want a number of milliseconds",
			`/level bad_value: 'level' is not valid: unknown level "higher"`,
			`/since bad_value: 'since' is not valid: parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"`,
			"/title wrong_type: 'title' must be a string, got object",
			`/kinds/0 wrong_type: 'kinds[0]' must be a string, got number: write it in quotes: "1"`,
			`/matrix/0 wrong_type: 'matrix[0]' must be a list of strings, got string: use a list: ["x"]`,
			"/levels wrong_type: 'levels' must be a list, got number: use a list: [...]",
		}},
		{"words for true and false", kitchen{Pattern: "x"}, `{"pattern": "x", "whole": "No"}`, []string{"/whole wrong_type: 'whole' must be true or false, got string: write false"}},
		{"several in one string", kitchen{Pattern: "x"}, `{"pattern": "x", "files": "a.txt, b.txt"}`, []string{`/files wrong_type: 'files' must be a list of strings, got string: use a list: ["a.txt","b.txt"]`}},
		{"a text with a comma", kitchen{Pattern: "x"}, `{"pattern": "x", "files": "*.{go,md}"}`, []string{`/files wrong_type: 'files' must be a list of strings, got string: use a list: ["*.{go,md}"]`}},
		{"quotes too many", kitchen{Pattern: "x"}, `{"pattern": "x", "whole": "true", "line": "3", "ratio": "2.5"}`, []string{
			"/whole wrong_type: 'whole' must be true or false, got string: write it without quotes: true",
			"/line wrong_type: 'line' must be a whole number, got string: write it without quotes: 3",
			"/ratio wrong_type: 'ratio' must be a number, got string: write it without quotes: 2.5",
		}},
		{"numbers", kitchen{}, `{"pattern": "x", "line": 2.5, "small": 128, "count": -1, "big": 18446744073709551616, "rough": 1e39, "numbers": [1e300, 9.5e-1]}`, []string{
			"/line wrong_type: 'line' must be a whole number, got 2.5",
			"/small out_of_range: 'small' must be between -128 and 127, got 128",
			"/count out_of_range: 'count' must be between 0 and 65535, got -1",
			"/big out_of_range: 'big' must be between 0 and 18446744073709551615, got 18446744073709551616",
			"/rough out_of_range: 'rough' must be between -3.4028235e+38 and 3.4028235e+38, got 1e39",
			"/numbers/0 out_of_range: 'numbers[0]' must be between " + intBounds + ", got 1e300",
			"/numbers/1 wrong_type: 'numbers[1]' must be a whole number, got 9.5e-1",
		}},
		{"enum", kitchen{}, `{"pattern": "x", "mode": "xor", "kinds": ["a", "", "c"], "edits": [{"old_text": "a", "new_text": "", "kind": "la\u001b[st"}]}`, []string{
			"/mode unsupported_value: unsupported try mode 'xor': use 'auto', 'literal' or 'regex'",
			"/kinds/1 unsupported_value: unsupported try kinds[1] '': use 'a' or 'b'",
			"/kinds/2 unsupported_value: unsupported try kinds[2] 'c': use 'a' or 'b'",
			`/edits/0/kind unsupported_value: unsupported try edits[0].kind 'la\x1b[st': use 'first' or 'all'`,
		}},
		{"empty and template enum", kitchen{}, `{"pattern": "x", "mode": "", "kinds": ["{{a.risk}}"]}`, nil},
		{"no template", kitchen{}, `{"pattern": "x", "line": "{{count}}", "edits": "{{a.files}}", "opt": "{{a.files}}", "vars": "{{a.files}}", "matrix": "{{a.files}}"}`, []string{
			"/line wrong_type: 'line' must be a whole number, got string: of strings, only a template such as {{step.count}} can stand here",
			"/edits wrong_type: 'edits' must be a list of objects, got string: use a list: [...]",
			`/opt wrong_type: 'opt' must be an object, got string: use an object: {"start": ..., "end": ...}`,
			"/vars wrong_type: 'vars' must be an object, got string",
			"/matrix wrong_type: 'matrix' must be a list of lists, got string: use a list: [...]",
		}},
		{"required pointers", struct {
			N *int    `json:"n" param:"required"`
			S *string `json:"s" param:"required"`
		}{}, `{"n": 0}`, []string{"/s missing_param: try action requires 's' parameter"}},
		{"bad action", struct{ C chan int }{}, `{}`, []string{" bad_action: try action cannot be used: struct { C chan int }.C: chan int cannot be a parameter"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, _, got := decode(tt.into, tt.text)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if v == nil {
				t.Error("the value is nil")
			}
		})
	}
}

const kitchenNames = "use 'files', 'pattern', 'mode', 'kinds', 'whole', 'line', 'small', 'count', 'big', 'ratio', 'rough', 'edits', 'ranges', 'opt', " +
	"'more', 'limit', 'title', 'numbers', 'matrix', 'vars', 'weights', 'table', 'timeout', 'level', 'levels', 'since', 'extra' or 'Plain'"

func TestDecodeOffsets(t *testing.T) {
	text := `{"opt": { }, "patern": 1, "line": "x"}`
	_, _, problems := params.Decode(kitchen{}, parse(text), "try", nil)
	want := map[string]string{"/opt/start": `{ }`, "/patern": `"patern"`, "/line": `"x"`, "/pattern": text}
	for _, p := range problems {
		if !strings.HasPrefix(text[p.Offset:], want[p.Pointer]) || want[p.Pointer] == "" {
			t.Errorf("%s has the position of %q", p.Pointer, text[p.Offset:])
		}
		delete(want, p.Pointer)
	}
	if len(want) > 0 {
		t.Errorf("no problems for %v", want)
	}
}

func TestDecodeStopsCounting(t *testing.T) {
	text := `{"pattern": "x", "edits": [` + strings.TrimSuffix(strings.Repeat("1,", 50_000), ",") + `]}`
	_, _, problems := params.Decode(kitchen{}, parse(text), "try", nil)
	if len(problems) != 101 || problems[100].Message != "49900 more problems with the parameters of the try action" {
		t.Errorf("%d problems, the last is %+v", len(problems), problems[len(problems)-1])
	}
}

// A name or value of any length results in a short message.
func TestDecodeLongTexts(t *testing.T) {
	long := strings.Repeat("ü", 10_000)
	_, _, problems := params.Decode(kitchen{}, parse(`{"pattern": "x", "`+long+`": 1, "mode": "`+long+`"}`), "try", nil)
	if len(problems) != 2 {
		t.Fatal(lines(problems))
	}
	for _, p := range problems {
		if len(p.Message) > 300 {
			t.Errorf("message of %d bytes", len(p.Message))
		}
	}
}

// As many bindings as a text can hold: anything quadratic in their number would exceed the test's time limit.
func TestManyBindings(t *testing.T) {
	const n = 80_000
	text := `{"pattern": "x", "ranges": [` + strings.TrimSuffix(strings.Repeat(`{"start":"{{a.b}}"},`, n), ",") + `]}`
	v, binds, problems := params.Decode(kitchen{}, parse(text), "try", isTemplate)
	if len(problems) > 0 || len(binds) != n {
		t.Fatalf("%d bindings, %v", len(binds), problems)
	}
	if problems := params.Check("try", v, binds, isTemplate); problems != nil {
		t.Errorf("check: %v", lines(problems))
	}
	if data, err := params.Encode(v, nil, binds); err != nil || len(data) < n*len(`{"start":"{{a.b}}"}`) {
		t.Errorf("encoded %d bytes, %v", len(data), err)
	}
	got, err := of(v).Expand(binds, func(_, s string) (any, error) {
		if isTemplate(s) {
			return 5, nil
		}
		return s, nil
	})
	if err != nil || got.(kitchen).Ranges[n-1].Start != 5 {
		t.Errorf("expand: %v", err)
	}
}
