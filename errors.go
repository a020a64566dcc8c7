package millrace

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/backups"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/interpolate"
	"github.com/millrace-go/millrace/internal/names"
)

// ErrNoFs means that the file system is nil. Nil never means the real disk.
var ErrNoFs = names.ErrNoFs

// ErrStateDir means that the state directory is not a directory of this user. Nothing is written through a link, or
// based on files of another user.
var ErrStateDir = commit.ErrControlDir

// ErrCommitted means that a plan has been committed already, or is being committed.
var ErrCommitted = errors.New("plan has already been committed")

// ErrReadOnly is the error of a host that only reads, for a pipeline that writes.
var ErrReadOnly = errorform.New(errorform.ReadOnly,
	"executor is read-only and the pipeline has steps that write: run it with dry_run")

// readOnlyError is ErrReadOnly for calls without a pipeline.
type readOnlyError struct{ text string }

func (e *readOnlyError) Error() string { return e.text }

// Is makes it match ErrReadOnly.
func (e *readOnlyError) Is(target error) bool { return target == ErrReadOnly }

// Code returns the code of ErrReadOnly.
func (e *readOnlyError) Code() string { return errorform.Code(ErrReadOnly) }

// StepError is a failure of a step: of the tree or of its action. Nothing was written, unless Committed is set.
type StepError struct {
	// Step is the id, Index the position from 0, Action the name of the action.
	Step   string
	Index  int
	Action string
	// RolledBack means that staged changes were discarded.
	RolledBack bool
	// Committed means that the changes of the other steps are in the tree: the pipeline has ContinueOnError.
	Committed bool
	// Err is the cause.
	Err error
}

// Error returns "pipeline failed at step N", with N counted from 1, the cause, and at the end the step's id and its
// JSON pointer.
func (e *StepError) Error() string {
	undone := ""
	if e.RolledBack {
		undone = ", rolled back"
	}
	return fmt.Sprintf("pipeline failed at step %d%s: %s (step '%s', /steps/%d)", e.Index+1, undone,
		stepMessage(e.Action, e.Err), e.Step, e.Index)
}

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }

// Code returns the code of the cause, or "step_failed" if the cause has no code.
func (e *StepError) Code() string { return cmp.Or(errorform.Code(e.Err), errorform.StepFailed) }

// stepMessage is the text of results[i].error: "search failed: path not found: src".
func stepMessage(action string, err error) string {
	return fmt.Sprintf("%s failed: %v", action, err)
}

// CommitError means that the tree could not be written. State is the state of the tree now.
type CommitError struct {
	// Step is the number of the last step before the commit, from 1. Zero means that the change of an earlier run is
	// unfinished.
	Step int
	// Restores is the id of the backup to restore, "" for the commit of a pipeline.
	Restores string
	// State is CommitNone (nothing was written), CommitRolledBack (the tree is as before, except for paths that others
	// have written since, which Err names) or CommitPending ([Executor.Recover] has to finish).
	State CommitState
	Err   error
}

// Error names the failure, whether it was undone, and what to run next.
func (e *CommitError) Error() string {
	switch {
	case e.Restores != "" && e.State == CommitPending:
		return fmt.Sprintf("restore %s: rollback failed: %v. Run Recover on this tree before anything else", e.Restores,
			e.Err)
	case e.Restores != "" && e.State == CommitRolledBack:
		return fmt.Sprintf("restore %s: rolled back: %v", e.Restores, e.Err)
	case e.Restores != "":
		return fmt.Sprintf("restore %s: %v", e.Restores, e.Err)
	case e.State == CommitRolledBack && e.Step == 0:
		return fmt.Sprintf(
			"an earlier change was not finished and is undone: %v. It does not stand in the way of the next one", e.Err)
	case e.State == CommitPending && e.Step == 0:
		text := fmt.Sprintf(
			"an earlier change is not finished: %v. Nothing is written to this tree until Recover succeeds", e.Err)
		if p, ok := errors.AsType[*commit.PendingError](e.Err); ok && p.Suspicious {
			text += fmt.Sprintf(
				". If it is yours, set Executor.State.Key to the key it was signed with, or vouch for it with TrustLeftover(%q); "+
					"DiscardLeftover(%q) removes it and leaves the tree as it is", p.ID, p.ID)
		}
		return text
	case e.State == CommitPending:
		return fmt.Sprintf(
			"pipeline failed at step %d, rollback failed: %v. Run Recover on this tree before anything else", e.Step,
			e.Err)
	case e.State == CommitRolledBack:
		return fmt.Sprintf("pipeline failed at step %d, rolled back: commit failed: %v", e.Step, e.Err)
	default:
		return fmt.Sprintf("pipeline failed at step %d: commit failed: %v", e.Step, e.Err)
	}
}

