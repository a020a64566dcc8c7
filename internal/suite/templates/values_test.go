package templates_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/template"
)

// data is the result of the step "call".
var data = map[string]any{
	"name": "left", "int": 42, "big": int64(math.MaxInt64), "float": 2.5, "true": true, "false": false, "zero": 0, "empty": "", "null": nil,
	"digits": "42", "yes": "true", "half": "2.5", "list": []any{"x", 1, nil}, "words": []string{"p", "q,r"}, "nested": []any{[]any{"deep", []any{1.5}}},
	"object": map[string]any{"k": []any{1, "<&>"}, "a b": 1, "a-b": 2, "a.b": map[string]any{"c": "dotted"}}, "special": "$1 & \\1 \n ünï", "like": "{{call.name}} {{find.count}}",
	"count": 7, "files": "mine", "none": []any{}, "braces": map[string]any{"{{x}}": "in braces"}, "data": "a member",
}

// The value of a reference, alone and within a longer text.
func TestValues(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		ref  string
		want any
		text string // within a longer text
	}{
		{"{{call.name}}", "left", "left"}, {"{{ call.name }}", "left", "left"}, {"{{\tcall.int }}", int64(42), "42"},
		{"{{call.big}}", int64(math.MaxInt64), "9223372036854775807"}, {"{{call.float}}", 2.5, "2.5"}, {"{{call.true}}", true, "true"}, {"{{call.false}}", false, "false"},
		{"{{call.zero}}", int64(0), "0"}, {"{{call.empty}}", "", ""}, {"{{call.null}}", nil, "null"}, {"{{call.digits}}", "42", "42"},
		{"{{call.list}}", []any{"x", int64(1), nil}, `["x",1,null]`}, {"{{call.words}}", []any{"p", "q,r"}, `["p","q,r"]`}, {"{{call.none}}", []any{}, "[]"},
		{"{{call.list[0]}}", "x", "x"}, {"{{call.list[-1]}}", nil, "null"}, {"{{call.nested[0][1][0]}}", 1.5, "1.5"}, {"{{call.nested}}", []any{[]any{"deep", []any{1.5}}}, `[["deep",[1.5]]]`},
		{"{{call.object.k}}", []any{int64(1), "<&>"}, `[1,"<&>"]`}, {"{{call.object.a b}}", int64(1), "1"}, {"{{call.object.a-b}}", int64(2), "2"},
		{`{{call.object["a.b"].c}}`, "dotted", "dotted"}, {`{{call["braces"]["\u007b\u007bx\u007d\u007d"]}}`, "in braces", "in braces"},
		{"{{call.special}}", "$1 & \\1 \n ünï", "$1 & \\1 \n ünï"}, {"{{call.like}}", "{{call.name}} {{find.count}}", "{{call.name}} {{find.count}}"},
		{"{{call.data.name}}", "left", "left"}, {"{{call.data.count}}", int64(7), "7"}, {"{{call.data.data}}", "a member", "a member"}, {"{{call.count}}", int64(7), "7"}, {"{{call.files}}", "mine", "mine"},
		{"{{step1.name}}", "left", "left"}, {"{{steps[0].object.k[1]}}", "<&>", "<&>"}, {"{{call.edits}}", int64(0), "0"}, {"{{call.ok}}", true, "true"},
		{"{{call.output}}", "printed", "printed"}, {"{{call.error}}", "", ""}, {"{{call.visits}}", int64(1), "1"}, {"{{call.skipped}}", false, "false"},
		{"{{find.files}}", []any{"a.txt", "b,c.txt"}, `a.txt,b\,c.txt`}, {"{{find.files[-1]}}", "b,c.txt", "b,c.txt"}, {"{{find.content}}", map[string]any{}, "{}"},
		{"{{left.counts}}", map[string]any{"a.txt": int64(2), "b,c.txt": int64(1)}, `{"a.txt":2,"b,c.txt":1}`}, {`{{left.counts["a.txt"]}}`, int64(2), "2"},
		{"{{left.count}}", int64(3), "3"}, {"{{find.data}}", nil, "null"}, {"{{call.risk}}", "LOW", "LOW"}, {"{{left.renames}}", map[string]any{}, "{}"},
		// These are text, or nearly references.
		{"{{find}}", "{{find}}", "{{find}}"}, {"{{}}", "{{}}", "{{}}"}, {"{{.name}}", "{{.name}}", "{{.name}}"}, {"{{ if .x }}", "{{ if .x }}", "{{ if .x }}"},
		{`\{{call.name}}`, "{{call.name}}", "{{call.name}}"}, {`\\{{call.name}}`, `\left`, `\left`}, {"{{{call.name}}}", "{left}", "{left}"}, {"{{call.name", "{{call.name", "{{call.name"},
		{" {{call.int}}", " 42", " 42"}, {"{{call.int}}{{call.true}}", "42true", "42true"}, {"{{vars.name}}", "{{vars.name}}", "{{vars.name}}"},
		{"{{prev.output}} {{run.id}}", "{{prev.output}} {{run.id}}", "{{prev.output}} {{run.id}}"}, {"{{gone.output}}", "{{gone.output}}", "{{gone.output}}"},
	} {
		t.Run(test.ref, func(t *testing.T) {
			t.Parallel()
			got := new(take)
			p := millrace.New("p").
				Step("call", give{raw: data, Output: "printed"}).
				Step("find", actions.Search{Pattern: "x"}).
				Step("left", actions.CountOccurrences{Pattern: "x"}).From("find").
				Step("take", take{
					Value: test.ref, Text: "<" + test.ref + ">", Args: map[string]any{test.ref: []any{test.ref, "<" + test.ref + ">"}}, Items: []any{test.ref}, Got: got,
				}).MustBuild()
			for _, p := range []millrace.Pipeline{p, p.WithOptions(millrace.Options{Parallel: true})} {
				res, err := run(t, millrace.Executor{}, p)
				if err != nil {
					t.Fatal(err)
				}
				within := "<" + test.text + ">"
				want := &take{Value: test.want, Text: within, Args: map[string]any{test.ref: []any{test.want, within}}, Items: []any{test.want}}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				spoil(got.Value) // the value shares nothing with the result
				if got := res.Results[0].Data.(map[string]any)["nested"].([]any)[0].([]any)[0]; got != "deep" {
					t.Errorf("the data of the step has changed to %v", got)
				}
			}
		})
	}
}

