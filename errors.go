package millrace

import (
	"errors"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/risk"
)

// ErrNoFs says that a nil file system was given. It is never taken for the real disk.
var ErrNoFs = names.ErrNoFs

// ErrStateDir says that the state directory is not what it has to be: a directory, and not somebody else's. Nothing is written
// through a link, or on the word of what another user has put there.
var ErrStateDir = commit.ErrControlDir

// ErrCommitted says that a plan has been committed already, or is being committed.
var ErrCommitted = errors.New("plan has already been committed")

// ErrReadOnly is what a host that only reads answers to a pipeline that writes.
var ErrReadOnly = errors.New("executor is read-only and the pipeline has steps that write: run it with dry_run")

// readOnlyError is ErrReadOnly where there is no pipeline that it could speak of.
type readOnlyError struct{ text string }

func (e *readOnlyError) Error() string { return e.text }

// Is makes it match ErrReadOnly.
func (e *readOnlyError) Is(target error) bool { return target == ErrReadOnly }

// Problem is one mistake in a pipeline.
type Problem struct {
	// Pointer is the JSON pointer (RFC 6901) of the place, also for a pipeline built in Go: "/steps/1/params/old_text".
	Pointer string `json:"pointer"`
	// Code is stable and meant for programs, such as "missing_param".
	Code string `json:"code"`
	// Message says what is wrong, in the documented words where there are some.
	Message string `json:"message"`
	// Hint says what to write instead, if that is known.
	Hint string `json:"hint,omitempty"`
	// Step is the id of the step that the pointer leads into: "" for the pipeline itself, and where the step has no valid id.
	Step string `json:"step,omitempty"`
	// Line and Column, from 1, say where in the JSON text that is. Zero for a pipeline built in Go.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// String returns the message, the place if the message alone does not name it, and the hint.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Message)
	if strings.Count(p.Pointer, "/") > 1 && !selfExplaining[p.Code] {
		fmt.Fprintf(&b, " (at %s", p.Pointer)
		if p.Line > 0 {
			fmt.Fprintf(&b, ", line %d", p.Line)
		}
		b.WriteByte(')')
	}
	if p.Hint != "" {
		b.WriteString(": ")
		b.WriteString(p.Hint)
	}
	return b.String()
}

// selfExplaining are the codes whose messages name the step themselves, so that they stay word for word.
var selfExplaining = map[string]bool{
	codeDuplicateID: true, codeBadID: true, codeForwardRef: true, codeUnknownRef: true, codeBadTemplate: true,
}

// ValidationError is the pipeline's fault: it lists every problem found, in the order of the pipeline. Of more than a thousand,
// or a hundred in the parameters of one step, a last one with the code "too_many_problems" counts the rest. Nothing was run.
type ValidationError struct {
	Problems []Problem
}

// Error returns the one problem, or all of them a line each.
func (e *ValidationError) Error() string {
	if len(e.Problems) == 1 {
		return e.Problems[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "pipeline has %d problems:", len(e.Problems))
	for _, p := range e.Problems {
		b.WriteString("\n  - ")
		b.WriteString(p.String())
	}
	return b.String()
}

// StepError is the fault of a step, the tree it met, or its action. Nothing was written, unless it says Committed.
type StepError struct {
	// Step is the id, Index the position from 0, Action the name of the action.
	Step   string
	Index  int
	Action string
	// RolledBack says that staged changes were discarded.
	RolledBack bool
	// Committed says that the changes of the other steps are in the tree: the pipeline has ContinueOnError.
	Committed bool
	// Err is the cause.
	Err error
}

// Error gives "pipeline failed at step N", with N counted from 1, the cause, and at the end the step's id and its JSON pointer.
func (e *StepError) Error() string {
	undone := ""
	if e.RolledBack {
		undone = ", rolled back"
	}
	return fmt.Sprintf("pipeline failed at step %d%s: %s (step '%s', /steps/%d)", e.Index+1, undone, stepMessage(e.Action, e.Err), e.Step, e.Index)
}

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }

// stepMessage is what stands in results[i].error: "search failed: path not found: src".
func stepMessage(action string, err error) string {
	return fmt.Sprintf("%s failed: %v", action, err)
}

