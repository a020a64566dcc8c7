package interpolate_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/interpolate"
	"github.com/millrace-go/millrace/internal/template"
)

// action has one parameter of each kind.
type action struct {
	Text  string            `json:"text,omitempty"`
	Files []string          `json:"files,omitempty"`
	Path  string            `json:"path,omitempty"`
	Line  int               `json:"line,omitempty"`
	Last  *int              `json:"last,omitempty"`
	Deep  bool              `json:"deep,omitempty"`
	Lines []int             `json:"lines,omitempty"`
	Named map[string]string `json:"named,omitempty"`
	Args  map[string]any    `json:"args,omitempty"`
	Items []any             `json:"items,omitempty"`
	Value any               `json:"value,omitempty"`
}

// ids are the steps of a pipeline whose third step is checked.
var ids = []string{"find", "fix-it", "here", "later"}

const at = 2

func steps() []*interpolate.Texts {
	roots := make([]template.Root, len(ids))
	for i, id := range ids {
		roots[i] = template.Root{Name: id, Fields: template.Fields()}
	}
	roots[1].Data = true
	texts := interpolate.New(roots)
	texts[at].Offer(template.Root{Name: "vars", Fields: []template.Field{{Name: "on", Type: template.Bool}, {Name: "any", Type: template.Any},
		{Name: "word", Type: template.String}, {Name: "map", Type: template.Object}}})
	texts[at].Offer(template.Root{Name: "find"}) // there is a step with that name
	return texts
}

// checked returns the texts of a step, and its problems as "pointer code message (hint)".
func checked(step interpolate.Step) (*interpolate.Texts, []string) {
	step.ID = ids[at]
	texts := steps()[at]
	var problems []string
	texts.Check(step, func(p interpolate.Problem) {
		s := fmt.Sprintf("%s %s %s (%s)", p.Pointer, p.Code, p.Message, p.Hint)
		if p.Warning != (p.Code == interpolate.CodeNearTemplate) {
			s += " is a warning, or is none"
		}
		problems = append(problems, s)
	})
	return texts, problems
}

// results are the results of the first two steps.
func results(ref template.Ref) (any, error) {
	switch ref.Root + "." + ref.Field {
	case "find.files":
		return []string{"a.go", "b,c.go"}, nil
	case "fix-it.files":
		return []string{"one.go"}, nil
	case "find.count", "fix-it.edits":
		return 12, nil
	case "find.risk":
		return "LOW", nil
	case "fix-it.data":
		return map[string]any{"list": []any{"x", 1e6, nil}, "n": 7, "big": strings.Repeat("x", 100)}, nil
	case "vars.on":
		return true, nil
	case "vars.any":
		return nil, nil
	case "find.aggregated_content":
		return strings.Repeat("x", 100), nil
	}
	return nil, errors.New("has not run")
}

