package millrace

import (
	"fmt"
	"maps"
	"math"
	"strconv"
	"time"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/lenient"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// flowForm is what stands in JSON for where a step leads to and how often it is tried. Nil is what is absent.
type flowForm struct {
	waysBack  []wayBackForm
	maxVisits *int
	timeout   *float64 // in seconds
	backoff   *float64
}

// wayBackForm is an entry of retry_if.
type wayBackForm struct {
	Step    string            `json:"step" param:"id" alias:"target to goto step_id"`
	Keyword *string           `json:"keyword,omitempty" alias:"contains text"`
	When    *condition.Fields `json:"when,omitempty" alias:"condition if"`
	Restart bool              `json:"restart,omitempty"`
}

// flowFormOf returns the form of a step that is to be written.
func flowFormOf(s Step) flowForm {
	f := flowForm{timeout: secondsOf(s.Timeout), backoff: secondsOf(s.Backoff)}
	if s.MaxVisits != 0 {
		f.maxVisits = &s.MaxVisits
	}
	for _, w := range s.RetryIf {
		form := wayBackForm{Step: w.Step, Restart: w.Restart}
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

func secondsOf(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	return new(d.Seconds())
}

// read puts what was read into the step.
func (f *flowForm) read(t *decoding, s *Step, at string) {
	if n := len(f.waysBack); n > mostWaysBack {
		t.draft.manyWays(at+"/retry_if", s.ID, n)
		t.draft.told(at + "/retry_if")
		f.waysBack = f.waysBack[:mostWaysBack]
	}
	for i, w := range f.waysBack {
		at := fmt.Sprintf("%s/retry_if/%d", at, i)
		way := Retry{Step: w.Step, Restart: w.Restart}
		if w.Keyword != nil {
			if way.Keyword = *w.Keyword; way.Keyword == "" {
				t.draft.problem(at+"/keyword", codeBadRetry, "", "step '%s': keyword cannot be empty", s.ID)
			}
		}
		if w.When != nil {
			var problems []condition.Problem
			way.When, problems = condition.New(*w.When)
			for _, p := range problems {
				t.draft.problem(at+"/when/"+p.Field, codeBadCondition, p.Hint, "%s", p.Message)
			}
		}
		if w.Keyword == nil && w.When == nil && !t.draft.isTold(at+"/keyword") && !t.draft.isTold(at+"/when") {
			t.draft.problem(at, codeBadRetry, "", "step '%s': retry_if needs a keyword or when", s.ID)
		}
		s.RetryIf = append(s.RetryIf, way)
	}
	if f.maxVisits != nil {
		if s.MaxVisits = *f.maxVisits; s.MaxVisits == 0 {
			t.draft.badVisits(at, s.ID, 0)
		}
	}
	s.Timeout = t.draft.duration(f.timeout, at, s.ID, timeoutField)
	s.Backoff = t.draft.duration(f.backoff, at, s.ID, backoffField)
}

// timeField is a field that holds a time in seconds.
type timeField struct {
	name string
	most time.Duration
	zero bool // it can be 0
}

var (
	timeoutField = timeField{name: "timeout", most: 24 * time.Hour}
	backoffField = timeField{name: "backoff", most: time.Hour, zero: true}
	// deadlineField is of the pipeline.
	deadlineField = timeField{name: "deadline_seconds", most: 7 * 24 * time.Hour}
)

// duration returns seconds of a step, or of the pipeline if there is no id, as a duration. What is out of range, or no
// whole number of milliseconds, is a problem, and 0.
func (d *draft) duration(seconds *float64, at, id string, f timeField) time.Duration {
	if seconds == nil {
		return 0
	}
	const slip = 1e-6 // as binary fractions have; a tenth of a millisecond is far more
	ms := *seconds * 1000
	whole := math.Round(ms)
	if whole < 0 || whole > float64(f.most.Milliseconds()) || whole == 0 && !f.zero || math.Abs(ms-whole) > slip {
		d.badTime(*seconds, at, id, f)
		return 0
	}
	return time.Duration(whole) * time.Millisecond
}

// checkTime checks a time that was not read from JSON.
func (d *draft) checkTime(got time.Duration, at, id string, f timeField) {
	if got < 0 || got > f.most || got%time.Millisecond != 0 {
		d.badTime(got.Seconds(), at, id, f)
	}
}

func (d *draft) badTime(seconds float64, at, id string, f timeField) {
	rule, hint := fmt.Sprintf("be more than 0 and at most %d seconds", int(f.most.Seconds())), ""
	switch {
	case seconds == 0:
		hint = "leave it out for no limit"
	case seconds > 0 && seconds <= f.most.Seconds():
		rule = "have at most 3 decimals"
	case f.zero:
		rule = fmt.Sprintf("be 0 to %d seconds", int(f.most.Seconds()))
	}
	shown := strconv.FormatFloat(seconds, 'f', -1, 64)
	if math.Abs(seconds) >= 1e21 {
		shown = strconv.FormatFloat(seconds, 'g', -1, 64)
	}
	d.problem(at+"/"+f.name, codeBadTimeout, hint, "%s must %s, got %s", timed(id, f.name), rule, shown)
}

// manyWays says that there are too many ways back.
func (d *draft) manyWays(at, id string, n int) {
	d.problem(at, codeBadRetry, "", "step '%s': retry_if must have at most %d entries, got %d", id, mostWaysBack, n)
}

// badVisits says of max_visits that it is out of range.
func (d *draft) badVisits(at, id string, n int) {
	d.problem(at+"/max_visits", codeBadRetry, "", "step '%s': max_visits must be 2 to %d, got %d", id, mostMaxVisits, n)
}

// badMaxSteps says of max_steps that it is out of range.
func (d *draft) badMaxSteps(n int) {
	d.problem("/max_steps", codeBadLimit, "", "max_steps must be 1 to %d, got %d", MaxAttempts, n)
}

// readMaxSteps takes max_steps as it stands in JSON.
func (d *draft) readMaxSteps() {
	if d.mostSteps == nil {
		return
	}
	if d.maxSteps = *d.mostSteps; d.maxSteps == 0 {
		d.badMaxSteps(0)
	}
}

// limitFlow puts the ranges of what steers a run into the properties of a step. An action that takes no files, or those
// of several steps, cannot have those of the step before.
func limitFlow(properties jsonObject, input actions.Input) {
	limit := func(name string, limits jsonObject) { maps.Copy(properties[name].(jsonObject), limits) }
	limit("max_retries", jsonObject{"minimum": 0, "maximum": mostMaxRetries})
	limit("max_visits", jsonObject{"minimum": 2, "maximum": mostMaxVisits})
	limit("timeout", jsonObject{"exclusiveMinimum": 0, "maximum": int(timeoutField.most.Seconds())})
	limit("backoff", jsonObject{"minimum": 0, "maximum": int(backoffField.most.Seconds())})
	limit("input", jsonObject{"const": inputPrevious})
	if input == actions.InputNone || input == actions.InputMany {
		delete(properties, "input")
	}
}

// retrySchema describes both spellings of retry_if.
func retrySchema() jsonObject {
	way := params.PartSchema(wayBackForm{})
	properties := way["properties"].(jsonObject)
	properties["when"] = jsonObject{"$ref": "#/$defs/condition"}
	way["required"] = []string{"step"}
	way["oneOf"] = []any{jsonObject{"required": []string{"keyword"}}, jsonObject{"required": []string{"when"}}}
	keywords := jsonObject{
		"type": "object", "propertyNames": jsonObject{"$ref": "#/$defs/id"}, "maxProperties": mostWaysBack,
		"additionalProperties": jsonObject{"type": "string", "minLength": 1},
	}
	return jsonObject{"oneOf": []any{jsonObject{"type": "array", "maxItems": mostWaysBack, "items": way}, keywords}}
}

// asking returns a step that has a prompt and names no action in the form of all others.
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
		t.draft.problem(at+"/params", codeTwoForms, "name the action and put the prompt into params, or leave params out",
			"step '%s' has both prompt and params", fsutil.Visible(shortened(id)))
	}
	plain, moved := lenient.Asking(n, t.forms().Step, prompt)
	t.move(at, moved)
	t.asks[at] = true
	return plain
}

// move notes what stands elsewhere in a step.
func (t *decoding) move(at string, moved []lenient.Moved) {
	for _, m := range moved {
		m.Text = at + m.Text
		t.moved[at+m.Plain] = m
	}
}

// specOf is what an action says of itself before it is decoded. What a prompt has for templates depends on its format.
func specOf(prototype actions.Action, params *strictjson.Node) actions.Spec {
	a, ok := promptOf(prototype)
	if !ok {
		return prototype.Spec()
	}
	if format := params.Get("format"); format != nil {
		a.Format = format.Text
	}
	return a.Spec()
}

// askingSchema describes a step that has a prompt and names no action.
func askingSchema(prompt actions.Action) (jsonObject, error) {
	schema, err := actionSchema(prompt)
	if err != nil {
		return nil, err
	}
	properties := schema["properties"].(jsonObject)
	given := properties["params"].(jsonObject)["properties"].(jsonObject)
	delete(properties, "action")
	delete(properties, "params")
	maps.Copy(given, properties) // a name of both is the step's
	schema["properties"] = given
	schema["title"], schema["required"] = "prompt, in the step itself", []string{"id", "prompt"}
	return schema, nil
}
