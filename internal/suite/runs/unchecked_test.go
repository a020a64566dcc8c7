package runs_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// word is a text type with its own methods, in which templates are not expanded.
type word string

func (w word) MarshalText() ([]byte, error)     { return []byte(w), nil }
func (w *word) UnmarshalText(text []byte) error { *w = word(text); return nil }

// spelling accepts no braces except those of templates.
type spelling struct {
	Word  word   `json:"word,omitempty"`
	Whole string `json:"whole,omitempty" param:"whole"`
}

func (spelling) Spec() actions.Spec {
	return actions.Spec{Name: "spelling", Summary: "A test", Input: actions.InputNone, ReadOnly: true}
}

func (s spelling) Validate(c *actions.Check) {
	for param, text := range map[string]string{"/word": string(s.Word), "/whole": s.Whole} {
		if !c.Templated(text) && strings.Contains(text, "{") {
			c.Problemf(param, "bad_word", "", "'%s' has a brace", text)
		}
	}
}

func (spelling) Run(context.Context, *actions.Call) (actions.Outcome, error) {
	return actions.Outcome{}, nil
}

// TestTemplateThatIsNone: a rule is skipped for a text that looks like a template. It is checked when the step runs,
// even if no template is expanded.
func TestTemplateThatIsNone(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"/word":  "parameter /word: '{{find.count}}' has a brace",
		"/whole": "parameter /whole: '{{find.count}} words' has a brace",
	}
	got := make(map[string]string)
	for param, s := range map[string]spelling{"/word": {Word: "{{find.count}}"}, "/whole": {Whole: "{{find.count}} words"}} {
		p := millrace.New("spelling").Step("find", actions.Search{Pattern: "x"}).Step("spell", s).MustBuild()
		_, err := millrace.Run(t.Context(), suite.Tree("a.txt", "x\n"), p)
		if step, ok := err.(*millrace.StepError); ok {
			got[param] = step.Err.Error()
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}
