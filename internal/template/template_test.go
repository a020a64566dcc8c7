package template_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/template"
)

// steps is a pipeline with templates in the fourth step.
var steps = []string{"find", "fix-it", "step9", "here", "later"}

const at = 3

// results are the values of every step's fields.
func results(r template.Ref) (any, error) {
	switch r.Field {
	case template.FieldCount:
		return 12, nil
	case template.FieldFilesCount:
		return 3, nil
	case template.FieldEdits:
		return 7, nil
	case template.FieldRisk:
		return "HIGH", nil
	case template.FieldAggregated:
		return "see {{find.files}} and \\{{find.count}}\n", nil
	case template.FieldFiles:
		return []string{"a.txt", "b,c.txt", `d\e.txt`}, nil
	}
	return nil, errors.New("no such field")
}

const joined = `a.txt,b\,c.txt,d\\e.txt`

func TestExpand(t *testing.T) {
	t.Parallel()
	list := []string{"a.txt", "b,c.txt", `d\e.txt`}
	tests := []struct {
		name, text string
		want       any
	}{
		{"no braces", "plain", "plain"},
		{"nothing", "", ""},
		{"seed", "Found {{find.files_count}} files with {{fix-it.count}} matches", "Found 3 files with 12 matches"},
		{"whole number", "{{find.count}}", 12},
		{"whole text", "{{find.risk}}", "HIGH"},
		{"whole list", "{{find.files}}", list},
		{"blanks inside", "{{ \tfind.edits\t }}", 7},
		{"a blank outside makes it text", " {{find.count}}", " 12"},
		{"list in a text", "[{{find.files}}]", "[" + joined + "]"},
		{"twice", "{{find.count}}{{find.count}}", "1212"},
		{"element", "{{find.files[0]}}", "a.txt"},
		{"an element is not escaped", "<{{find.files[1]}}>", "<b,c.txt>"},
		{"last element", "{{find.files[-1]}}", `d\e.txt`},
		{"first from the end", "{{find.files[-3]}}", "a.txt"},
		{"values are not searched", "{{find.aggregated_content}}", "see {{find.files}} and \\{{find.count}}\n"},
		{"nor inside a text", "{{find.aggregated_content}}!", "see {{find.files}} and \\{{find.count}}\n!"},

		{"position from 1", "{{step1.count}}", 12},
		{"position from 0", "{{steps[0].files[0]}}", "a.txt"},
		{"this step by position is text", "{{step4.count}}", "{{step4.count}}"},
		{"a later step by position is text", "{{steps[4].count}}", "{{steps[4].count}}"},
		{"position 0 of 1", "{{step0.count}}", "{{step0.count}}"},
		{"leading zero", "{{step01.count}}{{steps[00].count}}", "{{step01.count}}{{steps[00].count}}"},
		{"sign", "{{steps[-1].count}}{{step+1.count}}", "{{steps[-1].count}}{{step+1.count}}"},
		{"too large", "{{step99999999999999999999.count}}", "{{step99999999999999999999.count}}"},
		{"an id goes before a position", "{{step9.count}}", 12},

		{"another's template", "{{ .Values.image }} {{user.files}} {{#if x}}", "{{ .Values.image }} {{user.files}} {{#if x}}"},
		{"no field", "{{find}} {{find }}", "{{find}} {{find }}"},
		{"blank before the dot", "{{find .count}}", "{{find .count}}"},
		{"case matters", "{{Find.count}}", "{{Find.count}}"},
		{"not closed", "{{find.count", "{{find.count"},
		{"half closed", "{{find.count} }", "{{find.count} }"},
		{"over two lines", "{{find.\ncount}}", "{{find.\ncount}}"},
		{"over two lines, CR", "{{find.count\r}}", "{{find.count\r}}"},
		{"brace inside", "{{find.{count}}", "{{find.{count}}"},
		{"single braces", "{find.count}", "{find.count}"},
		{"three braces", "{{{find.count}}}", "{12}"},
		{"an open template before", "{{find.{{find.count}}", "{{find.12"},
		{"invalid UTF-8", "\xff{{find.count}}\xfe", "\xff12\xfe"},

		{"escaped", `\{{find.files}}`, `{{find.files}}`},
		{"escaped in a text", `a\{{find.files}}b{{find.count}}`, `a{{find.files}}b12`},
		{"backslash before a value", `\\{{find.count}}`, `\12`},
		{"backslash before an escaped template", `\\\{{find.count}}`, `\{{find.count}}`},
		{"two backslashes before a value", `\\\\{{find.count}}`, `\\12`},
		{"a wrong template can be escaped", `\{{find.name}}`, `{{find.name}}`},
		{"backslash before text", `\{{user.name}} \\{{user.name}} \{{2} \{\{`, `\{{user.name}} \\{{user.name}} \{{2} \{\{`},
		{"backslash elsewhere", `\d+\\{{find.count}}\n`, `\d+\12\n`},
		{"escape after three braces", `{\{{find.count}}`, `{{{find.count}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text, problems := template.Parse(tt.text, template.Steps(steps, at))
			if len(problems) > 0 {
				t.Fatalf("problems: %v", problems)
			}
			got, err := text.Expand(results)
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("error %v, value (-want +got):\n%s", err, diff)
			}
			if changed := !reflect.DeepEqual(got, tt.text); changed != text.IsTemplate() {
				t.Errorf("IsTemplate() = %t, but expanded it is %q", text.IsTemplate(), got)
			}
			if text.Source() != tt.text {
				t.Errorf("Source() = %q", text.Source())
			}
			asText, err := text.ExpandString(results)
			want := fmt.Sprint(tt.want)
			if _, ok := tt.want.([]string); ok {
				want = joined
			}
			if err != nil || asText != want {
				t.Errorf("ExpandString() = %q, %v, want %q", asText, err, want)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, code, message, hint string
	}{
		{"{{find.b}}", "unknown_field", "template '{{find.b}}': unknown field 'b'", "aggregated_content, content, count, counts, data, edits"},
		{"{{ find.fils }}", "unknown_field", "template '{{ find.fils }}': unknown field 'fils'", "did you mean 'files'?"},
		{"{{find.Count}}", "unknown_field", "template '{{find.Count}}': unknown field 'Count'", "did you mean 'count'?"},
		{"{{find.edits_applied}}", "unknown_field", "template '{{find.edits_applied}}': unknown field 'edits_applied'", "did you mean 'edits'?"},
		{"{{find.risk_level}}", "unknown_field", "template '{{find.risk_level}}': unknown field 'risk_level'", "did you mean 'risk'?"},
		{"{{find.files_matched}}", "unknown_field", "template '{{find.files_matched}}': unknown field 'files_matched'", "did you mean 'files'?"},
		{"{{find.}}", "unknown_field", "template '{{find.}}': unknown field ''", "backslash"},
		{"{{find.   files[0]}}", "unknown_field", "template '{{find.   files[0]}}': unknown field '   files[0]'", "did you mean 'files'?"},
		{"{{find.files [0]}}", "unknown_field", "template '{{find.files [0]}}': unknown field 'files [0]'", "did you mean 'files'?"},
		{"{{find.files.0}}", "unknown_field", "template '{{find.files.0}}': unknown field 'files.0'", "did you mean 'files'?"},
		{"{{find.files | join}}", "unknown_field", "template '{{find.files | join}}': unknown field 'files | join'", "backslash"},
		{"{{step1.name}}", "unknown_field", "template '{{step1.name}}': unknown field 'name'", "backslash"},
		{"{{later.name}}", "unknown_field", "template '{{later.name}}': unknown field 'name'", "backslash"},
		{"{{find.count[0]}}", "not_a_list", "template '{{find.count[0]}}': field 'count' is not a list", "write {{find.count}}"},
		{"{{find.files[]}}", "bad_index", "template '{{find.files[]}}': '[]' is not an index", "whole number"},
		{"{{find.files[x]}}", "bad_index", "template '{{find.files[x]}}': '[x]' is not an index", "whole number"},
		{"{{find.files[0}}", "bad_index", "template '{{find.files[0}}': '[0' is not an index", "whole number"},
		{"{{find.files[0].id}}", "bad_index", "template '{{find.files[0].id}}': '[0].id' is not an index", "whole number"},
		{"{{find.files[+1]}}", "bad_index", "template '{{find.files[+1]}}': '[+1]' is not an index", "whole number"},
		{
			"{{find.files[99999999999999999999]}}", "bad_index",
			"template '{{find.files[99999999999999999999]}}': index 99999999999999999999 is too large", "whole number",
		},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			text, problems := template.Parse("x "+tt.text+" {{find.count}}", template.Steps(steps, at))
			if len(problems) != 1 {
				t.Fatalf("problems: %v", problems)
			}
			p := problems[0]
			if p.Code != tt.code || p.Message != tt.message || p.Offset != 2 || p.Source != tt.text || !strings.Contains(p.Hint, tt.hint) {
				t.Errorf("problem %+v", p)
			}
			if refs := text.Refs(); len(refs) != 1 || !text.IsTemplate() {
				t.Errorf("the other reference is lost: %v", refs)
			}
		})
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	text, problems := template.Parse(`{{ step2.files[-1] }}{{later.risk}}\{{find.count}}`, template.Steps(steps, at))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := []template.Ref{
		{
			Root: "fix-it", Field: "files", Path: template.Path{{Index: -1, Indexed: true}}, Type: template.String,
			Source: "{{ step2.files[-1] }}", Offset: 0,
		},
		{Root: "later", Field: "risk", Type: template.String, Source: "{{later.risk}}", Offset: 21},
	}
	got := text.Refs()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refs (-want +got):\n%s", diff)
	}
	got[0].Root = "spoiled"
	if text.Refs()[0].Root != "fix-it" {
		t.Error("a caller can change the references")
	}
	if _, ok := text.Whole(); ok {
		t.Error("two references are not whole")
	}
}

func TestFieldTypes(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"aggregated_content": "string", "count": "number", "edits": "number",
		"files": "list", "files_count": "number", "risk": "string",
	}
	got := make(map[string]string)
	for _, field := range template.Fields() {
		text, problems := template.Parse("{{find."+field.Name+"}}", template.Steps(steps, at))
		ref, ok := text.Whole()
		if !ok || len(problems) > 0 || ref.Type != field.Type {
			t.Fatalf("%s: %v %v", field.Name, problems, ref.Type)
		}
		got[field.Name] = ref.Type.String()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
	more := template.ResultFields()
	for _, field := range template.Fields() {
		if !slices.Contains(more, field) {
			t.Errorf("%s is not a field of a result", field.Name)
		}
	}
	for _, fields := range [][]template.Field{template.Fields(), more} {
		if !slices.IsSortedFunc(fields, func(a, b template.Field) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("not sorted: %v", fields)
		}
	}
}

func TestExpandErrors(t *testing.T) {
	t.Parallel()
	known := template.Steps(steps, at)
	failure := errors.New("gone")
	for _, text := range []string{"{{find.files[3]}}", "x{{find.files[-4]}}"} {
		parsed, _ := template.Parse(text, known)
		_, err := parsed.Expand(results)
		if e, ok := errors.AsType[*template.Error](err); !ok || e.Path != "find.files" || !strings.Contains(e.Reason, "3 elements") {
			t.Errorf("%s: %v", text, err)
		}
	}
	parsed, _ := template.Parse("{{find.files[0]}}", known)
	_, err := parsed.Expand(func(template.Ref) (any, error) { return []string{}, nil })
	if want := "template '{{find.files[0]}}': 'find.files' has 0 elements, index 0 is out of range"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = parsed.Expand(func(template.Ref) (any, error) { return nil, failure })
	if e, ok := errors.AsType[*template.Error](err); !ok || !errors.Is(err, failure) || e.Source != "{{find.files[0]}}" || e.Code() != "INTERPOLATION_FAILED" {
		t.Errorf("a failing value gives %v", err)
	}
	for field, wrong := range map[string]any{"count": "12", "risk": 12, "files": "a", "edits": nil, "aggregated_content": []string{}} {
		parsed, _ := template.Parse("{{find."+field+"}}", known)
		_, err := parsed.Expand(func(template.Ref) (any, error) { return wrong, nil })
		if _, ok := errors.AsType[*template.Error](err); !ok {
			t.Errorf("%s: a %T gives %v", field, wrong, err)
		}
	}
	parsed, _ = template.Parse("x{{find.aggregated_content}}{{find.aggregated_content}}", known)
	half := strings.Repeat("x", template.MaxLen/2)
	if _, err := parsed.Expand(func(template.Ref) (any, error) { return half, nil }); !errors.Is(err, template.ErrTooLong) {
		t.Errorf("a text longer than MaxLen gives %v", err)
	}
}

// The resulting list belongs to the caller: changing it must not change the step's result.
func TestExpandCopies(t *testing.T) {
	t.Parallel()
	files := []string{"a", "b"}
	text, _ := template.Parse("{{find.files}}", template.Steps(steps, at))
	v, err := text.Expand(func(template.Ref) (any, error) { return files, nil })
	if err != nil {
		t.Fatal(err)
	}
	v.([]string)[0] = "spoiled"
	if files[0] != "a" {
		t.Error("the result of the step was changed")
	}
	v, err = text.Expand(func(template.Ref) (any, error) { return []string(nil), nil })
	if list, ok := v.([]string); err != nil || !ok || list == nil {
		t.Errorf("an empty list came out as %#v, %v", v, err)
	}
}

func TestNearMisses(t *testing.T) {
	t.Parallel()
	ids := []string{"find", "fix-it", "x"}
	text, _ := template.Parse(`{{fnd.count}} {{user.name}} {{FIND.files}} {{y.z}} \{{fixit.a}} {{find.count}} {{ifnd.b}}`, template.Steps(ids, 2))
	want := []template.Problem{
		{
			Source: "{{fnd.count}}", Offset: 0, Code: "near_miss", Hint: "did you mean 'find'?",
			Message: "template '{{fnd.count}}': there is no step 'fnd', so this stays as it is",
		},
		{
			Source: "{{FIND.files}}", Offset: 28, Code: "near_miss", Hint: "did you mean 'find'?",
			Message: "template '{{FIND.files}}': there is no step 'FIND', so this stays as it is",
		},
		{
			Source: "{{fixit.a}}", Offset: 52, Code: "near_miss", Hint: "did you mean 'fix-it'?",
			Message: "template '{{fixit.a}}': there is no step 'fixit', so this stays as it is",
		},
		{
			Source: "{{ifnd.b}}", Offset: 79, Code: "near_miss", Hint: "did you mean 'find'?",
			Message: "template '{{ifnd.b}}': there is no step 'ifnd', so this stays as it is",
		},
	}
	if diff := cmp.Diff(want, text.NearMisses(ids)); diff != "" {
		t.Errorf("near misses (-want +got):\n%s", diff)
	}
	// Of equally similar names, the hint is the first in sort order.
	if got := text.NearMisses([]string{"fend", "fand"})[0].Hint; got != "did you mean 'fand'?" {
		t.Errorf("hint %q", got)
	}
}

func TestNoSteps(t *testing.T) {
	t.Parallel()
	for _, known := range []template.Known{nil, template.Steps(nil, 0), template.Steps(nil, -1), template.Steps([]string{"a"}, -1)} {
		text, problems := template.Parse("{{find.count}}{{step1.count}}", known)
		if text.IsTemplate() || len(problems) > 0 {
			t.Errorf("a reference was found: %v %v", text.Refs(), problems)
		}
	}
	if got := template.Escape("{{a.b}}", nil); got != "{{a.b}}" {
		t.Errorf("Escape gave %q", got)
	}
	if got, err := (template.Text{}).Expand(results); got != "" || err != nil {
		t.Errorf("the zero Text gave %v, %v", got, err)
	}
}

func ExampleParse() {
	known := template.Steps([]string{"find", "report"}, 1)
	text, problems := template.Parse(`{{find.files_count}} files, {{ .Values.name }}, \{{find.files}}`, known)
	fmt.Println(problems)
	v, err := text.Expand(func(r template.Ref) (any, error) { return 12, nil })
	fmt.Println(v, err)

	_, problems = template.Parse("{{find.fils}}", known)
	fmt.Println(problems[0].Message, "-", problems[0].Hint)
	// Output:
	// []
	// 12 files, {{ .Values.name }}, {{find.files}} <nil>
	// template '{{find.fils}}': unknown field 'fils' - did you mean 'files'?
}