func spoil(v any) {
	switch v := v.(type) {
	case []any:
		for i := range v {
			spoil(v[i])
			v[i] = "spoilt"
		}
	case map[string]any:
		for _, inner := range v {
			spoil(inner)
		}
		clear(v)
	}
}

// A value is put into a parameter of another type if it fits; otherwise the step fails before its action runs.
func TestValuesInto(t *testing.T) {
	t.Parallel()
	const whole, number, flag, names, object = "must be a whole number, but its template gave ", "must be a number, but its template gave ", "must be true or false, but its template gave ",
		"must be a list of strings, but its template gave ", "must be an object, but its template gave "
	for _, test := range []struct{ param, ref, want string }{
		{"int", "{{call.int}}", `{"int":42}`}, {"int", "{{call.digits}}", `{"int":42}`}, {"int", "{{call.float}}", whole + "2.5"}, {"int", "{{call.half}}", whole + "'2.5'"},
		{"int", "{{call.true}}", whole + "true"}, {"int", "{{call.null}}", whole + "nothing"}, {"int", "{{call.list}}", whole + "a list"}, {"int", "{{call.empty}}", whole + "''"},
		{"int", "{{call.files}}", whole + "'mine'"}, {"int", "{{left.count}}", `{"int":3}`}, {"int", `{{left.counts["a.txt"]}}`, `{"int":2}`}, {"int", "{{call.output}}", whole + "'printed'"},
		{"number", "{{call.float}}", `{"number":2.5}`}, {"number", "{{call.half}}", `{"number":2.5}`}, {"number", "{{call.object}}", number + "an object"},
		{"flag", "{{call.true}}", `{"flag":true}`}, {"flag", "{{call.yes}}", `{"flag":true}`}, {"flag", "{{call.false}}", `{}`}, {"flag", "{{call.int}}", flag + "42"},
		{"flag", "{{left.ok}}", `{"flag":true}`}, {"list", "{{call.words}}", `{"list":["p","q,r"]}`}, {"list", "{{call.name}}", `{"list":["left"]}`}, {"list", "{{call.none}}", `{}`},
		{"list", "{{call.list}}", names + "1 as element 1"}, {"list", "{{call.null}}", names + "nothing"}, {"list", "{{call.int}}", names + "42"}, {"list", "{{call.object}}", names + "an object"}, {"list", "{{find.files}}", `{"list":["a.txt","b,c.txt"]}`},
		{"numbers", "{{call.object.k}}", "must be a whole number, but its template gave '<&>'"}, {"items", "{{call.list}}", `{"items":["x",1,null]}`},
		{"args", "{{call.object.a.b}}", "'call.object' has no member 'a'"}, {"args", `{{call.object["a.b"]}}`, `{"args":{"c":"dotted"}}`},
		{"args", "{{call.list}}", object + "a list"}, {"args", "{{left.counts}}", `{"args":{"a.txt":2,"b,c.txt":1}}`},
		{"text", "{{call.object}}", `{"text":"{\"a b\":1,\"a-b\":2,\"a.b\":{\"c\":\"dotted\"},\"k\":[1,\"<&>\"]}"}`}, {"text", "{{call.null}}", "must be a string, but its template gave nothing"},
		{"text", "{{find.files}}", `{"text":"a.txt,b\\,c.txt"}`}, {"text", "{{call.words}}", `{"text":"[\"p\",\"q,r\"]"}`}, {"text", "{{call.big}}", `{"text":"9223372036854775807"}`},
	} {
		t.Run(test.param+" "+test.ref, func(t *testing.T) {
			t.Parallel()
			got := new(take)
			given, err := json.Marshal(data)
			if err != nil {
				t.Fatal(err)
			}
			p, err := decoder(got).Decode(fmt.Appendf(nil, `{"name": "p", "steps": [
				{"id": "call", "action": "give", "raw": true, "params": {"data": %s, "output": "printed"}},
				{"id": "find", "action": "search", "params": {"pattern": "x"}},
				{"id": "left", "action": "count_occurrences", "input_from": "find", "params": {"pattern": "x"}},
				{"id": "take", "action": "take", "params": {%q: %q}}]}`, given, test.param, test.ref))
			if err != nil {
				t.Fatal(err)
			}
			res, err := run(t, millrace.Executor{}, p)
			if strings.HasPrefix(test.want, "{") {
				if err != nil {
					t.Fatal(err)
				}
				written, err := json.Marshal(struct {
					Int     int            `json:"int,omitempty"`
					Number  float64        `json:"number,omitempty"`
					Flag    bool           `json:"flag,omitempty"`
					List    []string       `json:"list,omitempty"`
					Items   []any          `json:"items,omitempty"`
					Args    map[string]any `json:"args,omitempty"`
					Text    string         `json:"text,omitempty"`
					Numbers []int          `json:"numbers,omitempty"`
				}{got.Int, got.Number, got.Flag, got.List, got.Items, got.Args, got.Text, got.Numbers})
				if err != nil || strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(written)) != test.want {
					t.Errorf("got %s, %v\nwant %s", written, err, test.want)
				}
				return
			}
			failed, ok := errors.AsType[*millrace.InterpolationError](err)
			if !ok || !errors.Is(err, millrace.ErrInterpolation) || millrace.ErrorCode(err) != "INTERPOLATION_FAILED" || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %s", err, test.want)
			}
			if !strings.HasPrefix(failed.Pointer, "/"+test.param) || got.Value != nil {
				t.Errorf("the error is about %s, and the action received %v", failed.Pointer, got)
			}
			if last := res.Results[len(res.Results)-1]; last.StepID != "take" || !last.Failed() {
				t.Errorf("the last result is %+v", last)
			}
		})
	}
}

