package millrace

import (
	"context"
	"errors"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

// ErrorCode returns the code of an error that this package has returned: a stable word for programs, for exit statuses and for
// what is sent to other machines. It is "" for nil. Where several fit, the one that says most about what to do next wins:
// whether the tree needs recovery, then whose fault it is. The codes:
//
//   - invalid_pipeline: the pipeline is wrong: a *ValidationError
//   - invalid_plan: the stored plan is wrong: a *PlanError
//   - step_failed: a step met something it could not do: a *StepError
//   - expect_failed: a step did more or less than its expect allows: an *ExpectError
//   - INTERPOLATION_FAILED: a template had no value, or none that fits: an *InterpolationError
//   - limit: a step met a limit of the host: an *actions.LimitError
//   - blocked: limits or risk forbid the change: a *BlockedError
//   - read_only: the host only reads: ErrReadOnly
//   - conflict: files have changed since they were read: a *ConflictError
//   - locked: another run writes to the tree: fsutil.ErrLocked
//   - file_system: the file system cannot do what it takes to write to the tree: a *FileSystemError
//   - commit_failed: the tree could not be written, and is as before but for what the message names: a *CommitError
//   - recovery_needed: the tree needs Recover: a *CommitError in state CommitPending
//   - canceled: the context was canceled, or its deadline has passed
//   - internal: anything else: misuse of the API, or a file system that fails
func ErrorCode(err error) string {
	if err == nil {
		return ""
	}
	commit, isCommit := errors.AsType[*CommitError](err)
	switch {
	case isCommit && commit.State == CommitPending:
		return "recovery_needed"
	case is[*ValidationError](err):
		return "invalid_pipeline"
	case is[*PlanError](err):
		return "invalid_plan"
	case is[*BlockedError](err):
		return "blocked"
	case errors.Is(err, ErrReadOnly):
		return "read_only"
	case errors.Is(err, fsutil.ErrLocked):
		return "locked" // although the wait for it may have ended with the context
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "canceled"
	case is[*ConflictError](err):
		return "conflict"
	case is[*FileSystemError](err):
		return "file_system"
	case isCommit:
		return "commit_failed"
	case is[*ExpectError](err):
		return "expect_failed"
	case is[*InterpolationError](err):
		return "INTERPOLATION_FAILED"
	case is[*actions.LimitError](err):
		return "limit"
	case is[*StepError](err):
		return "step_failed"
	default:
		return "internal"
	}
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// Written reports whether an error that Run, Commit or Restore has returned came with a tree that is not what it was before:
// the other steps of a pipeline with ContinueOnError were committed, the commit is half done and needs [Executor.Recover], or it
// was undone but for the paths that the error names, to which somebody else has written, or of which somebody has removed what
// undoing needs.
func Written(err error) bool {
	if step, ok := errors.AsType[*StepError](err); ok && step.Committed {
		return true
	}
	commit, ok := errors.AsType[*CommitError](err)
	return ok && commit.State == CommitPending || isLeft(err)
}
