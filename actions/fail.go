package actions

import (
	"context"
	"errors"
)

// Fail fails its step with a message, which ends the run unless the failure is handled. With it a pipeline that has
// handled a failure still commits nothing.
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

// Permanent returns err as one after which a step is not tried again, whatever its max_retries. It is nil for nil. An
// error type of your own can say so itself, or the opposite, by a method "Retryable() bool".
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return permanent{err}
}

type permanent struct{ error }

// Retryable returns false: another attempt cannot succeed.
func (permanent) Retryable() bool { return false }

// Unwrap returns the error itself.
func (p permanent) Unwrap() error { return p.error }
