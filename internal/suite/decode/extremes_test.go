package decode_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// fill sets every field of an action to an extreme of its kind, or to a value that may be valid.
func fill(t *rapid.T, v reflect.Value, enum string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && rapid.IntRange(0, 2).Draw(t, "set") > 0 {
				fill(t, v.Field(i), v.Type().Field(i).Tag.Get("enum"))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), enum)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), rapid.IntRange(0, 2).Draw(t, "length"), 2))
		for i := range v.Len() {
			fill(t, v.Index(i), enum)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.String:
		texts := []string{"", "a", "a", "b/c", "{{find.files}}", "\\{{find.count}}", "\x00\u2028<&\"\\", strings.Repeat("x", 300), "\xff", " "}
		if enum != "" {
			texts = append(strings.Split(enum, ","), "", "no such")
		}
		v.SetString(rapid.SampledFrom(texts).Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.SampledFrom([]int64{0, 1, 2, -1, math.MaxInt32 + 1, math.MaxInt, math.MinInt}).Draw(t, "number"))
	}
}

// If Build accepts a pipeline, Decode accepts its JSON form, and the result is Equal.
func TestBuildAndDecodeTakeTheSame(t *testing.T) {
	registry := actions.Builtin()
	numbers := []int{0, 1, -1, math.MaxInt32, math.MaxInt/2 + 1, math.MaxInt, math.MinInt}
	number := rapid.SampledFrom(numbers)
	built := make(map[string]int)
	draw := func(r *rapid.T) {
		bound := func() *int {
			if rapid.Bool().Draw(r, "bound") {
				return nil
			}
			return new(number.Draw(r, "bound"))
		}
		prototype, _ := registry.Lookup(rapid.SampledFrom(registry.Names()).Draw(r, "action"))
		action := reflect.New(reflect.TypeOf(prototype))
		fill(r, action.Elem(), "")
		step := millrace.Step{
			ID: rapid.SampledFrom([]string{"a", "A-_9", strings.Repeat("i", 255)}).Draw(r, "id"), Action: action.Elem().Interface().(actions.Action),
			When: rapid.SampledFrom([]condition.Condition{
				{}, condition.CountGT("find", number.Draw(r, "value")), condition.CountEQ("find", math.MinInt), condition.FileExists("\xff"), condition.FileExists("x\x00"),
			}).Draw(r, "condition"),
			Raw: rapid.Bool().Draw(r, "raw"),
		}
		if rapid.Bool().Draw(r, "expects") {
			step.Expect = millrace.Expect{MinFiles: bound(), MaxFiles: bound(), MinEdits: bound(), MaxEdits: bound()}
		}
		switch prototype.Spec().Input {
		case actions.InputMany:
			step.InputFromAll = rapid.SampledFrom([][]string{{"find", "other"}, {"find", ""}, {"", ""}}).Draw(r, "inputs")
		case actions.InputFiles:
			step.InputFrom = rapid.SampledFrom([]string{"find", ""}).Draw(r, "input")
		}
		name := rapid.SampledFrom([]string{"p", "p", "p", "p", "p", "", " \t", "\u00a0", "\xff", "a\x00b", strings.Repeat("ä", 255), strings.Repeat("ä", 256)}).Draw(r, "name")
		p, err := millrace.New(name).Step("find", actions.Search{Pattern: "x"}).Step("other", actions.Search{Pattern: "y"}).Add(step).Build()
		if err != nil {
			return
		}
		built[prototype.Spec().Name]++
		data, err := json.Marshal(p)
		if err != nil {
			r.Fatal(err)
		}
		q, err := millrace.Decode(data)
		if err != nil || !p.Equal(q) || p.Digest() != q.Digest() {
			r.Fatalf("%v, equal %v\n%s", err, p.Equal(q), data)
		}
	}
	for tries := 0; tries == 0 || tries < 5 && len(built) < 4; tries++ { // few drawn values can be built
		rapid.Check(t, draw)
	}
	if !testing.Short() && len(built) < 4 {
		t.Errorf("only of %v pipelines were built", built)
	}
}

