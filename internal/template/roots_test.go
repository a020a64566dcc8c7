package template_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/template"
)

// Texts of other languages with ids of steps between braces. With the steps find, values, page and item, all of them
// are text, except those that name a field of a step like a reference: these have always been references.
var foreignTexts = []struct {
	text string
	refs []string // sources of references and of wrong ones
}{
	// Helm and Go
	{"image: {{ .Values.find }}:{{ .Values.page.count }}", nil},
	{"{{ if find.count }}x{{ end }}", nil},
	{"{{- range .find }}{{ . }}{{- end }}", nil},
	{"{{- find.count -}}", nil},
	{`{{ include "page" . | indent 4 }}{{ $find.count }}{{ $find := .find }}`, nil},
	{`{{ with $.find }}{{ printf "%s" .files }}{{ end }}{{/* find.count */}}`, nil},
	{"{{ find }}{{ page | quote }}{{ find .count }}{{ len find.files }}", nil},
	{"{{ template \"find\" }}{{ (index .find 0).count }}{{ not find.count }}", nil},
	// Jinja, Liquid, Twig
	{"{% find %}{% for item in page.items %}{{ item }}{% endfor %}{# find.count #}", nil},
	{"{{ find|length }}{{ find | join(', ') }}{{ find() }}{{ find(x).count }}", nil},
	{"{{ page['title'] }}{{ item[0] }}{{ item[0].count }}{{ find[\"files\"] }}", nil},
	{"{{ 'find.count' }}{{ \"find.files\" }}{{ find ~ page.count }}{{ find.count + 1 if x else {} }}", nil},
	{"{%- if find.count -%}{{- page -}}{%- endif -%}", nil},
	{"{{ item.count }}", []string{"{{ item.count }}"}},
	{"{{ page.title }}", []string{"{{ page.title }}"}},
	{"{{ find.count|int }}", []string{"{{ find.count|int }}"}},
	// Mustache, Handlebars
	{"{{find}}{{{find}}}{{&find}}{{#find}}{{/find}}{{^find}}{{>find}}{{!find.count}}", nil},
	{"{{#find.files}}{{.}}{{/find.files}}{{&find.count}}{{> find.risk}}{{^find.files}}{{/find.files}}", nil},
	{"{{#each find.files}}{{@index}}{{this.find}}{{../find.count}}{{/each}}{{find/count}}{{find.[0]", nil},
	{"{{{find.count}}}", []string{"{{find.count}}"}},
	{"{{{{raw}}}}{{find.count}}{{{{/raw}}}}", []string{"{{find.count}}"}},
	// Vue, Angular, Ansible, GitHub, LaTeX, C, shell
	{`<a :b="{find: {count: 1}}">{{ find ? page.count : 0 }}{{ find?.count }}</a>`, nil},
	{"${{ github.find }}${{ needs.find.outputs }}${find.count}$(find.count)%{find.count}", nil},
	{`\frac{{find.count}{2}} {{1, 2}, {3}} int a[2][2] = {{find, 1}, {page, 2}};`, nil},
	{`{"find":{"count":{}}} [{find.count}] { {find.count} } {{find.count} } {{find.count`, nil},
	{"{{find.\ncount}}{{\nfind.count}}{{}}{{.}}{{ }}{{.find}}{{find:count}}{{find@1.count}}", nil},
	{`awk '{{print find}}' sed 's/x\{{2}/y/'`, nil},
}

func TestForeignTexts(t *testing.T) {
	t.Parallel()
	ids := []string{"find", "values", "page", "item"}
	steps := template.Steps(ids, len(ids))
	withMoreFields := func(name string) (template.Root, bool) {
		root, ok := steps(name)
		root.Fields = template.ResultFields()
		return root, ok
	}
	for _, tt := range foreignTexts {
		for _, known := range []template.Known{steps, withMoreFields} {
			text, problems := template.Parse(tt.text, known)
			var got []string
			for _, ref := range text.Refs() {
				got = append(got, ref.Source)
			}
			for _, problem := range problems {
				got = append(got, problem.Source)
			}
			if diff := cmp.Diff(tt.refs, got); diff != "" {
				t.Errorf("%s: references (-want +got):\n%s", tt.text, diff)
			}
			if len(tt.refs) > 0 {
				continue
			}
			if got, err := text.ExpandString(nil); got != tt.text || err != nil || text.IsTemplate() {
				t.Errorf("%s became %s, %v", tt.text, got, err)
			}
		}
		escaped, problems := template.Parse(template.Escape(tt.text, steps), steps)
		if got, err := escaped.ExpandString(nil); got != tt.text || err != nil || len(problems) > 0 {
			t.Errorf("%s escaped becomes %s, %v", tt.text, got, err)
		}
	}
}

