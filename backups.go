package millrace

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/backups"
)

// ListBackups returns what Restore can take, the newest first. A backup that cannot be used, being damaged or not of this
// user, is in the list with the reason in Err.
func (x Executor) ListBackups(_ context.Context, fsys afero.Fs) ([]backup.Info, error) {
	t, err := x.openTree(fsys)
	if err != nil {
		return nil, err
	}
	defer t.done()
	store, err := t.backups()
	if err != nil {
		return nil, err
	}
	return store.List()
}

// VerifyBackup reads all files of a backup and compares them with the hashes taken when they were put there. It writes nothing.
// The error is a *backup.DamagedError that lists what is not what it was, or says that the backup is not there
// (backup.ErrNotFound) or cannot be believed.
func (x Executor) VerifyBackup(_ context.Context, fsys afero.Fs, backupID string) error {
	t, err := x.openTree(fsys)
	if err != nil {
		return err
	}
	defer t.done()
	store, err := t.backups()
	if err != nil {
		return err
	}
	b, err := store.Load(backupID)
	if err != nil {
		return err
	}
	return b.Verify()
}

// PruneBackups removes the backups that are not to be kept, and returns their ids. Every commit does so by [Executor.Backups]; this
// is for a host that wants to have room now. Those that cannot be used go first. With DryRun it only says which would go. It
// waits for other runs on the tree. The error is [ErrReadOnly] or that of the lock or the file system; what could be
// removed is in the list all the same.
func (x Executor) PruneBackups(ctx context.Context, fsys afero.Fs, keep backup.Retention) ([]string, error) {
	var gone []string
	err := x.keep(ctx, fsys, func(store *backups.Store) (err error) {
		if x.DryRun {
			gone, err = store.Prunable(keep, time.Now())
		} else {
			gone, err = store.Prune(keep, time.Now())
		}
		return err
	})
	if err != nil {
		return gone, fmt.Errorf("prune backups: %w", err)
	}
	return gone, nil
}

// RemoveBackup removes a backup, whether it can be used or not. It waits for other runs on the tree. With DryRun it only looks
// whether it is there. The error is [ErrReadOnly], backup.ErrNotFound, or that of the lock or the file system.
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

// keep calls do with the backups under the lock; a dry run changes nothing, so it takes none.
func (x Executor) keep(ctx context.Context, fsys afero.Fs, do func(store *backups.Store) error) error {
	t, err := x.openTree(fsys)
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