// Unwrap returns the cause.
func (e *CommitError) Unwrap() error { return e.Err }

// Code returns "recovery_needed" in state CommitPending, else the code of the cause, or "commit_failed" if the cause
// has no code.
func (e *CommitError) Code() string {
	if e.State == CommitPending {
		return errorform.RecoveryNeeded
	}
	return cmp.Or(errorform.Code(e.Err), errorform.CommitFailed)
}

// ErrorCode returns the code of an error of this package: a stable word for programs, for exit statuses and for
// messages to other machines. It is "" for nil. The first code in the error tree counts, starting at the error itself:
// each error type of this module has a method Code, and an error of the host may have one too. The codes:
//
//   - invalid_pipeline: the pipeline is wrong: a *ValidationError; or a [Library] has none of the name
//   - invalid_plan: the stored plan is wrong: a *PlanError
//   - step_failed: a step failed: a *StepError
//   - expect_failed: a step did more or less than its expect allows: an *ExpectError
//   - INTERPOLATION_FAILED: a template had no value, or a wrong value: an *InterpolationError
//   - limit: a step met a limit of the host: an *actions.LimitError
//   - retries_exhausted: a step would go back once more than allowed: a *RetriesError
//   - timeout: an attempt has taken longer than the timeout of its step: a *TimeoutError
//   - too_many_executions: the run has made as many attempts as it may, see [Pipeline.MaxAttempts]
//   - deadline_exceeded: the deadline of the run has passed: a *DeadlineError
//   - budget_exceeded: a budget is spent, or the change is larger than it allows: a *BudgetError
//   - tool_failed: a tool has failed. If the tool's own error has a method Code, it is that code instead
//   - exec_failed: a command has failed: an *actions.CommandError
//   - exec_denied: the host does not allow a command: a *command.DeniedError
//   - agent_failed: an agent has failed. If the agent's own error has a method Code, it is that code instead
//   - bulkhead_saturated: too many calls of this kind are running: a *bulkhead.SaturatedError
//   - incomplete_plan: a step that acts outside of the tree was not run for the plan: ErrIncomplete
//   - blocked: limits or risk forbid the change: a *BlockedError
//   - read_only: the host only reads: ErrReadOnly
//   - conflict: files have changed since they were read: a *ConflictError
//   - drift: files have changed since a resumed run read them: a *DriftError
//   - held: the run waits for a decision: a *HeldError
//   - nested_pipeline: a step has tried to run a pipeline: ErrNested
//   - locked: another run writes to the tree: fsutil.ErrLocked
//   - file_system: the file system lacks an ability to write to the tree: a *FileSystemError
//   - commit_failed: the tree could not be written, and is as before, except for paths in the message: a *CommitError
//   - recovery_needed: the tree needs Recover: a *CommitError in state CommitPending
//   - canceled: the context was canceled, or its deadline has passed
//   - internal: anything else: misuse of the API, or a file system that fails
func ErrorCode(err error) string {
	if err == nil {
		return ""
	}
	return cmp.Or(errorform.Code(err), errorform.Internal)
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// isAny reports whether an error matches any of the given errors.
func isAny(err error, of ...error) bool {
	return slices.ContainsFunc(of, func(one error) bool { return errors.Is(err, one) })
}

// errorText returns the text of an error, "" for nil.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Written reports whether Run, Commit or Restore has changed the tree although it returned this error: the other steps
// of a pipeline with ContinueOnError were committed, or the commit is half done and needs [Executor.Recover], or it was
// undone except for the paths that the error names. At those paths another program has written, or has removed files
// that undoing needs.
func Written(err error) bool {
	if step, ok := errors.AsType[*StepError](err); ok && step.Committed {
		return true
	}
	failed, ok := errors.AsType[*CommitError](err)
	return ok && failed.State == CommitPending || is[*commit.RollbackConflict](err)
}

// ErrIncomplete means that a plan cannot be committed, because a step that acts outside of the tree was not run for it,
// and its effects on later steps are unknown.
var ErrIncomplete = errorform.New(errorform.IncompletePlan,
	"plan is incomplete, for a step that acts outside of the tree was not run: run the pipeline instead")

// canceledError means that the context of a run has ended: it wraps the cause and the context's error.
type canceledError struct{ cause, ended error }

func (e *canceledError) Error() string { return fmt.Sprintf("pipeline canceled: %v", e.cause) }

func (e *canceledError) Unwrap() []error { return []error{e.cause, e.ended} }

func (e *canceledError) Code() string { return errorform.Canceled }

// ErrInterpolation means that a template is wrong or its value does not fit. It matches every *InterpolationError, and
// a *ValidationError with a problem of a template.
var ErrInterpolation = errors.New("a template cannot be given its value")

// CodeUnknownVariable is the code of a warning: a path has a template of a variable that the pipeline does not have. A
// door for people or models refuses such a pipeline, because nobody means a file of that name.
const CodeUnknownVariable = interpolate.CodeNoVariable

// ExpectError means that a step did more, or less, than its expect allows.
type ExpectError struct {
	// The counted things: "files" or "edits".
	What string
	// Got is the actual number. Min and Max are the bounds, nil for none.
	Got      int
	Min, Max *int
	// Notes are the warnings of the step.
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

// ConflictError means that files have changed since the plan was made. Nothing was written, or all of it was undone.
// For a restore, [Plan.Reject] leaves such paths out.
type ConflictError struct {
	// Conflicts has an entry for each such path, in path order.
	Conflicts []Conflict
	// Restores is the id of the backup to restore, "" for the commit of a pipeline.
	Restores string
	Err      error

	step bool // a step has found it, of which nothing is staged
}

// Conflict is a path that differs from the plan's expectation.
type Conflict = change.Problem

// Error names the first ten paths and the number of the others, and ends with advice.
func (e *ConflictError) Error() string {
	head, advice := "the tree has changed since the plan was made", "Plan again"
	if e.Restores != "" {
		advice = "Make these paths what they were then, or leave them out"
	}
	switch {
	case e.step:
		head, advice = "the tree has changed since the step was shown it", "Run the step again: it works on what is there now then"
	case e.Restores != "" && is[*backups.DamagedError](e.Err):
		head = fmt.Sprintf("commit %s cannot be taken back at these paths", e.Restores)
	case e.Restores != "":
		head = "the tree has changed since the commit that is to be taken back"
	}
	texts := make([]string, len(e.Conflicts))
	for i, c := range e.Conflicts {
		texts[i] = c.String()
	}
	return head + ": " + names.Few(texts, "; ") + ". " + advice
}

// Paths returns the paths of the conflicts.
func (e *ConflictError) Paths() []string {
	paths := make([]string, len(e.Conflicts))
	for i, one := range e.Conflicts {
		paths[i] = one.Path
	}
	return paths
}

// Unwrap returns the error of the commit.
func (e *ConflictError) Unwrap() error { return e.Err }

// Code returns "conflict".
func (e *ConflictError) Code() string { return errorform.Conflict }

// undoneError is [backup.ErrUndone] with the commit that undid it, "" if the paths were restored in another way.
type undoneError struct{ id, by string }

// Error names that commit.
func (e *undoneError) Error() string {
	if e.by == "" {
		return fmt.Sprintf("commit %s is undone already: all its paths are as they were before", e.id)
	}
	return fmt.Sprintf("commit %s is undone already, by %s", e.id, e.by)
}

// Is makes it match [backup.ErrUndone].
func (e *undoneError) Is(target error) bool { return target == backup.ErrUndone }

// Code returns "conflict".
func (e *undoneError) Code() string { return errorform.Conflict }
