package millrace

import (
	"time"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/definition"
)

// Expect is a guard on what a step may do: outside of the bounds, the step fails. The zero value expects nothing;
// a nil bound is none.
type Expect struct {
	MinFiles *int `json:"min_files,omitempty"`
	MaxFiles *int `json:"max_files,omitempty"`
	MinEdits *int `json:"min_edits,omitempty"`
	MaxEdits *int `json:"max_edits,omitempty"`
}

// Step is one step of a pipeline.
type Step struct {
	// ID is unique in the pipeline: letters, digits, "-" and "_".
	ID string
	// Action is what the step does, with its parameters.
	Action actions.Action
	// InputFrom is the id of an earlier step whose files this one works on; InputFromAll are several. At most one of
	// the two is set.
	InputFrom    string
	InputFromAll []string
	// When must hold for the step to run, or it is skipped. The zero Condition always holds.
	When condition.Condition
	// Expect fails the step if it does too much or too little.
	Expect Expect
	// Manual lets the step wait for a person: a run that comes to it, once its condition holds, ends with a
	// *[HeldError] and goes on when it is resumed after somebody has let it, see [Saved]. Each visit waits. A dry run
	// goes through, with a warning. In parallel no step behind it begins before, and it begins when all before it are
	// done.
	Manual bool
	// Raw turns templates off in this step.
	Raw bool
	// Bind maps JSON pointers below "params" to templates, for parameters that are not strings.
	Bind map[string]string
	// OnFail is the id of the later step that a failure leads to, which is handled then. Next is that of the later step
	// that a success leads to. "" means that a failure ends the run, and that a success leads to the next in the list.
	OnFail string
	Next   string
	// RetryIf are ways back to this step or an earlier one, at most 20. The first that holds after the step has
	// succeeded or failed is taken.
	RetryIf []Retry
	// MaxRetries is how many attempts a visit may have after the first, 0 to 100. They are made after errors that may
	// pass: of the system, of an action of the host, of a tool or an agent, a timeout. Nil means what the action, or
	// the tool, says: 3 for a prompt, else 0 mostly.
	MaxRetries *int
	// MaxVisits is how many visits of this step use up the ways back to it, 2 to 100. Zero means 1 + MaxRetries if that
	// is given, else 4.
	MaxVisits int
	// Timeout is how long one attempt may take, at most a day, in milliseconds. Zero means no limit, or for a prompt
	// that of the pipeline's sandbox.
	Timeout time.Duration
	// Backoff is how long to wait before the second attempt, at most an hour, in milliseconds. The wait doubles from
	// then on, up to 30 seconds, or Backoff if that is longer. Zero means a second for a step that calls a tool or asks
	// an agent, else no wait.
	Backoff time.Duration
	// Input is "previous" for the files of the step that was executed before this one, whichever that is. A step that
	// comes first, or after one that failed, is skipped. "" means that InputFrom and InputFromAll say.
	Input string

	// prototype is what decoding has started from: what is not in it is written, also if it is empty. Nil for a step
	// built in Go, and never changed.
	prototype actions.Action
}

// Retry is a way back: when the step is done or has failed, and this holds, the run goes on at Step.
type Retry struct {
	// Step is the id of the step that has this, or of an earlier one.
	Step string
	// Keyword holds if it stands, in the same case, in the output, the aggregated content or the error of the step.
	// Exactly one of Keyword and When is set.
	Keyword string
	// When holds as the condition of a step does. It may name the step itself.
	When condition.Condition
	// Restart also takes the tree of the run back to what it was when Step was reached first. False keeps what steps
	// have staged that succeeded, so that a second attempt builds on the first.
	Restart bool
}

// defined returns a copy of the step, in the form in which pipelines hold it.
func (s Step) defined() definition.Step {
	d := definition.Step{
		ID: s.ID, Action: s.Action, InputFrom: s.InputFrom, InputFromAll: s.InputFromAll, When: s.When,
		Expect: definition.Expect(s.Expect), Manual: s.Manual, Raw: s.Raw, Bind: s.Bind, OnFail: s.OnFail, Next: s.Next,
		MaxRetries: s.MaxRetries, MaxVisits: s.MaxVisits, Timeout: s.Timeout, Backoff: s.Backoff, Input: s.Input,
		Prototype: s.prototype,
	}
	for _, way := range s.RetryIf {
		d.RetryIf = append(d.RetryIf, definition.Retry(way))
	}
	return d.Clone()
}

// stepOf returns a copy of a step of a pipeline.
func stepOf(d definition.Step) Step {
	d = d.Clone()
	s := Step{
		ID: d.ID, Action: d.Action, InputFrom: d.InputFrom, InputFromAll: d.InputFromAll, When: d.When,
		Expect: Expect(d.Expect), Manual: d.Manual, Raw: d.Raw, Bind: d.Bind, OnFail: d.OnFail, Next: d.Next,
		MaxRetries: d.MaxRetries, MaxVisits: d.MaxVisits, Timeout: d.Timeout, Backoff: d.Backoff, Input: d.Input,
		prototype: d.Prototype,
	}
	for _, way := range d.RetryIf {
		s.RetryIf = append(s.RetryIf, Retry(way))
	}
	return s
}
