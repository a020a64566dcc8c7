package definition

import (
	"cmp"
	"fmt"
	"maps"
	"time"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/lenient"
	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// flowForm is the JSON form of the jumps and attempts of a step. Nil means absent.
type flowForm struct {
	waysBack  []WayBack
	maxVisits *int
	timeout   *float64 // in seconds
	backoff   *float64
}

// flowFormOf returns the form for writing a step.
func flowFormOf(s Step) flowForm {
	f := flowForm{timeout: SecondsOf(s.Timeout), backoff: SecondsOf(s.Backoff)}
	if s.MaxVisits != 0 {
		f.maxVisits = &s.MaxVisits
	}
	for _, w := range s.RetryIf {
		form := WayBack{Step: w.Step, Restart: w.Restart}
		if w.Keyword != "" {
			form.Keyword = &w.Keyword
		}
		if !w.When.IsZero() {
			form.When = new(w.When.Fields())
		}
		f.waysBack = append(f.waysBack, form)
	}
	return f
}

// read copies the decoded values into the step.
func (f *flowForm) read(t *decoding, s *Step, at string) {
	if n := len(f.waysBack); n > MaxWaysBack {
		t.draft.manyWays(at+"/retry_if", s.ID, n)
		t.draft.told(at + "/retry_if")
		f.waysBack = f.waysBack[:MaxWaysBack]
	}
	for i, w := range f.waysBack {
		at := fmt.Sprintf("%s/retry_if/%d", at, i)
		way := Retry{Step: w.Step, Restart: w.Restart}
		if w.Keyword != nil {
			if way.Keyword = *w.Keyword; way.Keyword == "" {
				t.draft.problem(at+"/keyword", CodeBadRetry, "", "step '%s': keyword cannot be empty", s.ID)
			}
		}
		if w.When != nil {
			var problems []condition.Problem
			way.When, problems = condition.New(*w.When)
			for _, p := range problems {
				t.draft.problem(at+"/when/"+p.Field, CodeBadCondition, p.Hint, "%s", p.Message)
			}
		}
		if w.Keyword == nil && w.When == nil && !t.draft.isTold(at+"/keyword") && !t.draft.isTold(at+"/when") {
			t.draft.problem(at, CodeBadRetry, "", "step '%s': retry_if needs a keyword or when", s.ID)
		}
		s.RetryIf = append(s.RetryIf, way)
	}
	if f.maxVisits != nil {
		if s.MaxVisits = *f.maxVisits; s.MaxVisits == 0 {
			t.draft.badVisits(at, s.ID, 0)
		}
	}
	s.Timeout = t.draft.duration(f.timeout, at, s.ID, Timeout())
	s.Backoff = t.draft.duration(f.backoff, at, s.ID, Backoff())
}

// duration converts seconds of a step, or of the pipeline if id is "", to a duration. Seconds that are out of range, or
// not a whole number of milliseconds, are a problem, and the result is 0.
func (d *Draft) duration(seconds *float64, at, id string, f Time) time.Duration {
	if seconds == nil {
		return 0
	}
	got, ok := f.Duration(*seconds)
	if !ok {
		d.badTime(*seconds, at, id, f)
	}
	return got
}

// checkTime checks a time that was not read from JSON.
func (d *Draft) checkTime(got time.Duration, at, id string, f Time) {
	if !f.Holds(got) {
		d.badTime(got.Seconds(), at, id, f)
	}
}

func (d *Draft) badTime(seconds float64, at, id string, f Time) {
	hint, message := f.Problem(seconds, id)
	d.problem(at+"/"+f.Name, CodeBadTimeout, hint, "%s", message)
}

// manyWays reports too many backward jumps.
func (d *Draft) manyWays(at, id string, n int) {
	d.problem(at, CodeBadRetry, "", "step '%s': retry_if must have at most %d entries, got %d", id, MaxWaysBack, n)
}

// badVisits reports that max_visits is out of range.
func (d *Draft) badVisits(at, id string, n int) {
	d.problem(at+"/max_visits", CodeBadRetry, "", "step '%s': max_visits must be 2 to %d, got %d", id, MaxVisits, n)
}

// max_attempts has an earlier name in JSON, which is read too.
const (
	fieldMaxAttempts = "max_attempts"
	fieldMaxSteps    = "max_steps"
)

// badMaxAttempts reports that max_attempts is out of range, under its name in the text.
func (d *Draft) badMaxAttempts(n int) {
	name := cmp.Or(d.attemptsName, fieldMaxAttempts)
	d.problem("/"+name, CodeBadLimit, "", "%s must be 1 to %d, got %d", name, MaxAttempts, n)
}

// readMaxAttempts reads max_attempts from the JSON of a pipeline.
func (d *Draft) readMaxAttempts(root *strictjson.Node) {
	if d.attemptsForm == nil {
		return
	}
	if root.Get(fieldMaxAttempts) == nil {
		d.attemptsName = fieldMaxSteps
	}
	if d.MaxAttempts = *d.attemptsForm; d.MaxAttempts == 0 {
		d.badMaxAttempts(0)
	}
}

// asking converts a step with a prompt and no action to the usual form.
func (t *decoding) asking(n *strictjson.Node, at string) *strictjson.Node {
	prompt := (*form.Form)(nil)
	if lenient.Asks(n) {
		prompt = t.paramsOf(lenient.ActionPrompt)
	}
	if prompt == nil {
		return n
	}
	if n.Get("params") != nil {
		id := ""
		if named := n.Get("id"); named != nil {
			id = named.Text
		}
		t.draft.problem(at+"/params", CodeTwoForms,
			"name the action and put the prompt into params, or leave params out",
			"step '%s' has both prompt and params", fsutil.Visible(show.Name(id)))
	}
	plain, moved := lenient.Asking(n, t.forms().Step, prompt)
	t.move(at, moved)
	t.asks[at] = true
	return plain
}

// move records the members of a step that are elsewhere in the text.
func (t *decoding) move(at string, moved []lenient.Moved) {
	for _, m := range moved {
		m.Text = at + m.Text
		t.moved[at+m.Plain] = m
	}
}

// specOf returns the Spec of an action before it is decoded. The templates of a prompt depend on its format.
func specOf(prototype actions.Action, params *strictjson.Node) actions.Spec {
	a, ok := PromptOf(prototype)
	if !ok {
		return prototype.Spec()
	}
	if format := params.Get("format"); format != nil {
		a.Format = format.Text
	}
	return a.Spec()
}

// askingSchema describes a step that has a prompt and no action.
func askingSchema(prompt actions.Action) (Object, error) {
	schema, err := actionSchema(prompt)
	if err != nil {
		return nil, err
	}
	properties := schema["properties"].(Object)
	given := properties["params"].(Object)["properties"].(Object)
	delete(properties, "action")
	delete(properties, "params")
	maps.Copy(given, properties) // a name that both have means the member of the step
	schema["properties"] = given
	schema["title"], schema["required"] = "prompt, in the step itself", []string{"id", "prompt"}
	return schema, nil
}