func TestNamesThatAreNone(t *testing.T) {
	for name, want := range map[string]string{
		"": "pipeline name is required", " \t\n": "pipeline name is required", "\u2003": "pipeline name is required", "a\xff": "pipeline name is not valid UTF-8",
	} {
		_, err := millrace.New(name).Step("find", actions.Search{Pattern: "x"}).Build()
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
	if _, err := millrace.Decode([]byte(`{"name":" ","steps":[` + find + `]}`)); err == nil || err.Error() != "pipeline name is required" {
		t.Errorf("JSON: %v", err)
	}
}

// Values of a pipeline that differ from the defaults of its registry are written too.
func TestDefaultsOfARegistryComeBack(t *testing.T) {
	d := millrace.Decoder{Actions: actions.Builtin().With(
		actions.Search{NoIgnore: true, Mode: "regex", ContextLines: 3, Exclude: []string{"vendor"}}, actions.Diff{Context: new(7)},
	)}
	for _, text := range []string{
		onSearch(`"no_ignore":false`), onSearch(`"no_ignore":false,"mode":"","context_lines":0,"exclude":[]`), onSearch(`"mode":"literal"`), steps(find),
		steps(`{"id":"d","action":"diff","params":{"file_a":"a","file_b":"b","context":0}}`),
	} {
		p, err := d.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		q, err := d.Decode(data)
		if err != nil || !p.Equal(q) || p.Digest() != q.Digest() {
			t.Errorf("%s became %s: %v", text, data, err)
		}
		again, err := millrace.New(p.Name()).Add(p.Steps()[0]).Build()
		if err != nil || !again.Equal(p) || again.Digest() != p.Digest() {
			t.Errorf("%s: a copy of its step differs: %v", text, err)
		}
	}
}

// A 0 that is written, or that a template produces, is not the default.
func TestZeroIsNotTheDefault(t *testing.T) {
	const read = `{"id":"r","action":"read_ranges","params":{"files":["a.txt"],%s}}`
	for _, param := range []string{`"start_line":0`, `"end_line":0`, `"ranges":[{"start":0}]`, `"ranges":[{"start":1,"end":0}]`} {
		_, err := millrace.Decode([]byte(steps(fmt.Sprintf(read, param))))
		if err == nil || !strings.Contains(err.Error(), "cannot be 0") || !strings.Contains(err.Error(), "counted from 1") && !strings.Contains(err.Error(), "counts from the end") {
			t.Errorf("%s: %v", param, err)
		}
	}
	const lines = `{"id":"e","action":"edit_files","params":{"file_edits":[{"path":"a","edits":[{"command":"replace_lines","start_line":0,"end_line":1,"new_str":"x"}]}]}}`
	if _, err := millrace.Decode([]byte(steps(lines))); err == nil || !strings.Contains(err.Error(), "start_line' cannot be 0") || strings.Contains(err.Error(), "problems") {
		t.Errorf("edit_files: %v", err)
	}
	if _, err := millrace.Decode([]byte(steps(`{"id":"l","action":"list","params":{"depth":0}}`))); err == nil || !strings.Contains(err.Error(), "'depth' cannot be 0") {
		t.Errorf("depth: %v", err)
	}
	p, err := millrace.Decode([]byte(steps(`{"id":"c","action":"count_occurrences","params":{"files":["a.txt"],"pattern":"z"}},` + fmt.Sprintf(read, `"end_line":"{{c.count}}"`))))
	if err != nil {
		t.Fatal(err)
	}
	fsys := suite.Memory(t, []txtarfs.File{{Name: "a.txt", Data: []byte("1\n2\n3\n4\n5\n6\n")}, {Name: "b.txt", Data: []byte("1\n2\n3\nx\n5\n6\n")}})
	if _, err := (millrace.Executor{}).Run(t.Context(), fsys, p); err == nil || !strings.Contains(err.Error(), "cannot be 0, which its template gave") {
		t.Errorf("a count of 0 for a line: %v", err)
	}
	for context, lines := range map[string]int{`"context":0`: 5, `"context":1`: 7} {
		p, err := millrace.Decode([]byte(steps(`{"id":"d","action":"diff","params":{"file_a":"a.txt","file_b":"b.txt",` + context + `}}`)))
		if err != nil {
			t.Fatal(err)
		}
		res, err := millrace.Executor{}.Run(t.Context(), fsys, p)
		if err != nil || strings.Count(res.Results[0].AggregatedContent, "\n") != lines {
			t.Errorf("%s: %v\n%s", context, err, res.Results[0].AggregatedContent)
		}
	}
}
