package millrace

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/errorform"
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

// Retry is a way back: when the step is done or has failed, and this holds, the run goes on at Step.
type Retry struct {
	// Step is the id of the step that has this, or of an earlier one.
	Step string
	// Keyword holds if it stands, in the same case, in the output, the aggregated content or the error of the step.
	// Exactly one of Keyword and When is set.
	Keyword string
	// When holds as the condition of a step does. It may name the step itself.
	When condition.Condition
	// Restart also takes the tree of the run back to what it was when Step was reached first. False keeps what steps have
	// staged that succeeded, so that a second attempt builds on the first.
	Restart bool
}

// holds says what it is that holds, as messages show it.
func (w Retry) holds() string {
	if w.Keyword != "" {
		return fmt.Sprintf("'%s'", fsutil.Visible(w.Keyword))
	}
	return w.When.String()
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

// maxRetries is how many attempts a visit of the step may have after the first.
func (s Step) maxRetries() int {
	if s.MaxRetries == nil {
		return 0
	}
	return *s.MaxRetries
}

// defaultVisits is how many visits of a step use up the ways back to it, where the step does not say.
const defaultVisits = 4

// maxVisits is how many visits of the step use up the ways back to it.
func (s Step) maxVisits() int {
	switch {
	case s.MaxVisits > 0:
		return s.MaxVisits
	case s.MaxRetries != nil:
		return 1 + *s.MaxRetries
	}
	return defaultVisits
}

// jumps returns the JSON names of the fields of a step that make the way through the pipeline depend on the run.
func (s Step) jumps() []string {
	var fields []string
	if s.OnFail != "" {
		fields = append(fields, "on_fail")
	}
	if s.Next != "" {
		fields = append(fields, "next")
	}
	if len(s.RetryIf) > 0 {
		fields = append(fields, "retry_if")
	}
	if s.Input != "" {
		fields = append(fields, "input")
	}
	if s.When.Type() == condition.TypePrevError {
		fields = append(fields, "condition")
	}
	return fields
}

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

// actionOf returns the action of a step if it is of that type, or a pointer to it.
func actionOf[T actions.Action](action actions.Action) (a T, ok bool) {
	switch action := any(action).(type) {
	case T:
		return action, true
	case *T:
		return *action, true
	}
	return a, false
}

// toolOf returns the action of a step if it calls a tool.
func toolOf(action actions.Action) (a actions.Tool, ok bool) {
	return actionOf[actions.Tool](action)
}

// promptOf returns the action of a step if it asks an agent.
func promptOf(action actions.Action) (actions.Prompt, bool) { return actionOf[actions.Prompt](action) }

// execOf returns the action of a step if it runs a command.
func execOf(action actions.Action) (a actions.Exec, ok bool) {
	return actionOf[actions.Exec](action)
}

// reachesOut reports whether an action does more than to work on the stage: what it meets there may be another thing the
// next time.
func reachesOut(action actions.Action) bool {
	switch action.(type) {
	case actions.Tool, *actions.Tool, actions.Exec, *actions.Exec, actions.Prompt, *actions.Prompt:
		return true
	}
	return false
}

// ExpectError says that a step did not do as much, or as little, as its expect asked for.
type ExpectError struct {
	// What is "files" or "edits".
	What string
	// Got is the number there was, Min and Max the bounds, nil where there is none.
	Got      int
	Min, Max *int
	// Notes are what the step warned of before.
	Notes []string
}

// Error names the number, the bounds and the notes.
func (e *ExpectError) Error() string {
	return strings.Join(append([]string{e.bounds()}, e.Notes...), "; ")
}

func (e *ExpectError) bounds() string {
	switch {
	case e.Min != nil && e.Max != nil && *e.Min == *e.Max:
		return fmt.Sprintf("expected %d %s, got %d", *e.Min, e.What, e.Got)
	case e.Min != nil && e.Got < *e.Min:
		return fmt.Sprintf("expected at least %d %s, got %d", *e.Min, e.What, e.Got)
	default:
		return fmt.Sprintf("expected at most %d %s, got %d", *e.Max, e.What, e.Got)
	}
}

// Code returns "expect_failed".
func (e *ExpectError) Code() string { return errorform.ExpectFailed }