// Errors of the run name the longest existing path, and suggest a field.
func TestErrors(t *testing.T) {
	t.Parallel()
	raw := map[string]any{"b": []any{1, 2, 3}, "items": []any{map[string]any{"id": 1}}, "null": nil, "text": "x"}
	for _, test := range []struct{ ref, want string }{
		{"{{a.b[9].c}}", "template '{{a.b[9].c}}': 'a.b' has 3 elements, index 9 is out of range"},
		{"{{a.b[0].c}}", "template '{{a.b[0].c}}': 'a.b[0]' is a number, so it has no member 'c'"},
		{"{{a.itms}}", "template '{{a.itms}}': 'a' has no member 'itms'; did you mean 'items'?"},
		{"{{a.outptu}}", "template '{{a.outptu}}': 'a' has no member 'outptu'; did you mean 'output'?"},
		{"{{none.outptu}}", "template '{{none.outptu}}': 'none' is null, so it has no member 'outptu'; did you mean 'output'?"},
		{"{{a.items[0].ix}}", "template '{{a.items[0].ix}}': 'a.items[0]' has no member 'ix'; did you mean 'id'?"},
		{"{{a.null.x}}", "template '{{a.null.x}}': 'a.null' is null, so it has no member 'x'"},
		{"x {{a.text[0]}}", "template '{{a.text[0]}}': 'a.text' is a string, so it has no element 0"},
		{"{{find.data.x}}", "template '{{find.data.x}}': 'find.data' is null, so it has no member 'x'"},
		{"{{find.files[2]}}", "template '{{find.files[2]}}': 'find.files' has 2 elements, index 2 is out of range"},
		{`{{find.counts["b"]}}`, "template '{{find.counts[\"b\"]}}': 'find.counts' has no member 'b'"},
		{"{{skipped.x}}", "template '{{skipped.x}}': step 'skipped' was skipped, so it has no 'x'"},
		{"{{skipped.data.x}}", "template '{{skipped.data.x}}': 'skipped.data' is null, so it has no member 'x'"},
	} {
		p := millrace.New("p").
			Step("a", give{raw: raw}).
			Step("find", actions.Search{Pattern: "x"}).
			Step("skipped", give{Data: 1}).When(never).
			Step("none", give{}).
			Step("take", take{Value: map[string]any{"in": []any{test.ref}}, Got: new(take)}).MustBuild()
		_, err := run(t, millrace.Executor{}, p)
		if e, ok := errors.AsType[*template.Error](err); !ok || !strings.HasPrefix(test.ref, "{{"+e.Path) && !strings.HasPrefix(test.ref, "x {{"+e.Path) || e.Path == "" && !strings.Contains(test.ref, "skipped") {
			t.Errorf("%s: the error is %#v", test.ref, e)
		}
		failed, ok := errors.AsType[*millrace.InterpolationError](err)
		if !ok || failed.Err.Error() != test.want || failed.Pointer != "/value/in/0" || failed.Text != test.ref || !errors.Is(err, millrace.ErrInterpolation) {
			t.Errorf("%s: got %v\nwant %s", test.ref, err, test.want)
		}
	}
}

