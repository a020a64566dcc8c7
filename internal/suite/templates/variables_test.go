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
	"github.com/millrace-go/millrace/condition"
)

// withVariables returns a pipeline whose last step uses the variables of that name.
func withVariables(variables, refs string) []byte {
	return fmt.Appendf(nil, `{"name": "p", "variables": %s, "steps": [{"id": "take", "action": "take", "params": {"value": %s}}]}`, variables, refs)
}

// A value in JSON equals the value in Go, is written in its shortest form, and reaches the steps.
func TestVariables(t *testing.T) {
	t.Parallel()
	const text = `{
		"dir": "src", "n": 3, "rate": 0.5, "on": false, "list": ["a", 1, null], "none": [], "like": "{{vars.dir}} {{take.ok}}", "empty": "",
		"limit": {"type": "integer", "default": 10.0, "enum": [20, 10], "description": "at most"}, "whole": {"type": "number", "default": 2},
		"object": {"type": "object", "default": {"b": {"c": [9007199254740993]}, "a": "x"}}, "of": {"default": 7}, "token": {"type": "string"}}`
	got := new(take)
	p, err := decoder(got).Decode(withVariables(text, `["{{vars.dir}}", "{{vars.n}}", "{{vars.rate}}", "{{vars.on}}", "{{vars.list}}", "{{vars.list[0]}}", "{{vars.none}}",
		"{{vars.like}}", "{{vars.empty}}", "{{vars.limit}}", "{{vars.whole}}", "{{vars.object.b.c[0]}}", "{{vars.object.b}}", "{{vars.of}}", "{{vars.token}}",
		"<{{vars.list}} {{vars.rate}} {{vars.like}} {{vars.object}}>", "\\{{vars.dir}}", "{{vars}}"]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []millrace.Variable{
		{Name: "dir", Type: "string", Default: "src"}, {Name: "empty", Type: "string", Default: ""},
		{Name: "like", Type: "string", Default: "{{vars.dir}} {{take.ok}}"},
		{Name: "limit", Type: "integer", Default: int64(10), Enum: []any{int64(20), int64(10)}, Description: "at most"},
		{Name: "list", Type: "list", Default: []any{"a", int64(1), nil}}, {Name: "n", Type: "integer", Default: int64(3)}, {Name: "none", Type: "list", Default: []any{}},
		{Name: "object", Type: "object", Default: map[string]any{"a": "x", "b": map[string]any{"c": []any{int64(9007199254740993)}}}},
		{Name: "of", Type: "integer", Default: int64(7)}, {Name: "on", Type: "boolean", Default: false}, {Name: "rate", Type: "number", Default: 0.5},
		{Name: "token", Type: "string"}, {Name: "whole", Type: "number", Default: int64(2)},
	}
	if diff := cmp.Diff(want, p.Variables()); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	nested := millrace.New("p").Variables(millrace.Variable{Name: "pick", Default: []string{"a"}, Enum: []any{[]string{"a"}, []string{"b"}}}).
		Step("take", take{}).MustBuild()
	spoil(nested.Variables()[0].Enum)
	if _, err := nested.WithVariables(map[string]any{"pick": []any{"b"}}); err != nil {
		t.Errorf("a caller has changed an enum: %v", err)
	}
	for _, v := range p.Variables() {
		if v.HasValue() != (v.Name != "token") {
			t.Errorf("%s has a value: %v", v.Name, v.HasValue())
		}
		spoil(v.Default) // the default is a copy
	}
	if diff := cmp.Diff(want, p.Variables()); diff != "" {
		t.Errorf("a caller has changed the variables (-want +got):\n%s", diff)
	}
	written, err := json.Marshal(p)
	const inJSON = `"variables":{"dir":"src","empty":"","like":"{{vars.dir}} {{take.ok}}","limit":{"default":10,"description":"at most","enum":[20,10],"type":"integer"},` +
		`"list":["a",1,null],"n":3,"none":[],"object":{"default":{"a":"x","b":{"c":[9007199254740993]}},"type":"object"},"of":7,"on":false,"rate":0.5,` +
		`"token":{"type":"string"},"whole":{"default":2,"type":"number"}},"steps"`
	if err != nil || !strings.Contains(string(written), inJSON) {
		t.Errorf("written as %s, %v\nwant %s", written, err, inJSON)
	}
	again, err := decoder(got).Decode(written)
	if err != nil || !again.Equal(p) || again.Digest() != p.Digest() {
		t.Errorf("the pipeline differs when it is read again: %v", err)
	}
	built, err := millrace.New("p").
		Variables(want[1:]...).Variables(millrace.Variable{Name: "dir", Default: "src"}).
		Step("take", take{Value: mustParams(t, p)}).Build()
	if err != nil || !built.Equal(p) {
		t.Errorf("the pipeline differs when it is built in Go: %v", err)
	}

	if _, err := run(t, millrace.Executor{}, p); err == nil || got.Value != nil {
		t.Fatal("it has run without a value")
	}
	p, err = p.WithVariables(map[string]any{"token": "{{vars.n}}", "rate": 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, millrace.Executor{}, p); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{
		"src", int64(3), int64(1), false, []any{"a", int64(1), nil}, "a", []any{}, "{{vars.dir}} {{take.ok}}", "", int64(10), int64(2), int64(9007199254740993),
		map[string]any{"c": []any{int64(9007199254740993)}}, int64(7), "{{vars.n}}",
		`<["a",1,null] 1 {{vars.dir}} {{take.ok}} {"a":"x","b":{"c":[9007199254740993]}}>`, "{{vars.dir}}", "{{vars}}",
	}, got.Value); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// mustParams returns the value of the first step's parameter.
func mustParams(t *testing.T, p millrace.Pipeline) any {
	t.Helper()
	s, ok := p.Step("take")
	if !ok {
		t.Fatal("no step")
	}
	return s.Action.(take).Value
}

// Other values make another pipeline; the original pipeline stays.
func TestWithVariables(t *testing.T) {
	t.Parallel()
	type kind string
	list := []string{"b"}
	p := millrace.New("p").Variables(
		millrace.Variable{Name: "dir", Default: kind("src")}, millrace.Variable{Name: "n", Type: "integer", Enum: []any{1, 2.0, uint8(3)}},
		millrace.Variable{Name: "list", Default: list}, millrace.Variable{Name: "rate", Type: "number"}, millrace.Variable{Name: "map", Type: "object", Default: map[string]int{"a": 1}},
	).Step("find", actions.Search{Pattern: "{{vars.dir}}"}).MustBuild()
	list[0] = "changed"
	before := p.Digest()
	values := map[string]any{"n": 3.0, "dir": "lib", "list": []string{"x"}, "rate": float32(0.5), "map": map[string]any{}}
	q, err := p.WithVariables(values)
	if err != nil {
		t.Fatal(err)
	}
	values["list"].([]string)[0] = "changed"
	want := []millrace.Variable{
		{Name: "dir", Type: "string", Default: "lib"}, {Name: "list", Type: "list", Default: []any{"x"}}, {Name: "map", Type: "object", Default: map[string]any{}},
		{Name: "n", Type: "integer", Default: int64(3), Enum: []any{int64(1), int64(2), int64(3)}}, {Name: "rate", Type: "number", Default: 0.5},
	}
	if diff := cmp.Diff(want, q.Variables()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if q.Digest() == before || q.Equal(p) || p.Digest() != before || p.Variables()[3].HasValue() || !cmp.Equal(p.Variables()[1].Default, []any{"b"}) {
		t.Error("both are the same pipeline, or the first has changed")
	}
	if same, err := p.WithVariables(nil); err != nil || !same.Equal(p) {
		t.Errorf("without values the pipeline differs: %v", err)
	}
	_, err = p.WithVariables(map[string]any{
		"dri": "x", "n": 4, "rate": "fast", "list": nil, "map": []any{}, "dir": "\xff", "nothing like it": 1,
	})
	invalid, ok := errors.AsType[*millrace.ValidationError](err)
	if !ok {
		t.Fatal(err)
	}
	var got []string
	for _, p := range invalid.Problems {
		got = append(got, p.Pointer+" "+p.Code+" "+p.String())
	}
	if diff := cmp.Diff([]string{
		"/variables/dir invalid_variable variable 'dir': 'value' is not valid: text is not valid UTF-8 (at /variables/dir)",
		"/variables/dri invalid_variable the pipeline has no variable 'dri' (at /variables/dri): did you mean 'dir'?",
		"/variables/list invalid_variable variable 'list' must be a list, got null (at /variables/list)",
		"/variables/map invalid_variable variable 'map' must be an object, got list (at /variables/map)",
		"/variables/n invalid_variable variable 'n' must be '1' or '2' or '3', got '4' (at /variables/n)",
		"/variables/nothing like it invalid_variable the pipeline has no variable 'nothing like it' (at /variables/nothing like it)",
		"/variables/rate invalid_variable variable 'rate' must be a number, got string (at /variables/rate)",
	}, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	for _, value := range []any{math.NaN(), func() {}, &p, math.Inf(-1), json.Number("x")} {
		if _, err := p.WithVariables(map[string]any{"rate": value}); err == nil {
			t.Errorf("%v was accepted", value)
		}
	}
}

func TestMissingVariables(t *testing.T) {
	t.Parallel()
	p, err := decoder(new(take)).Decode(withVariables(`{"b": {"type": "list"}, "a": {"type": "string", "enum": ["x"]}, "c": 1}`, `"{{vars.a}}"`))
	if err != nil {
		t.Fatal(err)
	}
	_, ran := run(t, millrace.Executor{}, p)
	_, planned := millrace.Executor{}.Plan(t.Context(), tree(), p)
	_, dry := run(t, millrace.Executor{DryRun: true}, p)
	for _, err := range []error{ran, planned, dry} {
		invalid, ok := errors.AsType[*millrace.ValidationError](err)
		if !ok || len(invalid.Problems) != 2 || invalid.Problems[0].Code != "missing_variable" || invalid.Problems[0].Pointer != "/variables/a" ||
			invalid.Problems[1].Pointer != "/variables/b" || millrace.ErrorCode(err) != "invalid_pipeline" {
			t.Errorf("got %v", err)
		}
	}
}

func TestVariableProblems(t *testing.T) {
	t.Parallel()
	many := make(map[string]int)
	for i := range 101 {
		many[fmt.Sprint("v", i)] = i
	}
	tooMany, _ := json.Marshal(many)
	for _, test := range []struct{ variables, refs, want string }{
		{`{"a": null}`, `1`, "/variables/a invalid_variable variable 'a' cannot be null"},
		{`{"a": {}}`, `1`, "/variables/a invalid_variable variable 'a' needs a type or a default"},
		{`{"a": {"default": null}}`, `1`, "/variables/a/default wrong_type 'default' cannot be null"},
		{`{"a": {"type": "text"}}`, `1`, "/variables/a invalid_variable variable 'a' has no type 'text'"},
		{`{"a": {"type": ""}}`, `1`, "/variables/a/type wrong_type 'type' cannot be string"},
		{`{"a": {"type": ["string"]}}`, `1`, "/variables/a/type wrong_type 'type' cannot be list"},
		{`{"a": {"type": "string", "default": 1}}`, `1`, "/variables/a invalid_variable variable 'a' must be a string, got integer"},
		{`{"a": {"type": "integer", "default": 1.5}}`, `1`, "/variables/a invalid_variable variable 'a' must be a whole number, got number"},
		{`{"a": {"type": "boolean", "default": "true"}}`, `1`, "/variables/a invalid_variable variable 'a' must be true or false, got string"},
		{`{"a": {"default": 3, "enum": [1, 2]}}`, `1`, "/variables/a invalid_variable variable 'a' must be '1' or '2', got '3'"},
		{`{"a": {"type": "integer", "enum": [1, "2"]}}`, `1`, "/variables/a invalid_variable variable 'a' must be a whole number, got string"},
		{`{"a": {"type": "integer", "enum": [null], "default": 1}}`, `1`, "/variables/a invalid_variable variable 'a' must be a whole number, got null"},
		{`{"a": {"type": "integer", "enum": []}}`, `1`, "/variables/a invalid_variable variable 'a' can have no value: its enum is empty"},
		{`{"a": {"type": "integer", "enum": 1}}`, `1`, "/variables/a/enum wrong_type 'enum' cannot be integer"},
		{`{"a": {"host": "x"}}`, `1`, "/variables/a/host unknown_field unknown field 'host'"},
		{`{"a": {"type": "string", "description": 1}}`, `1`, "/variables/a/description wrong_type 'description' cannot be integer"},
		{`{"a b": 1}`, `1`, "/variables/a b invalid_variable invalid variable name 'a b'"},
		{`{"": 1}`, `1`, "/variables/ invalid_variable invalid variable name ''"},
		{`[]`, `1`, "/variables wrong_type 'variables' must be an object, got list"},
		{string(tooMany), `1`, "/variables invalid_variable too many variables (max 100, got 101)"},
		{`{"dir": "x"}`, `"{{vars.dri}}"`, "/steps/0/params/value invalid_template step 'take': template '{{vars.dri}}': unknown field 'dri'"},
		{`{"dir": "x"}`, `"{{vars.dir.x}}"`, "/steps/0/params/value invalid_template step 'take': template '{{vars.dir.x}}': unknown field 'dir.x'"},
		{`{"n": 1}`, `"{{vars.n[0]}}"`, "/steps/0/params/value invalid_template step 'take': template '{{vars.n[0]}}': field 'n' is not a list"},
		{`{"n": true}`, `1, "int": "{{vars.n}}"`, "/steps/0/params/int wrong_type step 'take': template '{{vars.n}}' is a boolean, which parameter /int cannot be"},
		{`{"n": {"a": 1}, "m": {"type": "object", "default": {}}}`, `1, "args": "{{vars.m}}"`, "/variables/n/a unknown_field unknown field 'a'"},
	} {
		_, err := decoder(new(take)).Decode(withVariables(test.variables, test.refs))
		invalid, ok := errors.AsType[*millrace.ValidationError](err)
		if !ok || len(invalid.Problems) != 1 {
			t.Errorf("%.80s: got %v\nwant %s", test.variables, err, test.want)
			continue
		}
		p := invalid.Problems[0]
		if got := p.Pointer + " " + p.Code + " " + p.Message; !strings.HasPrefix(got, test.want) || p.Line == 0 {
			t.Errorf("%.80s: got %s (line %d)\nwant %s", test.variables, got, p.Line, test.want)
		}
	}
	_, err := millrace.New("p").Variables(millrace.Variable{Name: "a", Default: 1}, millrace.Variable{Name: "a", Default: 1}, millrace.Variable{Name: "b", Default: math.NaN()},
		millrace.Variable{Name: "c", Default: 1, Description: "\xff"}, millrace.Variable{Name: "d"}).
		Step("vars", take{Got: new(take)}).Build()
	var got []string
	if invalid, ok := errors.AsType[*millrace.ValidationError](err); ok {
		for _, p := range invalid.Problems {
			got = append(got, p.Pointer+" "+p.Code)
		}
	}
	if diff := cmp.Diff([]string{
		"/variables/a invalid_variable", "/variables/b invalid_variable", "/variables/c invalid_variable", "/variables/d invalid_variable", "/steps/0/id reserved_id",
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s\n%v", diff, err)
	}
	if _, err := millrace.New("p").Step("vars", actions.Search{Pattern: "x"}).Step("take", take{Value: "{{vars.files}}", Got: new(take)}).Build(); err != nil {
		t.Errorf("without variables, vars is an id as any: %v", err)
	}
}

// In a pipeline without variables, a path that is a reference to one is a problem, and a path with one has a warning.
func TestPathsOfNoVariable(t *testing.T) {
	t.Parallel()
	const pipeline = `{"name": "p", "steps": [{"id": "find", "action": "search", "params": {"pattern": "x", "path": "%s"}}]}`
	_, err := decoder(new(take)).Decode(fmt.Appendf(nil, pipeline, "{{vars.dir}}"))
	if invalid, ok := errors.AsType[*millrace.ValidationError](err); !ok || len(invalid.Problems) != 1 ||
		invalid.Problems[0].Code != "unknown_reference" ||
		!strings.Contains(invalid.Problems[0].Hint, "declare it in the 'variables'") {
		t.Errorf("the whole path: %v", err)
	}
	p, err := decoder(new(take)).Decode(fmt.Appendf(nil, pipeline, "{{vars.dir}}/a"))
	if w := p.Warnings(); err != nil || len(w) != 1 || w[0].Code != millrace.CodeUnknownVariable {
		t.Errorf("a part of a path: %v, %v", w, err)
	}
}

// A field that other declarations of variables have is answered with the field to write.
func TestVariableHints(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"required": `a variable without "default" needs a value`, "optional": `a variable without "default" needs a value`,
		"value": `write "default"`, "values": `write "enum"`, "choices": `write "enum"`, "options": `write "enum"`,
		"host": `an object that is a value stands in "default"`,
	} {
		_, err := decoder(new(take)).Decode(withVariables(fmt.Sprintf(`{"a": {"type": "string", %q: true}}`, key), `1`))
		if err == nil || !strings.Contains(err.Error(), "unknown field '"+key+"'") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", key, err, want)
		}
	}
}

// A lenient text may use another name for variables; the values of variables are not repaired.
func TestLenientVariables(t *testing.T) {
	t.Parallel()
	d := decoder(new(take))
	d.Lenient = true
	p, err := d.Decode([]byte(`{"name": "p", "vars": {"dry-run": "true", "dir": {"type": "string", "default": "src",}}, "steps": [{"id": "find", "action": "search", "params": {"pattern": "{{vars.dir}}"}}]}`))
	want := []millrace.Variable{{Name: "dir", Type: "string", Default: "src"}, {Name: "dry-run", Type: "string", Default: "true"}}
	if diff := cmp.Diff(want, p.Variables()); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// An included pipeline keeps its variables; a different variable of the same name is a problem.
func TestIncludedVariables(t *testing.T) {
	t.Parallel()
	got := new(take)
	sub := millrace.New("sub").Variables(millrace.Variable{Name: "a", Default: 1}, millrace.Variable{Name: "b", Default: "x"}).
		Step("take", take{Value: "{{vars.a}}{{vars.b}} {{vars}}", Got: got}).MustBuild()
	plain := millrace.New("plain").Step("take", take{Value: "{{vars.a}}", Got: got}).MustBuild()
	p, err := millrace.New("p").Variables(millrace.Variable{Name: "b", Type: "string", Default: "x"}).Include(sub, "s").Build()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, millrace.Executor{}, p); err != nil || got.Value != "1x {{vars}}" || len(p.Variables()) != 2 {
		t.Errorf("got %v, %v", got.Value, err)
	}
	p, err = millrace.New("p").Include(sub, "s").Include(plain, "t").Build() // the text of plain stays text
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, millrace.Executor{}, p); err != nil || got.Value != "{{vars.a}}" {
		t.Errorf("got %v, %v", got.Value, err)
	}
	_, err = millrace.New("p").Variables(millrace.Variable{Name: "b", Default: "y"}).Include(sub, "s").Build()
	if err == nil || !strings.Contains(err.Error(), "variable 'b' is another one in the pipeline that is included") {
		t.Errorf("got %v", err)
	}
}

// A step is not included if another step would capture its reference: a reference must not change its meaning.
func TestIncludedContext(t *testing.T) {
	t.Parallel()
	got := new(take)
	sub := millrace.New("sub").Step("ask", ask{take{Text: "{{run.name}}", Got: got}}).MustBuild()
	named := millrace.New("named").Step("run", give{Data: map[string]any{"name": "a step"}}).Step("ask", ask{take{Text: "{{run.name}}", Got: got}}).MustBuild()
	for _, test := range []struct {
		p    millrace.Builder
		want string
	}{
		{millrace.New("p").Include(sub, "s"), "p"},
		{millrace.New("p").Include(named, "s"), "a step"},
		{millrace.New("p").Step("run", give{}).Include(sub, "s"), `"{{run.name}}" cannot be included, for it would mean something else here`},
	} {
		p, err := test.p.Build()
		if err == nil {
			_, err = run(t, millrace.Executor{}, p)
		}
		if text := fmt.Sprint(got.Text, err); got.Text != test.want && !strings.Contains(text, test.want) {
			t.Errorf("got %s, want %s", text, test.want)
		}
		*got = take{}
	}
}

// The paths of a step are unknown until its variables have values, so in parallel no other step runs at the same time.
func TestVariablesInParallel(t *testing.T) {
	t.Parallel()
	b := millrace.New("p").Variables(millrace.Variable{Name: "file", Default: "a.txt"}, millrace.Variable{Name: "new", Default: "new.txt"})
	for name, p := range map[string]millrace.Pipeline{
		"params": b.
			Step("write", actions.Edit{Files: []string{"{{vars.file}}"}, OldText: "x", NewText: "z"}).
			Step("read", actions.CountOccurrences{Files: []string{"a.txt"}, Pattern: "z"}).Builder.
			Options(millrace.Options{Parallel: true}).MustBuild(),
		"condition": b.
			Step("write", actions.Create{Path: "new.txt", Content: "z z"}).
			Step("read", actions.CountOccurrences{Files: []string{"other.txt"}, Pattern: "y"}).When(condition.FileExists("{{vars.new}}")).Builder.
			Options(millrace.Options{Parallel: true}).MustBuild(),
	} {
		res, err := run(t, millrace.Executor{Workers: 4}, p)
		if err != nil {
			t.Fatal(err)
		}
		if read := res.Results[1]; read.Counts["a.txt"]+read.Counts["other.txt"] == 0 {
			t.Errorf("%s: nothing was counted (%s)", name, read.SkipReason)
		}
	}
}

// Schemas and descriptions include parameters of any value, and variables.
func TestSchema(t *testing.T) {
	t.Parallel()
	d := decoder(new(take))
	doc, ok := d.Describe("take")
	types := make(map[string]string)
	for _, p := range doc.Params {
		types[p.Name] = p.Type
	}
	if types["value"] != "any value" || types["args"] != "an object" || types["items"] != "a list" || !ok {
		t.Errorf("described as %v", types)
	}
	data, err := d.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]any
		Defs       map[string]struct{ AdditionalProperties any } `json:"$defs"`
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"$ref": "#/$defs/variables"}, schema.Properties["variables"]); diff != "" || schema.Defs["variables"].AdditionalProperties == nil {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
