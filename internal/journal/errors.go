package journal

import (
	"errors"
	"fmt"
)

// Reason is the reason why a plan is refused.
type Reason string

// The reasons, in the order of the checks: a reason means that the reasons before it do not hold.
const (
	TooLarge    Reason = "too large"
	BadVersion  Reason = "unknown version"
	BadChecksum Reason = "damaged"
	BadKey      Reason = "not signed with the key of this user"
	BadIdentity Reason = "not at the place where it was made"
	BadFormat   Reason = "not well-formed"
	BadPath     Reason = "path is not allowed"
	BadRecord   Reason = "contradicts itself"
)

// Error: a plan was refused. No part of the plan may be used.
type Error struct {
	Reason Reason
	// Path is the path that is wrong, "" if the error is not about a path.
	Path string
	// Line is the line of the file, from 1; 0 if the error is not about a line.
	Line int
	// Err has details, or is nil.
	Err error
}

// Error names the reason, the path or the line, and the details.
func (e *Error) Error() string {
	text := "plan file: " + string(e.Reason)
	if e.Path != "" {
		text += fmt.Sprintf(": %q", e.Path)
	}
	if e.Line > 0 {
		text += fmt.Sprintf(" (line %d)", e.Line)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the details.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is an *Error of the same reason.
func (e *Error) Is(target error) bool {
	t, ok := errors.AsType[*Error](target)
	return ok && t.Reason == e.Reason && t.Path == "" && t.Line == 0 && t.Err == nil
}
