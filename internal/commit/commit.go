package commit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"time"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/panics"
)

// Apply makes the changes, all of them or none. Changes without an effect are left out. Paths must be canonical, with
// no symbolic link on the way. Leftovers of earlier transactions are resolved first.
//
// If it fails before the first write, the error is the cause: [fsutil.ErrLocked], ErrControlDir, a *Conflict with every
// path that differs, or an *OpError. If it fails later, everything is undone and the error is the same, with
// Report.RolledBack set. If undoing fails or is not complete, the error is a *RollbackError. ErrIndeterminate means
// that the commit itself failed. If ctx is done before the commit, that is a failure; after the commit it is ignored.
func Apply(ctx context.Context, o Options, changes []change.Change) (r Report, err error) {
	entries, err := build(changes)
	if err != nil {
		return Report{}, err
	}
	if len(entries) == 0 && o.RunID == "" {
		return Report{}, nil
	}
	if o.RunID != "" && !journal.ValidRunID(o.RunID) {
		return Report{}, fmt.Errorf("run id %q is not usable as a file name", o.RunID)
	}
	if o.ID != "" && !journal.ValidID(o.ID) {
		return Report{}, fmt.Errorf("transaction id %q is not usable as a file name", o.ID)
	}
	if o.Restores != "" && !journal.ValidID(o.Restores) {
		return Report{}, fmt.Errorf("restored transaction %q: it is not an id", o.Restores)
	}
	guard := guard.Policy{Reserved: o.StateDir}
	for _, e := range entries {
		if err := guard.CheckWrite(e.Path); err != nil {
			return Report{}, err
		}
	}
	release, err := o.hold(ctx)
	if err != nil {
		return Report{}, err
	}
	defer func() {
		if rerr := panics.Protect(release); rerr != nil {
			// The error does not change what happened to the tree.
			r.Warnings = append(r.Warnings, "lock: "+rerr.Error())
		}
	}()
	return applyLocked(ctx, &o, entries, changes)
}

func applyLocked(ctx context.Context, o *Options, entries []*entry, changes []change.Change) (Report, error) {
	var left Recovery
	if !o.Recovered {
		var err error
		if left, err = recoverLocked(ctx, o); err == nil {
			err = left.Pending()
		}
		if err != nil {
			return Report{}, err
		}
	}
	key, err := journal.KeyFor(o.FS, o.Key)
	if err != nil {
		return Report{}, err
	}
	warnings, far := left.Warnings, make(map[string]bool)
	for {
		t := newTxn(o, key.Bytes, entries, far)
		r, err := t.attempt(ctx)
		r.Warnings = append(warnings, r.Warnings...)
		// A mount that looks like the rest of the tree is found when a file is renamed to it.
		if at, ok := crossing(err); ok && !far[at] {
			far[at], warnings = true, r.Warnings
			if entries, err = build(changes); err == nil {
				continue
			}
		}
		return r, err
	}
}

// crossing returns the path at which a rename or link crossed into another mount, if nothing else went wrong.
func crossing(err error) (string, bool) {
	if _, broken := errors.AsType[*RollbackError](err); broken {
		return "", false
	}
	op, ok := errors.AsType[*OpError](err)
	if !ok || op.Phase != "apply" || !disk.IsCrossDevice(op.Err) {
		return "", false
	}
	return path.Dir(op.Path), true
}

// newTxn returns a transaction with the entries, which it changes.
func newTxn(o *Options, key []byte, entries []*entry, far map[string]bool) *txn {
	now := time.Now()
	t := o.newTxn(key, "")
	t.notOurs = make(map[*entry]bool)
	t.plan = &journal.Plan{Header: journal.Header{
		ID: cmp.Or(o.ID, journal.NewID(now)), Time: now, RunID: o.RunID, Pipeline: o.Pipeline, Restores: o.Restores,
		StateDir: o.StateDir,
		Sync:     t.Sync, Keep: !o.DropBackup,
	}}
	t.dir = t.state.join(journal.TxDir, t.plan.ID)
	t.setEntries(entries)
	t.trouble.far = maps.Clone(far)
	return t
}

// attempt runs the whole protocol.
func (t *txn) attempt(ctx context.Context) (r Report, err error) {
	r.ID = t.plan.ID
	defer t.Close() // only directories are open, and they are synced elsewhere
	defer func() {
		if err := panics.Protect(t.state.tidy); err != nil {
			t.trouble.warn(t.state.dir, "not tidied up: "+err.Error())
		}
		r.Warnings = append(r.Warnings, t.trouble.told()...)
	}()
	t.Until = ctx
	if t.opts.Progress != nil {
		t.Count = t.countRead
	}
	if err := panics.Protect(func() error { return t.prepare(ctx) }); err != nil {
		if derr := panics.Protect(t.abandon); derr != nil {
			t.trouble.warn(t.dir, "not removed: "+derr.Error())
		}
		return r, err
	}
	r.Guarantee = t.guarantee()
	err = panics.Protect(func() error {
		if err := t.apply(ctx); err != nil {
			return err
		}
		t.phase("sync")
		if err := t.syncAll(ctx); err != nil {
			return err
		}
		return t.opts.checkLock()
	})
	t.Until, t.Count = nil, nil // from here on the work is finished, or undone to its end
	if err != nil {
		if uerr := t.undo(); uerr != nil {
			return r, &RollbackError{Err: err, Rollback: uerr}
		}
		r.RolledBack = true
		return r, err
	}
	err = panics.Protect(t.finishCommit)
	if disk.IsAbsent(err) && t.lostPlan() {
		if err = panics.Protect(t.commitLost); err == nil {
			r.Committed = true
			t.trouble.warn(t.dir,
				"was removed by another program while the tree was written: all was written, but there is no backup")
			return r, nil
		}
	}
	if err != nil {
		return r, fmt.Errorf("%w: %w", ErrIndeterminate, t.fail(t.dir, err))
	}
	r.Committed = true
	kept := false
	err = panics.Protect(func() (err error) {
		kept, err = t.clean()
		return err
	})
	if kept && (err == nil || !t.isLost()) { // if only cleaning failed, the next Recover makes the backup
		r.BackupID = r.ID
	}
	if err != nil {
		t.trouble.warn(t.dir, "not cleaned up: "+err.Error())
	}
	return r, nil
}

// prepare does everything that does not change the tree.
func (t *txn) prepare(ctx context.Context) error {
	for _, step := range []func(context.Context) error{t.verify, t.begin, t.stageAll, t.backUp} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := t.opts.checkLock(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return t.writePlan()
}

// abandon removes a transaction that has not touched the tree.
func (t *txn) abandon() error {
	s, err := t.Look(t.dir)
	if err != nil || s.Kind == change.Absent {
		return err
	}
	return t.forget()
}

func (t *txn) guarantee() Guarantee {
	switch {
	case t.Memory:
		return Failure
	case t.Sync && t.Can.SyncDir:
		return PowerLoss
	default:
		return Kill
	}
}
