package decode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
)

// A text with very many mistakes is checked in linear time. The first of the mistakes are reported.
func TestManyMistakes(t *testing.T) {
	fstest.OneGoroutine(t)
	t.Parallel()
	many := fstest.ByItself(3_000, 10_000)
	repeat := func(format string) string {
		var b strings.Builder
		for i := range many {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	var dry strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&dry, `"%sdry_run": true, `, strings.Repeat("_", i))
	}
	step := func(inner string) string {
		return `{"name": "n", "steps": [{` + inner + `"id": "s", "action": "search"}]}`
	}
	for what, test := range map[string]struct{ text, last string }{
		"names of the pipeline":   {`{` + repeat(`"field%d": 1, `) + `"name": "n"}`, fmt.Sprint(many-999, " more problems")},
		"names of a step":         {step(repeat(`"field%d": 1, `)), fmt.Sprint(many-999, " more problems")},
		"names of parameters":     {step(`"params": {` + repeat(`"field%d": 1, `) + `"pattern": "x"}, `), fmt.Sprint(many-100, " more problems with the parameters")},
		"names beside a pipeline": {`{"pipeline": {` + repeat(`"a%d": 1, `) + `"name": "n"}, ` + repeat(`"b%d": 1, `) + `"args": 1}`, ""},
		"one name in many forms":  {`{` + dry.String() + `"name": "n", "dry_run": false, "steps": []}`, ""},
		"forms of it in a step":   {step(dry.String()), ""},
		"repairs within a list": {`{"name": "n", "steps": [{"id": "s", "action": "multi_edit", "params": {"files": ["a"], "edits": [` +
			strings.TrimSuffix(repeat(`{"old_string": "%d", "replace": ["x"]}, `), ", ") + `]}}]}`, ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for _, d := range []millrace.Decoder{{}, {Lenient: true}} {
				p, err := d.Decode([]byte(test.text))
				again, err2 := d.Decode([]byte(test.text))
				if fmt.Sprint(err) != fmt.Sprint(err2) {
					t.Error("the problems differ the second time")
				}
				if w := p.Warnings(); len(w) > 1001 || len(w) != len(again.Warnings()) {
					t.Errorf("%d warnings, then %d", len(w), len(again.Warnings()))
				}
				if err == nil {
					continue
				}
				problems := err.(*millrace.ValidationError).Problems
				if n := len(problems); n > 1001 {
					t.Errorf("%d problems", n)
				}
				if all := fmt.Sprint(problems); test.last != "" && !strings.Contains(all, test.last) {
					t.Errorf("want %q at the end, got %.300s", test.last, problems[len(problems)-1])
				}
			}
		})
	}
}

// A problem names its step, wherever the pipeline comes from.
func TestProblemsNameTheirStep(t *testing.T) {
	t.Parallel()
	const text = `{"name": "", "steps": [{"id": "look", "action": "search", "params": {}}, {"id": "not valid", "action": "nothing"},
		{"id": "", "action": "search", "params": {"pattern": "x"}}, {"id": "edit-it", "action": "edit", "input_from": "lok", "params": {"old_text": "a", "new_text": "b"}}]}`
	_, err := millrace.Decode([]byte(text))
	_, built := millrace.New("").Step("look", nil).Build()
	want := map[string]string{"/name": "", "/steps/0/params/pattern": "look", "/steps/1/id": "", "/steps/1/action": "", "/steps/2/id": "", "/steps/3/input_from": "edit-it"}
	for _, p := range err.(*millrace.ValidationError).Problems {
		if step, ok := want[p.Pointer]; !ok || step != p.Step {
			t.Errorf("%s is of step %q, want %q", p.Pointer, p.Step, step)
		}
		delete(want, p.Pointer)
	}
	if len(want) > 0 {
		t.Errorf("no problems at %v, got %v", want, err)
	}
	problems := built.(*millrace.ValidationError).Problems
	if last := problems[len(problems)-1]; last.Step != "look" {
		t.Errorf("the step of a built pipeline is %q: %v", last.Step, built)
	}
}