// ExpectError says that a step did not do as much, or as little, as its expect asked for.
type ExpectError struct {
	// What is "files" or "edits".
	What string
	// Got is the number there was, Min and Max the bounds, nil where there is none.
	Got      int
	Min, Max *int
	// Notes are what the step warned of before.
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

// InterpolationError says that a template could not be given its value although it was well formed.
type InterpolationError struct {
	// Pointer is the parameter's JSON pointer below the step's "params".
	Pointer string
	// Text is the parameter as written, "" if it is the value that is wrong.
	Text string
	Err  error
}

// Error names the parameter and the reason.
func (e *InterpolationError) Error() string {
	return fmt.Sprintf("parameter %s: %v", e.Pointer, e.Err)
}

// Unwrap returns the reason.
func (e *InterpolationError) Unwrap() error { return e.Err }

// Code returns "INTERPOLATION_FAILED".
func (e *InterpolationError) Code() string { return "INTERPOLATION_FAILED" }

// BlockedError says that the limits or the risk forbid the change. Nothing was written.
type BlockedError struct {
	// Reason is the whole message.
	Reason string
	// Level is the risk of the whole change, Files and Edits what it was judged by.
	Level risk.Level
	Files int
	Edits int
	// Host says that force does not help: the limit is the host's ceiling.
	Host bool
}

// Error returns the reason.
func (e *BlockedError) Error() string { return e.Reason }

// ConflictError says that files have changed since the plan was made. Nothing was written, or all of it was undone.
type ConflictError struct {
	// Conflicts has an entry for each such path, in path order.
	Conflicts []Conflict
	// Restores is the id of the backup that was to be restored, "" if it was a pipeline that was to be committed.
	Restores string
	Err      error
}

// Conflict is one path that is not what the plan expects.
type Conflict struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Error names every path.
func (e *ConflictError) Error() string {
	var b strings.Builder
	since, advice := "the plan was made", "Plan again"
	if e.Restores != "" {
		since, advice = "the commit that is to be taken back", "Make these paths what they were then, or leave them out: PlanRestore, then Plan.Reject"
	}
	b.WriteString("the tree has changed since " + since)
	for i, c := range e.Conflicts {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		fmt.Fprintf(&b, "%s%s: %s", sep, c.Path, c.Reason)
	}
	b.WriteString(". " + advice)
	return b.String()
}

// Unwrap returns the error of the commit.
func (e *ConflictError) Unwrap() error { return e.Err }

// CommitError says that the tree could not be written. State says what the tree is now.
type CommitError struct {
	// Step is the number of the step, from 1, after which the commit came: the last one. Zero means that an earlier run's
	// change stands in the way.
	Step int
	// Restores is the id of the backup that was to be restored, "" if it was a pipeline that was to be committed.
	Restores string
	// State is CommitNone (nothing was written), CommitRolledBack (the tree is as before, except for what Err says that
	// others have written since) or CommitPending ([Executor.Recover] has to finish).
	State CommitState
	Err   error
}

// Error says what failed, whether it was taken back, and what to run next.
func (e *CommitError) Error() string {
	switch {
	case e.Restores != "" && e.State == CommitPending:
		return fmt.Sprintf("restore %s: rollback failed: %v. Run Recover on this tree before anything else", e.Restores, e.Err)
	case e.Restores != "" && e.State == CommitRolledBack:
		return fmt.Sprintf("restore %s: rolled back: %v", e.Restores, e.Err)
	case e.Restores != "":
		return fmt.Sprintf("restore %s: %v", e.Restores, e.Err)
	case e.State == CommitPending && e.Step == 0:
		text := fmt.Sprintf("an earlier change is not finished: %v. Nothing is written to this tree until Recover succeeds", e.Err)
		if p, ok := errors.AsType[*commit.PendingError](e.Err); ok && p.Suspicious {
			text += fmt.Sprintf(". If it is yours, set Executor.Key to the key it was signed with, or vouch for it with TrustLeftover(%q); "+
				"DiscardLeftover(%q) removes it and leaves the tree as it is", p.ID, p.ID)
		}
		return text
	case e.State == CommitPending:
		return fmt.Sprintf("pipeline failed at step %d, rollback failed: %v. Run Recover on this tree before anything else", e.Step, e.Err)
	case e.State == CommitRolledBack:
		return fmt.Sprintf("pipeline failed at step %d, rolled back: commit failed: %v", e.Step, e.Err)
	default:
		return fmt.Sprintf("pipeline failed at step %d: commit failed: %v", e.Step, e.Err)
	}
}

// Unwrap returns the cause.
func (e *CommitError) Unwrap() error { return e.Err }