// roots are what a pipeline can offer: a step with data, a step without, variables, and another root.
func roots(name string) (template.Root, bool) {
	steps := []template.Root{{Name: "call", Fields: template.ResultFields(), Data: true}, {Name: "find", Fields: template.ResultFields()}}
	vars := template.Root{Name: "vars", Fields: []template.Field{
		{Name: "dirs", Type: template.Any}, {Name: "limit", Type: template.Int}, {Name: "on", Type: template.Bool}, {Name: "rate", Type: template.Number},
	}}
	return template.Roots(steps, 1, vars, template.Root{Name: "find"})(name)
}

// rootValues returns the field of a reference, or the data if it names none.
func rootValues(r template.Ref) (any, error) {
	data := map[string]any{"items": []any{map[string]any{"id": "x1"}}, "a.b": 1, "": 2, "list": []string{"p", "q"}, "big": int64(1) << 62}
	fields := map[string]any{
		"find.counts": map[string]int{"a/b.go": 3}, "find.ok": true, "find.visits": 2, "find.data": nil, "find.error": "", "find.files": []string{"a", "b"},
		"find.content": map[string]string{"a": "b"}, "vars.dirs": []any{"src", "lib"}, "vars.limit": 10, "vars.on": false, "vars.rate": 0.5, "call.data": data, "call.files": []string{"p,q", "r"},
	}
	if r.Root == "call" && r.Field == "" {
		return data, nil
	}
	if v, err := template.Member(data, r.Root, r.Field); err == nil && r.Root == "call" {
		return v, nil
	}
	if v, ok := fields[r.Root+"."+r.Field]; ok {
		return v, nil
	}
	return nil, errors.New("no such field")
}

func TestRoots(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text       string
		typ        template.Type
		want       any
		wantString string
	}{
		{"{{call.items[0].id}}", template.Any, "x1", "x1"},
		{`{{call["a.b"]}}`, template.Any, 1, "1"},
		{`{{call[""]}}`, template.Any, 2, "2"},
		{"{{steps[0].items[-1]}}", template.Any, map[string]any{"id": "x1"}, `{"id":"x1"}`},
		{"{{call.data.items}}", template.Any, []any{map[string]any{"id": "x1"}}, `[{"id":"x1"}]`},
		{"{{call.data.list}}", template.Any, []any{"p", "q"}, `["p","q"]`},
		{"{{call.files}}", template.Any, []string{"p,q", "r"}, `p\,q,r`},
		{"{{call.files[0]}}", template.Any, "p,q", "p,q"},
		{"{{step1.big}}", template.Any, int64(1) << 62, "4611686018427387904"},
		{"{{find.files}}", template.List, []string{"a", "b"}, "a,b"},
		{`{{find.counts}}`, template.Object, map[string]any{"a/b.go": 3}, `{"a/b.go":3}`},
		{`{{find.counts["a/b.go"]}}`, template.Any, 3, "3"},
		{"{{find.counts.a/b.go}}", template.Any, nil, ""},
		{"{{find.content.a}}", template.Any, "b", "b"},
		{"{{find.ok}}", template.Bool, true, "true"},
		{"{{find.visits}}", template.Int, 2, "2"},
		{"{{find.error}}", template.String, "", ""},
		{"{{find.data}}", template.Any, nil, "null"},
		{"{{vars.dirs}}", template.Any, []any{"src", "lib"}, `["src","lib"]`},
		{"{{vars.dirs[1]}}", template.Any, "lib", "lib"},
		{"{{vars.on}}", template.Bool, false, "false"},
		{"{{vars.rate}}", template.Number, 0.5, "0.5"},
	}
	for _, tt := range tests {
		text, problems := template.Parse(tt.text, roots)
		ref, ok := text.Whole()
		if !ok || len(problems) > 0 || ref.Type != tt.typ {
			t.Errorf("%s: %v, a %v", tt.text, problems, ref.Type)
			continue
		}
		if tt.text == "{{find.counts.a/b.go}}" { // a dot ends a key
			_, err := text.Expand(rootValues)
			if want := "template '{{find.counts.a/b.go}}': 'find.counts' has no member 'a/b'; did you mean 'a/b.go'?"; err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
			continue
		}
		got, err := text.Expand(rootValues)
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.text, err, diff)
		}
		if got, err := text.ExpandString(rootValues); err != nil || got != tt.wantString {
			t.Errorf("%s as text: %q, %v", tt.text, got, err)
		}
		if got, err := template.Format(got); err != nil || got != tt.wantString {
			t.Errorf("%s formatted: %q, %v", tt.text, got, err)
		}
		longer, _ := template.Parse("<"+tt.text+">", roots)
		if got, err := longer.Expand(rootValues); err != nil || got != "<"+tt.wantString+">" {
			t.Errorf("%s in a text: %q, %v", tt.text, got, err)
		}
	}
	if got := fmt.Sprint(template.Any, template.Bool, template.Number, template.Object, template.Type(0)); got != "value boolean number object unknown" {
		t.Error(got)
	}
}

