package library_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// Each field of a step either names steps, and is renamed, or names none, and is kept. A new field must be added to
// either list, and to Include if it names steps.
func TestIncludeKnowsAllFields(t *testing.T) {
	t.Parallel()
	known := map[string]string{
		"Step": "ID InputFrom InputFromAll When OnFail Next RetryIf Action Bind", // the last two through their templates
		"kept": "Expect Manual Raw MaxRetries MaxVisits Timeout Backoff Input",
	}
	listed := make(map[string]bool)
	for _, names := range known {
		for _, name := range words(names) {
			listed[name] = true
		}
	}
	check := func(typ reflect.Type, listed map[string]bool) {
		for i := range typ.NumField() {
			if f := typ.Field(i); f.IsExported() && !listed[f.Name] {
				t.Errorf("%s has a field %s: does it name steps? then Include has to rename them", typ, f.Name)
			}
		}
	}
	check(reflect.TypeFor[millrace.Step](), listed)
	check(reflect.TypeFor[millrace.Retry](), map[string]bool{"Step": true, "When": true, "Keyword": true, "Restart": true})
}

func words(s string) []string {
	var all []string
	for word := range strings.FieldsSeq(s) {
		all = append(all, word)
	}
	return all
}

// sees is an action whose parameters may refer to the previous step, and whose data templates can read.
type sees struct {
	Text string `json:"text,omitempty"`
}

func (sees) Spec() actions.Spec {
	return actions.Spec{Name: "sees", Summary: "keeps a text", ReadOnly: true, Context: true, Data: true}
}

func (s sees) Run(context.Context, *actions.Call) (actions.Outcome, error) {
	return actions.Outcome{Output: s.Text, Data: map[string]any{"a.b": []any{s.Text}}}, nil
}

// References to the previous step and to the run stay. References into data are renamed with their paths.
func TestIncludeOtherRoots(t *testing.T) {
	t.Parallel()
	sub := millrace.New("sub").
		Step("a", sees{Text: "x"}).
		Step("b", sees{Text: `{{prev.output}} of {{ prev.id }} in {{run.name}}, {{a["a.b"][0]}} {{step1.data}} \{{prev.output}} {{a}}`}).
		Step("c", sees{Text: "{{b}}"}).
		MustBuild()
	p := millrace.New("sub").Include(sub, "in").MustBuild()
	want := []string{
		"x", `{{prev.output}} of {{ prev.id }} in {{run.name}}, {{in-a["a.b"][0]}} {{in-a.data}} \{{prev.output}} {{in-a}}`, "{{in-b}}",
	}
	var got []string
	for _, s := range p.Steps() {
		got = append(got, s.Action.(sees).Text)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	res, err := millrace.Run(t.Context(), suite.Tree("f", "x"), p)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := res.Results[1].Output, `x of in-a in sub, x {"a.b":["x"]} {{prev.output}} {"a.b":["x"]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// A step with the id "prev" would capture the reference.
	taken := millrace.New("p").Step("prev", sees{Text: "y"}).Include(sub, "in")
	wrong := []string{
		`invalid_template at /steps/2/params/text: step 'in-b': "{{prev.output}} of {{ prev.id }} in {{ru..." cannot be included, for it would mean something else here`,
	}
	if d := cmp.Diff(wrong, problems(t, taken)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
