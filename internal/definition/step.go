package definition

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/params"
)

// Expect limits the effects of a step. The public type of the same name documents the fields.
type Expect struct {
	MinFiles *int `json:"min_files,omitempty" param:"count"`
	MaxFiles *int `json:"max_files,omitempty" param:"count"`
	MinEdits *int `json:"min_edits,omitempty" param:"count"`
	MaxEdits *int `json:"max_edits,omitempty" param:"count"`
}

// Step is one step of a pipeline. The public type of the same name documents the fields.
type Step struct {
	ID           string
	Action       actions.Action
	InputFrom    string
	InputFromAll []string
	When         condition.Condition
	Expect       Expect
	Manual       bool
	Raw          bool
	Bind         map[string]string
	OnFail       string
	Next         string
	RetryIf      []Retry
	MaxRetries   *int
	MaxVisits    int
	Timeout      time.Duration
	Backoff      time.Duration
	Input        string
	// Prototype is the value from which decoding started: a field that differs from it is written, even if it is empty. It
	// is nil for a step built in Go, and never changes.
	Prototype actions.Action
}

// Retry is a backward jump to a step. The public type of the same name documents the fields.
type Retry struct {
	Step    string
	Keyword string
	When    condition.Condition
	Restart bool
}

// Holds returns the condition of the jump, for messages.
func (w Retry) Holds() string {
	if w.Keyword != "" {
		return fmt.Sprintf("'%s'", fsutil.Visible(w.Keyword))
	}
	return w.When.String()
}

// Clone returns a deep copy of the step.
func (s Step) Clone() Step {
	if s.Action != nil {
		s.Action = params.Clone(s.Action).(actions.Action)
	}
	s.InputFromAll = slices.Clone(s.InputFromAll)
	s.Bind = maps.Clone(s.Bind)
	s.RetryIf, s.MaxRetries = slices.Clone(s.RetryIf), Cloned(s.MaxRetries)
	s.Expect = Expect{
		MinFiles: Cloned(s.Expect.MinFiles), MaxFiles: Cloned(s.Expect.MaxFiles),
		MinEdits: Cloned(s.Expect.MinEdits), MaxEdits: Cloned(s.Expect.MaxEdits),
	}
	return s
}

// Cloned returns a pointer to a copy, nil for nil.
func Cloned[T any](v *T) *T {
	if v == nil {
		return nil
	}
	return new(*v)
}

// Inputs returns the ids of the steps whose files the step uses, in their order.
func (s Step) Inputs() []string {
	if s.InputFrom != "" {
		return []string{s.InputFrom}
	}
	return s.InputFromAll
}

// TakesFiles reports whether the step works on the files of other steps.
func (s Step) TakesFiles() bool { return len(s.Inputs()) > 0 || s.Input != "" }

// AfterError reports whether the step runs only after a failed step.
func (s Step) AfterError() bool { return s.When.Type() == "prev_error" }

// maxRetries returns how many attempts a visit of the step may have after the first.
func (s Step) maxRetries() int {
	if s.MaxRetries == nil {
		return 0
	}
	return *s.MaxRetries
}

// defaultVisits is the default number of visits of a step after which no backward jump leads to it.
const defaultVisits = 4

// VisitLimit returns the number of visits of the step after which no backward jump leads to it.
func (s Step) VisitLimit() int {
	switch {
	case s.MaxVisits > 0:
		return s.MaxVisits
	case s.MaxRetries != nil:
		return 1 + *s.MaxRetries
	}
	return defaultVisits
}

// jumps returns the JSON names of the fields of a step that make the order of execution depend on the run.
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
	if s.AfterError() {
		fields = append(fields, "condition")
	}
	return fields
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

// ToolOf returns the action of a step if it calls a tool.
func ToolOf(action actions.Action) (a actions.Tool, ok bool) {
	return actionOf[actions.Tool](action)
}

// PromptOf returns the action of a step if it asks an agent.
func PromptOf(action actions.Action) (actions.Prompt, bool) { return actionOf[actions.Prompt](action) }

// ExecOf returns the action of a step if it runs a command.
func ExecOf(action actions.Action) (a actions.Exec, ok bool) {
	return actionOf[actions.Exec](action)
}

// ReachesOut reports whether an action does more than work on the stage: other data may change between two attempts.
func ReachesOut(action actions.Action) bool {
	switch action.(type) {
	case actions.Tool, *actions.Tool, actions.Exec, *actions.Exec, actions.Prompt, *actions.Prompt:
		return true
	}
	return false
}
