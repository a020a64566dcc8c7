package millrace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/backups"
	"github.com/millrace-go/millrace/internal/commit"
)

// Recovery is the result of [Executor.Recover].
type Recovery struct {
	// RolledBack are transactions that had not been committed and were undone. Finished are committed transactions whose
	// cleanup was finished. Both are ids, in the order of time.
	RolledBack []string `json:"rolled_back,omitempty"`
	Finished   []string `json:"finished,omitempty"`
	// Warnings are irregularities that are not failures.
	Warnings []string `json:"warnings,omitempty"`
}

// Recover undoes the transactions that a crash has left unfinished in the tree, and cleans up after committed ones. Run
// and Commit recover before they write; Recover is for programs that only read, and for use after a *CommitError in
// state CommitPending. In a clean tree it costs one look.
//
// The error is a *CommitError in state CommitPending, with the directory and the reason, if a transaction cannot be
// undone because its journal is damaged or was not written here, or because the file system fails. Nothing is changed
// based on a journal that cannot be trusted; [Executor.Inspect] reports such a transaction. [Executor.TrustLeftover]
// and [Executor.DiscardLeftover] are the ways out. The error is [ErrStateDir] if the state directory itself cannot be
// used. With ReadOnly or DryRun nothing is written: the error matches [ErrReadOnly] if there is something to undo or to
// finish, and Inspect reports it.
func (x Executor) Recover(ctx context.Context, fsys afero.Fs) (*Recovery, error) {
	t, err := x.openOuter(ctx, fsys)
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
		return nil, &readOnlyError{
			"an earlier change is not finished, and this executor must not write: recover with another one",
		}
	case dry:
		return &Recovery{}, nil
	}
	var r *Recovery
	err = t.underLock(ctx, func(lock io.Closer) (err error) {
		r, err = t.recover(ctx, lock)
		return err
	})
	if !work && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		// Nothing has to be undone, and without the right to write nothing can be tidied up.
		r, err = &Recovery{}, nil
	}
	if r != nil {
		r.Warnings = t.notes.Take(r.Warnings)
	}
	return r, err
}

func (t *tree) recover(ctx context.Context, lock io.Closer) (*Recovery, error) {
	found, err := commit.Recover(ctx, t.commitOptions(lock))
	return t.recovered(ctx, found, err)
}

