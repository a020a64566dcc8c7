package millrace

import (
	"maps"
	"slices"
	"time"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/params"
)

// Expect is a guard on what a step may do: outside of the bounds, the step fails. The zero value expects nothing;
// a nil bound is none.
type Expect struct {
	MinFiles *int `json:"min_files,omitempty" param:"count"`
	MaxFiles *int `json:"max_files,omitempty" param:"count"`
	MinEdits *int `json:"min_edits,omitempty" param:"count"`
	MaxEdits *int `json:"max_edits,omitempty" param:"count"`
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
	// Manual lets the step wait for a person: a run that comes to it, once its condition holds, ends with a *[HeldError]
	// and goes on when it is resumed after somebody has let it, see [Saved]. Each visit waits. A dry run goes through, with
	// a warning. In parallel no step behind it begins before, and it begins when all before it are done.
	Manual bool
	// Raw turns templates off in this step.
	Raw bool
	// Bind maps JSON pointers below "params" to templates, for parameters that are not strings.
	Bind map[string]string
	// OnFail is the id of the later step that a failure leads to, which is handled then. Next is that of the later step
	// that a success leads to. "" means that a failure ends the run, and that a success leads to the next in the list.
	OnFail string
	Next   string
	// RetryIf are ways back to this step or an earlier one, at most 20. The first that holds after the step has succeeded
	// or failed is taken.
	RetryIf []Retry
	// MaxRetries is how many attempts a visit may have after the first, 0 to 100. They are made after errors that may pass:
	// of the system, of an action of the host, of a tool or an agent, a timeout. Nil means what the action, or the tool,
	// says: 3 for a prompt, else 0 mostly.
	MaxRetries *int
	// MaxVisits is how many visits of this step use up the ways back to it, 2 to 100. Zero means 1 + MaxRetries if that is
	// given, else 4.
	MaxVisits int
	// Timeout is how long one attempt may take, at most a day, in milliseconds. Zero means no limit, or for a prompt that
	// of the pipeline's sandbox.
	Timeout time.Duration
	// Backoff is how long to wait before the second attempt, at most an hour, in milliseconds. The wait doubles from then
	// on, up to 30 seconds, or Backoff if that is longer. Zero means a second for a step that calls a tool or asks an
	// agent, else no wait.
	Backoff time.Duration
	// Input is "previous" for the files of the step that was executed before this one, whichever that is. A step that
	// comes first, or after one that failed, is skipped. "" means that InputFrom and InputFromAll say.
	Input string

	// prototype is what decoding has started from: what is not in it is written, also if it is empty. Nil for a step
	// built in Go, and never changed.
	prototype actions.Action
}

// clone copies the step so that nothing is shared with the copy.
func (s Step) clone() Step {
	if s.Action != nil {
		s.Action = params.Clone(s.Action).(actions.Action)
	}
	s.InputFromAll = slices.Clone(s.InputFromAll)
	s.Bind = maps.Clone(s.Bind)
	s.RetryIf, s.MaxRetries = slices.Clone(s.RetryIf), cloned(s.MaxRetries)
	s.Expect = Expect{
		MinFiles: cloned(s.Expect.MinFiles), MaxFiles: cloned(s.Expect.MaxFiles),
		MinEdits: cloned(s.Expect.MinEdits), MaxEdits: cloned(s.Expect.MaxEdits),
	}
	return s
}

// cloned returns a pointer to a copy, nil for nil.
func cloned[T any](v *T) *T {
	if v == nil {
		return nil
	}
	return new(*v)
}

// inputs returns the ids that the step takes files from, in their order.
func (s Step) inputs() []string {
	if s.InputFrom != "" {
		return []string{s.InputFrom}
	}
	return s.InputFromAll
}

// takesFiles reports whether the step works on the files of other steps.
func (s Step) takesFiles() bool { return len(s.inputs()) > 0 || s.Input != "" }

// check returns an *ExpectError if a number is out of bounds.
func (e Expect) check(files, edits int) error {
	if e.MinFiles != nil && files < *e.MinFiles || e.MaxFiles != nil && files > *e.MaxFiles {
		return &ExpectError{What: "files", Got: files, Min: e.MinFiles, Max: e.MaxFiles}
	}
	if e.MinEdits != nil && edits < *e.MinEdits || e.MaxEdits != nil && edits > *e.MaxEdits {
		return &ExpectError{What: "edits", Got: edits, Min: e.MinEdits, Max: e.MaxEdits}
	}
	return nil
}
