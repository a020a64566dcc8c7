package millrace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/millrace-go/millrace/internal/errorform"
)

// DeadlineError says that the deadline of a run has passed, see [Pipeline.Deadline]. All that was staged is discarded.
type DeadlineError struct {
	// After is the deadline, counted from the first step.
	After time.Duration
	// Step is the id of the step that was running then, or was to run next, "" if all steps were done.
	Step string
	// Err is what the action returned that was cut off, nil if none was, or if it succeeded after that time.
	Err error
}

// Error names the deadline and the step.
func (e *DeadlineError) Error() string {
	if e.Step == "" {
		return fmt.Sprintf("the deadline of %v has passed before the commit", e.After)
	}
	return fmt.Sprintf("the deadline of %v has passed at step '%s'", e.After, e.Step)
}

// Unwrap returns what the action returned.
func (e *DeadlineError) Unwrap() error { return e.Err }

// Code returns "deadline_exceeded".
func (e *DeadlineError) Code() string { return errorform.DeadlineExceeded }

// within returns the context of the steps, which ends with the deadline.
func (r *run) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.p.bounds.deadline <= 0 {
		return ctx, func() {}
	}
	r.deadline = time.Now().Add(r.p.bounds.deadline)
	if r.kept != nil {
		r.deadline = r.deadline.Add(-r.kept.elapsed)
	}
	return context.WithDeadline(ctx, r.deadline)
}

// late reports whether the deadline of the run has passed.
func (r *run) late() bool { return !r.deadline.IsZero() && !time.Now().Before(r.deadline) }

// missed is the error of a run whose deadline has passed at a step, or behind all of them.
func (r *run) missed(step string) error {
	return &DeadlineError{After: r.p.bounds.deadline, Step: step}
}

// inTime is nil, or the error of a run whose deadline has passed when all its steps were done.
func (r *run) inTime() error {
	if r.late() {
		return r.missed("")
	}
	return nil
}

// cut returns the time, or what is left of the run if that is less.
func (r *run) cut(d time.Duration) time.Duration {
	if r.deadline.IsZero() {
		return d
	}
	return max(0, min(d, time.Until(r.deadline)))
}

// errLate is why the context of an attempt has ended that took longer than the timeout of its step.
var errLate = errors.New("the timeout of the step has passed")

// limited returns the context of one attempt of a step. One that has as much time as the run, or more, is cut off by
// the deadline of the run alone.
func (r *run) limited(ctx context.Context, s Step) (context.Context, context.CancelFunc) {
	timeout := r.timeout(s)
	if timeout <= 0 || !r.deadline.IsZero() && time.Until(r.deadline) <= timeout {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, timeout, errLate)
}

// over reports whether the run has to end in a visit: it was canceled, or its deadline has passed, which it notes.
func (r *run) over(ctx context.Context, v *visit) bool {
	if r.late() {
		r.stopped = r.missed(v.result.StepID)
		return true
	}
	return ctx.Err() != nil
}

// canceledError says that the context of a run has ended: it is its cause, and what every context says then.
type canceledError struct{ cause, ended error }

func (e *canceledError) Error() string   { return fmt.Sprintf("pipeline canceled: %v", e.cause) }
func (e *canceledError) Unwrap() []error { return []error{e.cause, e.ended} }
func (e *canceledError) Code() string    { return errorform.Canceled }

// timeout is how long an attempt of a step may take, 0 for no bound. What a prompt does not say is for the sandbox of the
// pipeline to say. A command has no more than the host allows, whatever the step says.
func (r *run) timeout(s Step) time.Duration {
	if _, ok := execOf(s.Action); ok {
		if most := r.x.Commands.Timeout(); s.Timeout <= 0 || s.Timeout > most {
			return most
		}
	}
	if _, ok := promptOf(s.Action); ok && s.Timeout == 0 {
		return r.p.bounds.sandbox.Timeout
	}
	return s.Timeout
}
