package commit

import (
	"errors"
	"fmt"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
)

// Sentinels, to be asked for with errors.Is.
var (
	// ErrControlDir: the state directory is not a directory of the user's own.
	ErrControlDir = errors.New("state directory is not usable")
	// ErrIndeterminate: the operation that marks the commit failed. Nobody knows whether the change will survive a
	// power cut. Nothing was undone; Recover finishes it one way or the other.
	ErrIndeterminate = errors.New("it is not known whether the change is committed")
	// ErrRecoveryRequired: an unfinished transaction cannot be undone automatically. Every *PendingError matches it.
	ErrRecoveryRequired = errors.New("an unfinished transaction has to be dealt with first")
	// ErrLockLost: the lock was taken away while it was held.
	ErrLockLost = errors.New("the lock of this tree was lost")
)

func joinProblems(list []change.Problem) string {
	texts := make([]string, len(list))
	for i, p := range list {
		texts[i] = p.String()
	}
	return names.Few(texts, "; ")
}

// Conflict: the tree differs from the tree that the changes were computed from. Nothing was written, or it was undone.
type Conflict struct {
	// Paths lists all of them when found before the first write, in path order. While writing, the first ends it.
	Paths []change.Problem
}

// Error names every path.
func (e *Conflict) Error() string { return "the tree has changed: " + joinProblems(e.Paths) }

// OpError says which path an operation failed at, and in which phase.
type OpError struct {
	Phase string
	Path  string
	Err   error
}

// Error names the phase, the path and the cause.
func (e *OpError) Error() string { return fmt.Sprintf("%s %s: %v", e.Phase, e.Path, e.Err) }

// Unwrap returns the cause.
func (e *OpError) Unwrap() error { return e.Err }

// PendingError: a transaction is neither done nor undone. It matches ErrRecoveryRequired.
type PendingError struct {
	// ID names the transaction, Dir is its directory.
	ID, Dir string
	// Suspicious means that the transaction was not trusted, so nothing was tried. See Options.Trust and Discard.
	Suspicious bool
	// Err is why: an *journal.Error if the plan there cannot be trusted, or what failed in undoing. Once that is out of
	// the way, Recover goes on. For a plan that is not one's own, remove Dir.
	Err error
}

// Error names the directory and the reason.
func (e *PendingError) Error() string {
	return fmt.Sprintf("transaction in %s is unfinished: %v", e.Dir, e.Err)
}

// Unwrap returns the reason and ErrRecoveryRequired.
func (e *PendingError) Unwrap() []error { return []error{e.Err, ErrRecoveryRequired} }

// RollbackConflict: undoing found paths that another program had written after the change. Those paths were left,
// everything else was undone.
type RollbackConflict struct {
	ID string
	// Paths are those that were left, in path order, Dir is where everything else that belongs to them is kept: "" if
	// another program has removed the transaction with all that could have been restored.
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

// RollbackError: a commit failed and then could not be undone completely.
type RollbackError struct {
	// Err is why the commit failed.
	Err error
	// Rollback is why it is not undone: a *PendingError if Recover has to go on, or a *RollbackConflict if all is
	// undone but what another program has changed.
	Rollback error
}

// Error gives both reasons.
func (e *RollbackError) Error() string {
	return fmt.Sprintf("%v; rollback failed: %v", e.Err, e.Rollback)
}

// Unwrap returns both reasons.
func (e *RollbackError) Unwrap() []error { return []error{e.Err, e.Rollback} }