func TestRootProblems(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{{call.}}":                 "bad_path template '{{call.}}': '' is not a key",
		"{{call.items[x]}}":         "bad_path template '{{call.items[x]}}': '[x]' is not an index",
		"{{call[0]x}}":              "bad_path template '{{call[0]x}}': 'x' is not an index",
		"{{find.error.x}}":          "unknown_field template '{{find.error.x}}': unknown field 'error.x'",
		"{{find.ok[0]}}":            "not_a_list template '{{find.ok[0]}}': field 'ok' is not a list",
		"{{find.counts[}}":          "bad_path template '{{find.counts[}}': '[' is not an index",
		"{{find.data..x}}":          "bad_path template '{{find.data..x}}': '' is not a key",
		`{{find.files["a"]}}`:       `bad_index template '{{find.files["a"]}}': '["a"]' is not an index`,
		"{{vars.dir}}":              "unknown_field template '{{vars.dir}}': unknown field 'dir'",
		"{{vars.limit[0]}}":         "not_a_list template '{{vars.limit[0]}}': field 'limit' is not a list",
		"{{find}} {{vars}}":         "",
		"{{step2.count}}":           "",
		"{{find[0]}} {{vars[0].x}}": "",
	} {
		parsed, problems := template.Parse(text, roots)
		got := ""
		for _, p := range problems {
			got += p.Code + " " + p.Message
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if want == "" && parsed.IsTemplate() {
			t.Errorf("%s is not a text", text)
		}
	}
}

func TestExpandFailures(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{{call.items[9].id}}":   "template '{{call.items[9].id}}': 'call.items' has 1 elements, index 9 is out of range",
		`x{{call["a.b"].c}}`:     `template '{{call["a.b"].c}}': 'call["a.b"]' is a number, so it has no member 'c'`,
		"{{step1.items[0].di}}":  "template '{{step1.items[0].di}}': 'call.items[0]' has no member 'di'",
		"{{call.none}}":          "template '{{call.none}}': no such field",
		`{{find.counts["x/y"]}}`: `template '{{find.counts["x/y"]}}': 'find.counts' has no member 'x/y'`,
		"{{vars.dirs.x}}":        "template '{{vars.dirs.x}}': 'vars.dirs' is a list, so it has no member 'x'",
	} {
		parsed, problems := template.Parse(text, roots)
		for _, expand := range []func(template.Values) (any, error){
			parsed.Expand, func(v template.Values) (any, error) { return parsed.ExpandString(v) },
		} {
			_, err := expand(rootValues)
			if len(problems) > 0 || err == nil || err.Error() != want {
				t.Errorf("%s: %v, %v, want %s", text, problems, err, want)
			}
		}
	}
}

// The result belongs to the caller.
func TestExpandCopiesData(t *testing.T) {
	t.Parallel()
	data := map[string]any{"a": []any{map[string]any{"b": 1}}}
	text, _ := template.Parse("{{call}}", roots)
	v, err := text.Expand(func(template.Ref) (any, error) { return data, nil })
	if err != nil {
		t.Fatal(err)
	}
	spoil(v)
	if diff := cmp.Diff(map[string]any{"a": []any{map[string]any{"b": 1}}}, data); diff != "" {
		t.Errorf("the data was changed (-want +got):\n%s", diff)
	}
	if _, err := text.Expand(func(template.Ref) (any, error) { return map[string]any{"a": func() {}}, nil }); err == nil {
		t.Error("a function is a value")
	}
	if s, err := template.Format([]any{func() {}}); err == nil || s != "" {
		t.Errorf("a function is written as %q", s)
	}
}
