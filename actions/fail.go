package actions

import (
	"context"
	"errors"
)

// Fail fails its step with a message, which ends the run unless the failure is handled. A pipeline that has handled
// other failures can use it to commit nothing.
type Fail struct {
	// Message is the message of the step's error.
	Message string `json:"message" param:"required" doc:"Message of the step's error."`
}

// Spec describes the action.
func (Fail) Spec() Spec {
	return Spec{Name: "fail", Summary: "Fail with a message", ReadOnly: true, Input: InputNone}
}

// Touches implements [Toucher]: it reads and writes nothing.
func (Fail) Touches() (reads, writes []string, known bool) { return nil, nil, true }

// Run implements [Action].
func (a Fail) Run(context.Context, *Call) (Outcome, error) {
	return Outcome{}, Permanent(errors.New(a.Message))
}

// Permanent wraps err so that the step is not retried, whatever its max_retries. It returns nil for nil. Your own error
// type can decide this with a method "Retryable() bool".
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return permanent{err}
}

type permanent struct{ error }

// Retryable returns false: another attempt cannot succeed.
func (permanent) Retryable() bool { return false }

// Unwrap returns the wrapped error.
func (p permanent) Unwrap() error { return p.error }
