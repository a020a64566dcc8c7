package params_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/params"
)

// chart is an action whose texts have braces of their own.
type chart struct {
	Text string   `json:"text,omitempty" param:"whole"`
	List []string `json:"list,omitempty" param:"whole"`
	Free string   `json:"free,omitempty"`
	Line int      `json:"line,omitempty" param:"nonzero" doc:"Counts from 1."`
}

// If a template counts only as a whole, one within a text is text.
func TestWhole(t *testing.T) {
	c := chart{Text: "a {{x.y}}", List: []string{"{{x.y}}", "{{x.y}} b", `\{{x.y}}`}, Free: "a {{x.y}}"}
	var seen []string
	of(c).Strings("", func(pointer, s string) { seen = append(seen, pointer) })
	if diff := cmp.Diff([]string{"/list/0", "/free"}, seen); diff != "" {
		t.Errorf("strings (-want +got):\n%s", diff)
	}
	got, err := of(c).Expand(nil, func(_, s string) (any, error) { return strings.ReplaceAll(s, "{{x.y}}", "V"), nil })
	want := chart{Text: "a {{x.y}}", List: []string{"V", "{{x.y}} b", `\{{x.y}}`}, Free: "a V"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	got, err = of(chart{Text: "{{x.y}}"}).Expand(nil, func(_, s string) (any, error) { return "V", nil })
	if err != nil || got.(chart).Text != "V" {
		t.Errorf("the whole: %+v, %v", got, err)
	}
}

// A 0 in JSON is refused if it means the default; a 0 in Go is the default.
func TestNonzero(t *testing.T) {
	if _, _, problems := decode(chart{}, `{"line":0}`); len(problems) != 1 || !strings.Contains(problems[0], "'line' cannot be 0") {
		t.Errorf("%q", problems)
	}
	if problems := params.Check("try", chart{}, nil, isTemplate); problems != nil {
		t.Errorf("in Go: %v", problems)
	}
	_, err := of(chart{}).Expand(map[string]string{"/line": "{{a.b}}"}, func(_, _ string) (any, error) { return 0, nil })
	if err == nil || !strings.Contains(err.Error(), "cannot be 0") {
		t.Errorf("from a template: %v", err)
	}
}
