package errorform

import (
	"cmp"
	"fmt"
)

// The kinds of an [OutsideError].
const (
	Tool  = "tool"
	Agent = "agent"
)

// OutsideError is the failure of a tool or an agent of the host. Programs find the own error of the tool or the agent
// in it.
type OutsideError struct {
	// The kind: [Tool] or [Agent].
	Kind string
	// Name is the host's name, "" for the agent of steps that name none.
	Name string
	// Err is the own error of the tool or the agent.
	Err error
}

// Error names the tool or the agent.
func (e *OutsideError) Error() string {
	if e.Kind == Agent && e.Name == "" {
		return fmt.Sprintf("agent: %v", e.Err)
	}
	return fmt.Sprintf("%s '%s': %v", e.Kind, e.Name, e.Err)
}

// MarshalJSON gives the code, the message and the paths.
func (e *OutsideError) MarshalJSON() ([]byte, error) { return Marshal(e.Code(), e) }

// Unwrap returns the own error.
func (e *OutsideError) Unwrap() error { return e.Err }

// Code returns the code of the own error, else "tool_failed" or "agent_failed".
func (e *OutsideError) Code() string {
	if e.Kind == Agent {
		return cmp.Or(Given(e.Err), AgentFailed)
	}
	return cmp.Or(Given(e.Err), ToolFailed)
}
