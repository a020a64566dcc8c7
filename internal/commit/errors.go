package commit

import (
	"errors"
	"fmt"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
)

// Sentinels, for errors.Is.
var (
	// ErrControlDir means that the state directory is not a directory of this user.
	ErrControlDir = errors.New("state directory is not usable")
	// ErrIndeterminate means that the operation that marks the commit failed. The change may or may not survive a power
	// cut. Nothing was undone; Recover completes or undoes it.
	ErrIndeterminate = errors.New("it is not known whether the change is committed")
	// ErrRecoveryRequired means that an unfinished transaction cannot be undone automatically. Every *PendingError matches
	// it.
	ErrRecoveryRequired = errors.New("an unfinished transaction has to be dealt with first")
	// ErrLockLost means that the lock was removed while it was held.
	ErrLockLost = errors.New("the lock of this tree was lost")
)

func joinProblems(list []change.Problem) string {
	texts := make([]string, len(list))
	for i, p := range list {
		texts[i] = p.String()
	}
	return names.Few(texts, "; ")
}

// Conflict means that the tree differs from the tree that the changes were computed from. Nothing was written, or it
// was undone.
type Conflict struct {
	// Paths lists all conflicts found before the first write, in path order. After the first write it has the first
	// conflict only.
	Paths []change.Problem
}

// Error names every path.
func (e *Conflict) Error() string { return "the tree has changed: " + joinProblems(e.Paths) }

// OpError has the path and the phase of a failed operation.
type OpError struct {
	Phase string
	Path  string
	Err   error
}

// Error names the phase, the path and the cause.
func (e *OpError) Error() string { return fmt.Sprintf("%s %s: %v", e.Phase, e.Path, e.Err) }

// Unwrap returns the cause.
func (e *OpError) Unwrap() error { return e.Err }

// PendingError means that a transaction is neither committed nor undone. It matches ErrRecoveryRequired.
type PendingError struct {
	// ID names the transaction, Dir is its directory.
	ID, Dir string
	// Suspicious means that the transaction was not trusted, so nothing was tried. See Options.Trust and Discard.
	Suspicious bool
	// Err is the reason: a *journal.Error if the plan cannot be trusted, or the error of undoing. Once the reason is
	// removed, Recover continues. If the plan is from somebody else, remove Dir.
	Err error
}

// Error names the directory and the reason.
func (e *PendingError) Error() string {
	return fmt.Sprintf("transaction in %s is unfinished: %v", e.Dir, e.Err)
}

// Unwrap returns the reason and ErrRecoveryRequired.
func (e *PendingError) Unwrap() []error { return []error{e.Err, ErrRecoveryRequired} }

// RollbackConflict means that undoing found paths that another program had written after the change. Those paths were
// left, everything else was undone.
type RollbackConflict struct {
	ID string
	// Paths are the paths that were left, in path order. Dir has the files that belong to them; it is "" if another
	// program has removed the transaction with everything that could have been restored.
	Paths []change.Problem
	Dir   string
}

// Error names every path and the directory.
func (e *RollbackConflict) Error() string {
	if e.Dir == "" {
		return "another program has removed the transaction from the state directory, so some paths were not restored: " +
			joinProblems(e.Paths)
	}
	return fmt.Sprintf("some paths were changed by other programs and not restored, what was there before is in %s: %s",
		e.Dir, joinProblems(e.Paths))
}

// RollbackError means that a commit failed and then could not be undone completely.
type RollbackError struct {
	// Err is the error of the commit.
	Err error
	// Rollback is the error of undoing: a *PendingError if Recover must continue, or a *RollbackConflict if everything was
	// undone except paths that another program has changed.
	Rollback error
}

// Error returns both reasons.
func (e *RollbackError) Error() string {
	return fmt.Sprintf("%v; rollback failed: %v", e.Err, e.Rollback)
}

// Unwrap returns both reasons.
func (e *RollbackError) Unwrap() []error { return []error{e.Err, e.Rollback} }