// recovered reports what a recovery did.
func (t *tree) recovered(ctx context.Context, found commit.Recovery, err error) (*Recovery, error) {
	r := &Recovery{Warnings: found.Warnings}
	for _, l := range found.Leftovers {
		switch {
		case errors.Is(l.Err, commit.ErrRecoveryRequired):
			// It is still there; the error has the reason.
		case l.Status == backup.LeftoverCommitted:
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
	case is[*commit.RollbackConflict](err): // everything is undone except the paths that it names
		return r, &CommitError{State: CommitRolledBack, Err: err}
	case errors.Is(err, ErrStateDir), err != nil && ctx.Err() != nil:
		return r, fmt.Errorf("recover: %w", err)
	case err != nil:
		return r, &CommitError{State: CommitPending, Err: err}
	}
	return r, nil
}

var errElsewhere = fmt.Errorf("it was begun with State.Dir %q; call Recover with that", DefaultStateDir)

// elsewhere refuses to write while a transaction of an executor with the default state directory is unfinished, if this
// executor has another directory: undoing that transaction later needs the tree unchanged.
func (t *tree) elsewhere() error {
	dirs, err := t.unfinishedElsewhere()
	if err != nil || len(dirs) == 0 {
		return err
	}
	return &CommitError{State: CommitPending,
		Err: &commit.PendingError{ID: path.Base(dirs[0]), Dir: dirs[0], Err: errElsewhere}}
}

// unfinishedElsewhere returns the unfinished transactions in the default state directory, for an executor with another
// state directory.
func (t *tree) unfinishedElsewhere() ([]string, error) {
	if t.stateDir == DefaultStateDir {
		return nil, nil
	}
	o := t.commitOptions(nil)
	o.StateDir = DefaultStateDir
	dirs, err := commit.Unfinished(o)
	switch {
	case errors.Is(err, ErrStateDir):
		return nil, nil // the path is not a state directory
	case err != nil:
		return nil, fmt.Errorf("look for what is not finished in %s: %w", DefaultStateDir, err)
	}
	return dirs, nil
}

// warnOfUnfinished is for methods that take no lock and undo nothing: they may read the partial result of a transaction
// that a crash has interrupted, or that is running.
func (t *tree) warnOfUnfinished() {
	dirs, err := commit.Unfinished(t.commitOptions(nil))
	more, merr := t.unfinishedElsewhere()
	if err = errors.Join(err, merr); err != nil {
		t.notes.Add("unfinished", "whether a crash has left the tree between old and new cannot be told: %v", err)
	}
	for _, dir := range append(dirs, more...) {
		t.notes.Add(dir, "the tree may be between old and new: a change is not finished, its journal is in %s. "+
			"Another run is writing it just now, or a crash has left it, then Executor.Recover undoes it", dir)
	}
}

// Inspection describes the leftovers in a tree.
type Inspection struct {
	// Leftovers are the unfinished transactions, in the order of time. Recover, and every run that writes, resolves them,
	// or refuses if one is backup.LeftoverSuspicious.
	Leftovers []backup.Leftover `json:"leftovers,omitempty"`
	// Conflicts are transactions that were undone, except for files that another program has written since. The former
	// files are kept in their directories until the user removes them. They do not stop runs. Their status is
	// backup.LeftoverConflict.
	Conflicts []backup.Leftover `json:"conflicts,omitempty"`
}

// Clean reports whether the tree has no leftovers: no transaction, and no conflict to look into.
func (i *Inspection) Clean() bool { return len(i.Leftovers) == 0 && len(i.Conflicts) == 0 }

// Blocked reports whether Recover, and every run that writes, would refuse: a transaction is suspicious.
func (i *Inspection) Blocked() bool {
	return slices.ContainsFunc(i.Leftovers, func(l backup.Leftover) bool { return l.Status == backup.LeftoverSuspicious })
}

// Inspect reports what [Executor.Recover] would find, and changes nothing at all: not the tree, not the state
// directory, not the lock, not the user's key. So it works on a tree that cannot be written to, and during a run, whose
// own transaction it then reports. It needs the same information as Recover to distinguish a transaction from a planted
// one: under a wrapper that hides the identity of files, a transaction is suspicious.
//
// The error is [ErrStateDir] if the state directory is a link, a file or another user's, or an error of the file system
// or the context. A damaged transaction is not an error: see backup.LeftoverSuspicious.
func (x Executor) Inspect(ctx context.Context, fsys afero.Fs) (*Inspection, error) {
	t, err := x.openTree(fsys)
	if err != nil {
		return nil, err
	}
	defer t.done()
	found, err := commit.Inspect(ctx, t.commitOptions(nil))
	if err != nil {
		return nil, err
	}
	kept, err := commit.Conflicts(ctx, t.commitOptions(nil))
	if err != nil {
		return nil, err
	}
	i := &Inspection{}
	for _, l := range found.Leftovers {
		i.Leftovers = append(i.Leftovers, l.Leftover)
	}
	for _, l := range kept {
		l.Status = backup.LeftoverConflict
		i.Conflicts = append(i.Conflicts, l.Leftover)
	}
	return i, nil
}

// TrustLeftover accepts a transaction that [Executor.Recover] refuses because it is not signed with this executor's
// key, or not at the place where it was made: it is undone, or finished, like the executor's own transactions. This
// unblocks a tree whose key was lost with the home of a container, or that was copied during a commit. The id is the id
// of a [backup.Leftover].
//
// Call it only for a transaction that this library has made in this tree: it writes the former files that the
// transaction names. Everything else about it must still be valid: its checksums, its paths, its state directory. Other
// leftovers are treated as by Recover. The resulting backup can only be restored with the key it was made with.
//
// Errors: the errors of Recover, [ErrReadOnly], and fs.ErrNotExist if no transaction has that id.
func (x Executor) TrustLeftover(ctx context.Context, fsys afero.Fs, id string) (*Recovery, error) {
	var r *Recovery
	err := x.decide(ctx, fsys, func(t *tree, o commit.Options) error {
		found, err := commit.Inspect(ctx, o)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(found.Leftovers, func(l commit.Leftover) bool { return l.ID == id }) {
			return fmt.Errorf("trust leftover %q: %w", id, fs.ErrNotExist)
		}
		o.Trust = id
		found, err = commit.Recover(ctx, o)
		r, err = t.recovered(ctx, found, err)
		return err
	})
	return r, err
}

// DiscardLeftover removes a transaction that a crash has left, above all a suspicious transaction, or a transaction
// that is kept as a conflict. The tree stays unchanged. The id is the id of a [backup.Leftover]. The former files of
// the transaction are removed with it: if the tree is between old and new, it stays so.
//
// A transaction with files that are nowhere else is not removed. It becomes a conflict with that id, which does not
// stop runs, and the error of code conflict names the files and their places. A second call of DiscardLeftover removes
// it.
//
// Other errors: [ErrReadOnly], [ErrStateDir], fs.ErrNotExist if no transaction has that id, or an error of the
// lock, the file system or the context.
func (x Executor) DiscardLeftover(ctx context.Context, fsys afero.Fs, id string) error {
	return x.decide(ctx, fsys, func(_ *tree, o commit.Options) error {
		if err := commit.Discard(ctx, o, id); err != nil {
			return fmt.Errorf("discard leftover: %w", err)
		}
		return nil
	})
}

// decide calls do under the lock, without recovery before. A host that only reads decides nothing.
func (x Executor) decide(ctx context.Context, fsys afero.Fs, do func(t *tree, o commit.Options) error) error {
	t, err := x.openOuter(ctx, fsys)
	if err != nil {
		return err
	}
	defer t.done()
	if x.ReadOnly || x.DryRun {
		return &readOnlyError{"this executor must not write, so it does not decide what becomes of a transaction: " +
			"do it with another one"}
	}
	return t.underLock(ctx, func(lock io.Closer) error { return do(t, t.commitOptions(lock)) })
}

// PruneBackups removes the backups that need not be kept, and returns their ids. Every commit prunes by
// [Executor.State.Backups]; this method is for a host that needs room now. Unusable backups are removed first. With
// DryRun it only returns the ids. It waits for other runs on the tree. The error is [ErrReadOnly] or an error of the
// lock or the file system; the ids of the removed backups are returned in any case.
func (x Executor) PruneBackups(ctx context.Context, fsys afero.Fs, keep backup.Retention) ([]string, error) {
	var gone []string
	err := x.keep(ctx, fsys, func(store *backups.Store) (err error) {
		if x.DryRun {
			gone, err = store.Prunable(ctx, keep, time.Now())
		} else {
			gone, err = store.Prune(ctx, keep, time.Now(), "")
		}
		return err
	})
	if err != nil {
		return gone, fmt.Errorf("prune backups: %w", err)
	}
	return gone, nil
}

// RemoveBackup removes a backup, even an unusable one. It waits for other runs on the tree. With DryRun it only checks
// that the backup exists. The error is [ErrReadOnly], backup.ErrNotFound, or an error of the lock or the file system.
func (x Executor) RemoveBackup(ctx context.Context, fsys afero.Fs, backupID string) error {
	err := x.keep(ctx, fsys, func(store *backups.Store) error {
		if x.DryRun {
			return store.Find(backupID)
		}
		return store.Remove(backupID)
	})
	if err != nil {
		return fmt.Errorf("remove backup %s: %w", backupID, err)
	}
	return nil
}

// keep calls do with the backups under the lock. A dry run changes nothing, so it needs no lock.
func (x Executor) keep(ctx context.Context, fsys afero.Fs, do func(store *backups.Store) error) error {
	t, err := x.openOuter(ctx, fsys)
	if err != nil {
		return err
	}
	defer t.done()
	store, err := t.backups()
	switch {
	case err != nil:
		return err
	case x.DryRun:
		return do(store)
	case x.ReadOnly:
		return &readOnlyError{"executor is read-only, and to remove a backup is to write: do it with another one, or with DryRun"}
	}
	return t.underLock(ctx, func(io.Closer) error { return do(store) })
}