// If a tree has two errors, the first in the order of the keys is reported, each time.
func TestFirstError(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").Step("a", give{raw: map[string]any{"x": 1}}).
		Step("take", take{Value: map[string]any{"c": "{{a.third}}", "b": []any{"{{a.x}}", map[string]any{"d": "{{a.first}}"}, "{{a.second}}"}}, Got: new(take)}).MustBuild()
	for range 20 {
		_, err := run(t, millrace.Executor{}, p)
		failed, ok := errors.AsType[*millrace.InterpolationError](err)
		if !ok || failed.Pointer != "/value/b/1/d" || failed.Text != "{{a.first}}" {
			t.Fatalf("got %v", err)
		}
	}
}

// A mistake that can be found before the run is a problem of the pipeline, wherever the text is.
func TestProblems(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ value, code, want string }{
		{`"{{find.fils}}"`, "invalid_template", "template '{{find.fils}}': unknown field 'fils': did you mean 'files'?"},
		{`"{{find.error.x}}"`, "invalid_template", "template '{{find.error.x}}': unknown field 'error.x'"},
		{`"{{find.files[x]}}"`, "invalid_template", "'[x]' is not an index"},
		{`"{{find.ok[0]}}"`, "invalid_template", "field 'ok' is not a list: write {{find.ok}}"},
		{`{"deep": [1, {"x": "{{later.data.x}}"}]}`, "forward_reference", "step 'take' has forward reference to step 'later'"},
		{`["{{take.ok}}"]`, "forward_reference", "step 'take' has forward reference to step 'take'"},
		{`"{{call.}}"`, "invalid_template", "'' is not a key"},
		{`"{{call[}}"`, "invalid_template", "'[' is not an index"},
		{`"{{call.x` + strings.Repeat(".x", 64) + `}}"`, "invalid_template", "more than 64 keys and indices"},
		{`"{{prev.output}} {{find[0]}} {{call"`, "", ""},
		{`"{{step9.data}}"`, "unknown_reference", "there is no step 'step9' before this step"},
		{`"{{steps[2].data}}"`, "unknown_reference", "there is no step 'steps[2]' before this step"},
		{`"\\{{step9.data}}"`, "", ""},
	} {
		_, err := decoder(nil).Decode(fmt.Appendf(nil, `{"name": "p", "steps": [
			{"id": "call", "action": "give"}, {"id": "find", "action": "search", "params": {"pattern": "x"}},
			{"id": "take", "action": "take", "params": {"value": %s}}, {"id": "later", "action": "give"}]}`, test.value))
		invalid, ok := errors.AsType[*millrace.ValidationError](err)
		if test.code == "" {
			if err != nil {
				t.Errorf("%s: %v", test.value, err)
			}
			continue
		}
		if !ok || len(invalid.Problems) != 1 || invalid.Problems[0].Code != test.code || !strings.Contains(err.Error(), test.want) ||
			!strings.HasPrefix(invalid.Problems[0].Pointer, "/steps/2/params/value") {
			t.Errorf("%s: got %v\nwant %s", test.value, err, test.want)
		}
		if !errors.Is(err, millrace.ErrInterpolation) || millrace.ErrorCode(err) != "invalid_pipeline" {
			t.Errorf("%s: %v is not an interpolation error, or has the code %s", test.value, err, millrace.ErrorCode(err))
		}
	}
	for _, text := range []string{`{"name": "p", "steps": [{"id": "s", "action": "take", "params": {"int": "x"}}]}`, `{"name": "p", "steps": []}`} {
		if _, err := decoder(nil).Decode([]byte(text)); err == nil || errors.Is(err, millrace.ErrInterpolation) {
			t.Errorf("%s: %v is an interpolation error", text, err)
		}
	}
}
