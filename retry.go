package millrace

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/errorform"
)

// retries is how many attempts a visit of a step may have after the first, in this run.
func (r *run) retries(i int) int {
	if n := r.p.steps[i].MaxRetries; n != nil {
		return *n
	}
	return r.specs[i].Retries
}

// inSequence reports whether the steps run one at a time: if the pipeline does not want more, if its way depends on the
// run, and if each step has to know what all before it have done. How many files and bytes differ can become less again,
// so that is only known where each step ends in sequence. What is left of money and of attempts depends on the attempts
// before.
func (r *run) inSequence() bool {
	limit := r.spent.limit
	if !r.p.options.Parallel || r.p.jumps() || r.p.maxSteps > 0 || limit.Files > 0 || limit.Bytes > 0 {
		return true
	}
	attempts := 0
	for i := range r.p.steps {
		attempts += 1 + r.retries(i)
	}
	return attempts > r.p.Len() && (!limit.IsZero() || attempts > MaxAttempts)
}

// outwardBackoff is the wait of a step that reaches out of the stage and does not say.
const outwardBackoff = time.Second

// backoff is how long to wait before the second attempt of a step.
func (r *run) backoff(i int) time.Duration {
	s := r.p.steps[i]
	if s.Backoff == 0 && reachesOut(s.Action) {
		return outwardBackoff
	}
	return s.Backoff
}

// retryable reports whether another attempt of the action may succeed after the error. An error that says so itself
// decides. What the host or the pipeline refuses stays refused. Otherwise an action of package actions, which works on
// files alone, does the same again, unless the system may be in another state then; of other actions it is not known.
func retryable(action actions.Action, err error) bool {
	if said, ok := errors.AsType[interface {
		error
		Retryable() bool
	}](err); ok {
		return said.Retryable()
	}
	switch {
	case is[*InterpolationError](err), is[*actions.LimitError](err), is[*actions.PanicError](err), errors.Is(err, errGoexit):
		return false
	case is[*TimeoutError](err): // whatever the action has made of it
		return true
	case isAny(err, fsutil.ErrDenied, fsutil.ErrNotAllowed, fsutil.ErrReadOnlyPath, fsutil.ErrEscape, fsutil.ErrNotPortable,
		ErrReadOnly, ErrNested, context.Canceled):
		return false
	case errors.Is(err, fsutil.ErrLocked), is[*ConflictError](err), !ofPackageActions(action):
		return true
	}
	return isAny(err, syscall.EIO, syscall.EAGAIN, syscall.EBUSY, syscall.EINTR, syscall.EMFILE, syscall.ENFILE,
		syscall.ETIMEDOUT, syscall.ESTALE)
}

// readable asks an error all that a run is going to ask it, and returns it. The methods of its type are the action's, so
// where one panics, as with a nil pointer for an error, the action has panicked; later nothing would stop it.
func readable(action actions.Action, err error) error {
	if err != nil {
		_, _, _ = err.Error(), stepCode(err), retryable(action, err)
	}
	return err
}

// ofPackageActions reports whether an action is one of those that millrace brings, and works on files alone.
func ofPackageActions(action actions.Action) bool {
	if reachesOut(action) {
		return false
	}
	t := reflect.TypeOf(action)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath() == reflect.TypeFor[actions.Search]().PkgPath()
}

// attemptOf tells of an attempt.
func attemptOf(err error, took time.Duration) Attempt {
	a := Attempt{Duration: took, Error: errorText(err), ErrorCode: stepCode(err)}
	if n := longestAttemptError; len(a.Error) > n {
		for range utf8.UTFMax - 1 {
			if !utf8.RuneStart(a.Error[n]) {
				n--
			}
		}
		a.Error = a.Error[:n]
	}
	return a
}

// RetriesError says that a retry_if of a step still holds although the way back has been gone as often as may be. What
// the step has staged in this visit is taken back.
type RetriesError struct {
	// Step is the id of the step that the way leads to, Visits how often that was visited.
	Step   string
	Visits int
	// Holds is the condition, or the keyword in quotes.
	Holds string
	// Err is the error of the step itself, nil if it had succeeded.
	Err error
}

// Error gives "retry_if: 'still failing' holds after 4 visits of 'auto-fix'", and the step's own error behind it.
func (e *RetriesError) Error() string {
	text := fmt.Sprintf("retry_if: %s holds after %d visits of '%s'", e.Holds, e.Visits, e.Step)
	if e.Err != nil {
		text += fmt.Sprintf(": %v", e.Err)
	}
	return text
}

// Unwrap returns the error of the step itself.
func (e *RetriesError) Unwrap() error { return e.Err }

// Code returns "retries_exhausted".
func (e *RetriesError) Code() string { return errorform.RetriesExhausted }

// TimeoutError says that an attempt has taken longer than the timeout of its step.
type TimeoutError struct {
	// After is the timeout.
	After time.Duration
	// Err is what the action returned, nil if it succeeded after that time.
	Err error
}

// Error names the time.
func (e *TimeoutError) Error() string { return fmt.Sprintf("not done after %v (timeout)", e.After) }

// Unwrap returns what the action returned.
func (e *TimeoutError) Unwrap() error { return e.Err }

// Code returns "timeout".
func (e *TimeoutError) Code() string { return errorform.Timeout }

// ExecutionsError says that a run has made as many attempts as it may, see [Pipeline.MaxSteps]. All that was staged is
// discarded.
type ExecutionsError struct {
	// Step is the id of the step that was to run next.
	Step string
	// Limit is how many attempts there were.
	Limit int
}

// Error names the number and the step.
func (e *ExecutionsError) Error() string {
	return fmt.Sprintf("the run has made all its %d attempts before step '%s'", e.Limit, e.Step)
}

// Code returns "too_many_executions".
func (e *ExecutionsError) Code() string { return errorform.TooManyExecutions }