func TestCheck(t *testing.T) {
	t.Parallel()
	fields := "the fields are aggregated_content, count, edits, files, files_count, risk; a backslash before the braces makes them text"
	const raw = "raw in the step makes it the name of a file"
	const write = "write {{step.files[0]}} with the id of an earlier step; " + raw
	const escaped = "a backslash before the braces makes them text"
	tests := []struct {
		name string
		step interpolate.Step
		want []string
	}{
		{"no action", interpolate.Step{}, nil},
		{"no templates", interpolate.Step{Action: action{Text: "{{ .Values.x }} {{user.files}}", Files: []string{"a"}}, Path: "a/b"}, nil},
		{"valid templates", interpolate.Step{
			Action: action{Text: `{{find.count}} \{{find.nothing}} {{step1.risk}}`, Files: []string{"{{find.files}}"}, Named: map[string]string{"k": "{{fix-it.edits}}"}},
			Bind:   map[string]string{"/line": "{{find.count}}", "/last": "{{steps[0].count}}", "/lines": "{{find.count}}"},
			Path:   "{{find.files[0]}}",
		}, []string{"/params/lines wrong_type step 'here': template '{{find.count}}' is a number, which parameter /lines cannot be ()"}},
		{"unknown field", interpolate.Step{Action: action{Text: "{{find.fils}} {{find.x}}"}}, []string{
			"/params/text invalid_template step 'here': template '{{find.fils}}': unknown field 'fils' (did you mean 'files'?)",
			"/params/text invalid_template step 'here': template '{{find.x}}': unknown field 'x' (" + fields + ")",
		}},
		{"itself and a later step", interpolate.Step{Action: action{Text: "{{here.count}} {{later.count}}"}}, []string{
			"/params/text forward_reference step 'here' has forward reference to step 'here' ()",
			"/params/text forward_reference step 'here' has forward reference to step 'later' ()",
		}},
		{"a position of no earlier step", interpolate.Step{Action: action{Text: `{{step4.count}} {{steps[9].count}} {{step01.x}} \{{step4.count}} {{steps.x}} {{stepx.y}}`}}, []string{
			"/params/text unknown_reference step 'here': template '{{step01.x}}': there is no step 'step01' before this step (name an earlier step; " + escaped + ")",
			"/params/text unknown_reference step 'here': template '{{step4.count}}': there is no step 'step4' before this step (name an earlier step; " + escaped + ")",
			"/params/text unknown_reference step 'here': template '{{steps[9].count}}': there is no step 'steps[9]' before this step (name an earlier step; " + escaped + ")",
		}},
		{"a raw position", interpolate.Step{Action: action{Text: "{{step4.count}}"}, Raw: true}, nil},
		{"a closing brace is missing", interpolate.Step{Action: action{Text: "{{find.count} {{find.files[0] {{x.y} {{find.count}}"}}, []string{
			"/params/text unknown_template step 'here': '{{find.count' has no closing braces, so this stays as it is; write {{find.count}} ()",
			"/params/text unknown_template step 'here': '{{find.files[0] ' has no closing braces, so this stays as it is; write {{find.files[0]}} ()",
		}},
		{"a closing brace is missing after a position", interpolate.Step{Action: action{Text: "{{step1.count} {{steps[0].files[0] {{step9.x} {{stepx.y}"}}, []string{
			"/params/text unknown_template step 'here': '{{step1.count' has no closing braces, so this stays as it is; write {{step1.count}} ()",
			"/params/text unknown_template step 'here': '{{step9.x' has no closing braces, so this stays as it is; write {{step9.x}} ()",
			"/params/text unknown_template step 'here': '{{steps[0].files[0] ' has no closing braces, so this stays as it is; write {{steps[0].files[0]}} ()",
		}},
		{"a closing brace is missing in a path", interpolate.Step{Action: action{Files: []string{"x/{{find.files[0]}", "{{x.y}"}}, Path: "{{find.files"}, []string{
			"/condition/path unknown_template step 'here': '{{find.files' has no closing braces, so this stays as it is; write {{find.files}} ()",
			"/params/files/0 unknown_template step 'here': '{{find.files[0]' has no closing braces, so this stays as it is; write {{find.files[0]}} ()",
		}},
		{"near miss", interpolate.Step{Action: action{Text: "{{fnd.count}}"}, Path: "x/{{fixt-it.x}}"}, []string{
			"/condition/path unknown_template step 'here': template '{{fixt-it.x}}' names no step, so it is the name of a file; did you mean 'fix-it'? ()",
			"/params/text unknown_template step 'here': template '{{fnd.count}}': there is no step 'fnd', so this stays as it is; did you mean 'find'? ()",
		}},
		{"no step in place of a path", interpolate.Step{Action: action{Path: "{{fnd.files}}", Files: []string{"a", "{{gone.files}}"}}, Path: "{{lter.files}}"}, []string{
			"/condition/path unknown_reference step 'here': template '{{lter.files}}' names no step (" + write + ")",
			"/params/files/1 unknown_reference step 'here': template '{{gone.files}}' names no step (" + write + ")",
			"/params/path unknown_reference step 'here': template '{{fnd.files}}' names no step (did you mean 'find'?; " + raw + ")",
		}},
		{"other spellings in place of a path", interpolate.Step{Action: action{Files: []string{
			"{{steps.find.files[0]}}", "{{find}}", "{{outputs.find.files[0]}}", "{{steps['find'].files[0]}}", "{{gone.output.files}}", "{{.find.output}}",
			"{{vras.on}}", "{{prev.output}}", "{{step9.output}}", "x/{{$find}}",
		}}}, []string{
			"/params/files/0 unknown_reference step 'here': template '{{steps.find.files[0]}}' names no step (" + write + ")",
			"/params/files/1 unknown_reference step 'here': template '{{find}}' names no step (" + write + ")",
			"/params/files/2 unknown_reference step 'here': template '{{outputs.find.files[0]}}' names no step (" + write + ")",
			"/params/files/3 unknown_reference step 'here': template '{{steps['find'].files[0]}}' names no step (" + write + ")",
			"/params/files/4 unknown_reference step 'here': template '{{gone.output.files}}' names no step (" + write + ")",
			"/params/files/5 unknown_reference step 'here': template '{{.find.output}}' names no step (" + write + ")",
			"/params/files/6 unknown_template step 'here': template '{{vras.on}}' names no step, so it is the name of a file; " + raw + " ()",
			"/params/files/7 unknown_reference step 'here': template '{{prev.output}}' names no step (" + write + ")",
			"/params/files/8 unknown_reference step 'here': template '{{step9.output}}': there is no step 'step9' before this step (name an earlier step; " + escaped + ")",
			"/params/files/9 unknown_template step 'here': template '{{$find}}' names no step, so it is the name of a file; " + raw + " ()",
		}},
		{"a file with such a name", interpolate.Step{Action: action{Files: []string{"{{cookiecutter.name}}/a", `\{{find}}`, "{{}}"}, Text: "{{steps.find.files[0]}}"}}, []string{
			"/params/files/0 unknown_template step 'here': template '{{cookiecutter.name}}' names no step, so it is the name of a file; " + raw + " ()",
		}},
		{"a raw file with such a name", interpolate.Step{Action: action{Files: []string{"{{find}}", "{{x.y}}"}}, Path: "{{steps.find}}", Raw: true}, nil},
		{"bound types", interpolate.Step{
			Action: action{},
			Bind:   map[string]string{"/line": "{{find.files}}", "/deep": "{{find.count}}", "/last": "{{find.risk}}", "/files": "{{find.count}}", "/none": "{{find.count}}"},
		}, []string{
			"/params/deep wrong_type step 'here': template '{{find.count}}' is a number, which parameter /deep cannot be ()",
			"/params/files wrong_type step 'here': template '{{find.count}}' is a number, which parameter /files cannot be ()",
			"/params/last wrong_type step 'here': template '{{find.risk}}' is a string, which parameter /last cannot be ()",
			"/params/line wrong_type step 'here': template '{{find.files}}' is a list, which parameter /line cannot be ()",
		}},
		{"bound texts", interpolate.Step{Action: action{}, Bind: map[string]string{"/line": "1{{find.count}}", "/last": "plain", "/deep": "{{find.nothing}}"}}, []string{
			"/params/deep invalid_template step 'here': template '{{find.nothing}}': unknown field 'nothing' (" + fields + ")",
			`/params/last invalid_template step 'here': parameter /last is not a string, so it takes one template and nothing else, got "plain" (write nothing but {{step.field}})`,
			`/params/line invalid_template step 'here': parameter /line is not a string, so it takes one template and nothing else, got "1{{find.count}}" (write nothing but {{step.field}})`,
		}},
		{"other roots", interpolate.Step{
			Action: action{Text: "{{vars.on}} {{vars.any.x}} {{vars}} {{var.on}}", Path: "{{vars.any}}"},
			Bind:   map[string]string{"/deep": "{{vars.on}}", "/line": "{{vars.any}}", "/last": "{{vars.on}}", "/files": "{{vars.any}}"},
		}, []string{
			"/params/last wrong_type step 'here': template '{{vars.on}}' is a boolean, which parameter /last cannot be ()",
		}},
		{"any value", interpolate.Step{
			Action: action{Value: []any{"{{vars.map}}", "{{find.nothing}}"}, Args: map[string]any{"x": map[string]any{"y": "{{here.count}}"}}},
			Bind: map[string]string{
				"/args": "{{vars.on}}", "/items": "{{vars.on}}", "/line": "{{vars.word}}", "/deep": "{{vars.word}}", "/lines": "{{vars.word}}",
			},
		}, []string{
			"/params/args wrong_type step 'here': template '{{vars.on}}' is a boolean, which parameter /args cannot be ()",
			"/params/args/x/y forward_reference step 'here' has forward reference to step 'here' ()",
			"/params/lines wrong_type step 'here': template '{{vars.word}}' is a string, which parameter /lines cannot be ()",
			"/params/value/1 invalid_template step 'here': template '{{find.nothing}}': unknown field 'nothing' (" + fields + ")",
		}},
		{"object", interpolate.Step{Action: action{}, Bind: map[string]string{"/args": "{{vars.map}}", "/items": "{{find.files}}"}}, nil},
		{"data", interpolate.Step{
			Action: action{Text: "{{fix-it}} {{fix-it[0].x}} {{find}} {{fix-it.}}"}, Bind: map[string]string{"/line": "{{fix-it.n}}", "/deep": "{{fix-it}}"},
		}, []string{
			`/params/text invalid_template step 'here': template '{{fix-it.}}': '' is not a key (a path is made of keys and indices: .name, ["any name"], [0], ` +
				"or [-1] from the end; a backslash before the braces makes them text)",
		}},
		{"raw", interpolate.Step{Raw: true, Action: action{Text: "{{find.x}} {{later.count}}", Path: "{{gone.files}}"}, Path: "{{find.x}}"}, nil},
		{"raw and bound", interpolate.Step{Raw: true, Action: action{}, Bind: map[string]string{"/line": "{{find.count}}"}}, []string{
			"/params invalid_template step 'here' is raw and binds a template (leave out raw, or give the value itself)",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, got := checked(tt.step)
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	texts, _ := checked(interpolate.Step{
		Action: action{Text: `{{find.count}}{{step2.risk}} \{{find.files}}{{vars.on}}`, Files: []string{"{{find.files}}", "plain"}},
		Bind:   map[string]string{"/line": "{{find.count}}"}, Path: "{{later.files[0]}}",
	})
	got := texts.Refs()
	slices.Sort(got)
	if diff := cmp.Diff([]string{"find", "find", "find", "fix-it", "later"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !texts.Any() {
		t.Error("no templates")
	}
	if !texts.Names("vars") || texts.Names("find") || texts.Names("here") {
		t.Error("vars is the one other root that is named")
	}
	texts, _ = checked(interpolate.Step{Raw: true, Action: action{Text: "{{find.count}}"}, Path: "{{find.risk}}"})
	if len(texts.Refs()) > 0 || texts.Any() {
		t.Errorf("a raw step has %v", texts.Refs())
	}
	texts, _ = checked(interpolate.Step{Action: action{Text: "plain"}, Path: "{{find.risk}}"})
	if texts.Any() {
		t.Error("the path of a condition is not a parameter")
	}
	for text, want := range map[string]bool{"": false, "{{find.count}}": true, `\{{find.count}}`: true, "{{find.x}}": true, "{{user.x}}": false, "{{find}}": false} {
		if got := texts.IsTemplate(text); got != want {
			t.Errorf("IsTemplate(%q) = %t", text, got)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	texts := steps()[at]
	if !texts.IsTemplate("{{vars.on}}") || steps()[at-1].IsTemplate("{{vars.on}}") {
		t.Error("a root is offered to the wrong step")
	}
	for step, want := range map[string]string{"fnd": "did you mean 'find'?", "Fix-It": "did you mean 'fix-it'?", "lter": "", "x": ""} {
		if got := texts.Nearest(step); got != want {
			t.Errorf("Nearest(%s) = %q", step, got)
		}
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	given := action{
		Text: `{{find.count}} of {{find.files}} \{{find.count}} {{user.x}}`, Files: []string{"first", "{{find.files}}", "{{fix-it.files[0]}}"},
		Named: map[string]string{"k": "{{find.risk}}", "{{find.risk}}": "plain"},
	}
	bind := map[string]string{"/line": "{{find.count}}", "/last": "{{fix-it.edits}}"}
	texts, problems := checked(interpolate.Step{Action: given, Bind: bind})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	got, err := texts.Expand(results, 1000)
	twelve := 12
	want := action{
		Text: `12 of a.go,b\,c.go {{find.count}} {{user.x}}`, Files: []string{"first", "a.go", "b,c.go", "one.go"}, Line: 12, Last: &twelve,
		Named: map[string]string{"k": "LOW", "{{find.risk}}": "plain"},
	}
	if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
		t.Errorf("error %v, action (-want +got):\n%s", err, diff)
	}
	expanded := got.(action)
	expanded.Named["k"], expanded.Files[0] = "spoiled", "spoiled"
	if given.Named["k"] != "{{find.risk}}" || given.Files[0] != "first" || given.Last != nil {
		t.Error("the action of the pipeline was changed")
	}

	// Without templates it is still a copy.
	given = action{Text: "plain", Named: map[string]string{"k": "v"}}
	texts, _ = checked(interpolate.Step{Action: given})
	got, err = texts.Expand(nil, 0)
	if diff := cmp.Diff(any(given), got); err != nil || diff != "" {
		t.Errorf("error %v, action (-want +got):\n%s", err, diff)
	}
	maps.Copy(got.(action).Named, map[string]string{"k": "spoiled"})
	if given.Named["k"] != "v" {
		t.Error("the action of the pipeline was changed")
	}
}

func TestExpandErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		action        action
		most          int64
		pointer, text string
		message       string
	}{
		{"index", action{Files: []string{"a", "{{find.files[2]}}"}}, 1000, "/files/1", "{{find.files[2]}}",
			"parameter /files/1: template '{{find.files[2]}}': 'find.files' has 2 elements, index 2 is out of range"},
		{"no value", action{Text: "x{{fix-it.risk}}"}, 1000, "/text", "x{{fix-it.risk}}", "parameter /text: template '{{fix-it.risk}}': has not run"},
		{"too much data", action{Text: "{{fix-it.data}}"}, 130, "/text", "{{fix-it.data}}", ""},
		{"too much in one template", action{Text: "{{find.aggregated_content}}"}, 99, "/text", "{{find.aggregated_content}}", ""},
		{"too much together", action{Text: "{{find.aggregated_content}}", Path: "{{find.aggregated_content}}!"}, 200, "/path", "{{find.aggregated_content}}!", ""},
	}
	for _, tt := range tests {
		texts, problems := checked(interpolate.Step{Action: tt.action})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		_, err := texts.Expand(results, tt.most)
		e, ok := errors.AsType[*interpolate.Error](err)
		if !ok || e.Pointer != tt.pointer || e.Text != tt.text || tt.message != "" && err.Error() != tt.message {
			t.Errorf("%s: %#v", tt.name, err)
		}
		if limit, ok := errors.AsType[*actions.LimitError](err); ok != (tt.message == "") || ok && limit.Limit != tt.most {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	texts, _ := checked(interpolate.Step{Action: action{Text: "{{find.aggregated_content}}", Path: "{{find.aggregated_content}}"}})
	if _, err := texts.Expand(results, 200); err != nil {
		t.Errorf("exactly as much as allowed: %v", err)
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path, want string
		message    string
	}{
		{"{{find.files[1]}}", "b,c.go", ""},
		{"{{fix-it.files}}", "one.go", ""},
		{"d/{{fix-it.files}}", "d/one.go", ""},
		{"d/{{find.count}}", "d/12", ""},
		{"{{find.count}}", "12", ""},
		{"{{fix-it.data.list[1]}}", "1000000", ""},
		{"{{fix-it.data.list[0]}}", "x", ""},
		{`\{{find.count}}`, "{{find.count}}", ""},
		{"{{find.files}}", "", "parameter /condition/path: template '{{find.files}}': it is 2 paths, and a condition asks for one, such as {{find.files[0]}}"},
		{"d/{{find.files}}", "", "parameter /condition/path: template '{{find.files}}': it is 2 paths, and a condition asks for one, such as {{find.files[0]}}"},
		{"{{fix-it.files[1]}}", "", "parameter /condition/path: template '{{fix-it.files[1]}}': 'fix-it.files' has 1 elements, index 1 is out of range"},
	}
	for _, tt := range tests {
		texts, problems := checked(interpolate.Step{Action: action{}, Path: tt.path})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		got, ok, err := texts.Path(results)
		if got != tt.want || ok != (tt.message == "") || (err != nil) == ok || err != nil && err.Error() != tt.message {
			t.Errorf("%s: %q, %t, %v", tt.path, got, ok, err)
		}
		if e, ok := errors.AsType[*interpolate.Error](err); err != nil && (!ok || e.Text != tt.path) {
			t.Errorf("%s: %#v", tt.path, err)
		}
	}
	for _, path := range []string{"{{vars.any}}", "{{vars.on}}", "{{fix-it.data.list}}", "{{fix-it.data}}"} {
		texts, _ := checked(interpolate.Step{Action: action{}, Path: path})
		_, _, err := texts.Path(results)
		if want := "parameter /condition/path: template '" + path + "': it is not a path"; err == nil || err.Error() != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{"", "plain/path", "{{user.files}}"} {
		texts, _ := checked(interpolate.Step{Action: action{}, Path: path})
		if got, ok, err := texts.Path(nil); got != "" || ok || err != nil {
			t.Errorf("%s: %q, %t, %v", path, got, ok, err)
		}
	}
}
