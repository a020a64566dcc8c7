package cli

import (
	"errors"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
)

// The exit statuses, listed by `millrace help exit-codes`.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitBlocked     = 3
	exitConflict    = 4
	exitCommit      = 5
	exitRecovery    = 6
	exitWaits       = 7
	exitCheck       = 10
	exitInterrupted = 130
)

// usageError is the error of a command that is invalid, or names something that does not exist. Nothing was changed.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// outputError reports that stdout could not be written to.
type outputError struct{ err error }

func (e *outputError) Error() string { return "cannot write the output: " + e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }

// errDeclined reports that the user declined.
var errDeclined = errors.New("nothing was changed")

// saidError ends a command that has reported the failure on stdout.
type saidError struct{ code string }

func (e *saidError) Error() string { return e.code }

// codeOf returns the code of an error in JSON: that of the library, or the program's own. The library's codes for the
// state of the tree take precedence.
func codeOf(err error) string {
	if said, ok := errors.AsType[*saidError](err); ok {
		return said.code
	}
	code := millrace.ErrorCode(err)
	switch {
	case code != "internal":
		return code
	case errors.Is(err, fsutil.ErrDrift):
		return "conflict" // noticed while the plan was shown
	case errors.Is(err, errInterrupted):
		return "canceled"
	case errors.Is(err, errDeclined):
		return "declined"
	case isType[*usageError](err), isOfFlags(err):
		return "usage"
	case isType[*notAllowedError](err):
		return "exec_denied"
	case isType[*outputError](err):
		return "output_failed"
	}
	return code
}

// statusOf returns the exit status for the error of a command.
func statusOf(err error) int {
	if err == nil {
		return exitDone
	}
	switch codeOf(err) {
	case "usage", "invalid_pipeline", "invalid_plan", "incomplete_plan", "invalid_target":
		return exitUsage
	case "blocked", "read_only", "limit", "budget_exceeded", "exec_denied", "held", "declined":
		return exitBlocked
	case "conflict", "locked", "drift":
		return exitConflict
	case "commit_failed", "file_system":
		return exitCommit
	case "recovery_needed":
		return exitRecovery
	case "waits":
		return exitWaits
	case "would_change":
		return exitCheck
	case "canceled":
		return exitInterrupted
	}
	return exitFailed
}

// isOfFlags reports whether flags have set a field of the executor to an invalid value. No flag sets the RunID.
func isOfFlags(err error) bool {
	host, ok := errors.AsType[*millrace.ExecutorError](err)
	return ok && host.Field != "RunID"
}

// isType reports whether an error of type T is in the chain of err.
func isType[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// errInterrupted is the cause of a context that the user has canceled.
var errInterrupted = errors.New("interrupted")
