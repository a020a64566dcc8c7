package millrace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"syscall"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
)

// Recovery says what [Executor.Recover] found and did.
type Recovery struct {
	// RolledBack are transactions that had not been committed and were undone, Finished those that had been committed
	// and were only to be cleaned up. Both are ids, in the order of time.
	RolledBack []string `json:"rolled_back,omitempty"`
	Finished   []string `json:"finished,omitempty"`
	// Warnings are what did not go as it should, although nothing failed.
	Warnings []string `json:"warnings,omitempty"`
}

// Recover undoes the transactions that a crash has left unfinished in the tree, and cleans up after those that were
// committed. Run and Commit do it by themselves before they write; Recover is for programs that only read, and for
// after a *CommitError in state CommitPending. It costs one look if there is nothing to do.
//
// The error is a *CommitError in state CommitPending that names the directory and the reason if a transaction cannot be
// undone, because its journal is damaged, was not written here, or because the file system fails. Nothing is touched then
// on the word of a journal that cannot be trusted; [Executor.Inspect] says which one it is. [Executor.TrustLeftover] and
// [Executor.DiscardLeftover] are the ways out. It is [ErrStateDir] if the state
// directory itself cannot be used. With ReadOnly or DryRun nothing is written: the error matches [ErrReadOnly] if there is
// something to undo or to finish, and Inspect says what.
func (x Executor) Recover(ctx context.Context, fsys afero.Fs) (*Recovery, error) {
	t, err := x.openTree(fsys)
	if err != nil {
		return nil, err
	}
	defer t.done()
	work, litter, err := commit.Left(t.commitOptions(nil))
	if err != nil || !work && !litter {
		return t.recovered(ctx, commit.Recovery{}, err)
	}
	switch dry := x.ReadOnly || x.DryRun; {
	case dry && work:
		return nil, &readOnlyError{"an earlier change is not finished, and this executor must not write: recover with another one"}
	case dry:
		return &Recovery{}, nil
	}
	var r *Recovery
	err = t.underLock(ctx, func(lock io.Closer) (err error) {
		r, err = t.recover(ctx, lock)
		return err
	})
	if !work && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		// Nothing has to be undone, and where nothing can be written nothing has to be tidied up.
		r, err = &Recovery{}, nil
	}
	if r != nil {
		r.Warnings = t.notes.take(r.Warnings)
	}
	return r, err
}

func (t *tree) recover(ctx context.Context, lock io.Closer) (*Recovery, error) {
	found, err := commit.Recover(ctx, t.commitOptions(lock))
	return t.recovered(ctx, found, err)
}

// recovered says what a recovery did.
func (t *tree) recovered(ctx context.Context, found commit.Recovery, err error) (*Recovery, error) {
	r := &Recovery{Warnings: found.Warnings}
	for _, l := range found.Leftovers {
		switch {
		case errors.Is(l.Err, commit.ErrRecoveryRequired):
			// It is still there; the error says why.
		case l.Status == commit.Committed:
			r.Finished = append(r.Finished, l.ID)
		default:
			r.RolledBack = append(r.RolledBack, l.ID)
		}
	}
	if len(r.RolledBack)+len(r.Finished) > 0 {
		t.x.logger().WarnContext(ctx, "recovered", "rolled_back", r.RolledBack, "finished", r.Finished)
	}
	switch {
	case errors.Is(err, commit.ErrRecoveryRequired):
		return r, &CommitError{State: CommitPending, Err: err}
	case errors.Is(err, ErrStateDir), err != nil && ctx.Err() != nil:
		return r, fmt.Errorf("recover: %w", err)
	case err != nil:
		return r, &CommitError{State: CommitPending, Err: err}
	}
	return r, nil
}

var errElsewhere = fmt.Errorf("it was begun with StateDir %q; call Recover with that", DefaultStateDir)

// elsewhere refuses to write over a transaction that was begun by an executor with the usual state directory, if this one has
// another: what it would undo later has to stay as it is.
func (t *tree) elsewhere() error {
	if t.stateDir == DefaultStateDir {
		return nil
	}
	o := t.commitOptions(nil)
	o.StateDir = DefaultStateDir
	dirs, err := commit.Unfinished(o)
	switch {
	case errors.Is(err, ErrStateDir):
		return nil // what is there is no state directory
	case err != nil:
		return fmt.Errorf("look for what is not finished in %s: %w", DefaultStateDir, err)
	case len(dirs) == 0:
		return nil
	}
	return &CommitError{State: CommitPending, Err: &commit.PendingError{ID: path.Base(dirs[0]), Dir: dirs[0], Err: errElsewhere}}
}

// warnOfUnfinished is for those who take no lock and undo nothing: what they read may be partly of a transaction that a crash
// has left in the middle, or that goes on.
func (t *tree) warnOfUnfinished() {
	dirs, err := commit.Unfinished(t.commitOptions(nil))
	if err != nil {
		t.notes.add("unfinished", "whether a crash has left the tree between old and new cannot be told: %v", err)
		return
	}
	for _, dir := range dirs {
		t.notes.add(dir, "the tree may be between old and new: a change is not finished, its journal is in %s. "+
			"Another run is writing it just now, or a crash has left it, then Executor.Recover undoes it", dir)
	}
}
