package commit

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/parallel"
)

// clean makes a backup of a committed transaction, or removes it if nothing of it is kept. It can be repeated after any
// interruption. Its moves need no sync: after a power cut the next Recover cleans the rest. It reports whether there is
// a backup.
func (t *txn) clean() (bool, error) {
	t.phase("clean")
	for _, step := range []func() error{t.keepResult, t.dropFar, t.dropNew} {
		if err := step(); err != nil {
			return false, err
		}
	}
	if !t.plan.KeepsAny() {
		return false, t.discard()
	}
	for _, e := range t.entries {
		if e.Image != journal.NoImage && !t.plan.Kept(e.Record) {
			if err := t.Remove(t.image(e)); err != nil {
				return false, err
			}
		}
	}
	if err := t.state.ensure(journal.BackupsDir); err != nil {
		return false, err
	}
	return true, t.FS.Rename(t.dir, t.state.join(journal.BackupsDir, t.plan.ID))
}

// dropNew removes the files that came out of the tree, several directories at once.
func (t *txn) dropNew() error {
	top := path.Join(t.dir, journal.NewDir)
	names, err := t.Names(top)
	if disk.UnlessAbsent(err) != nil {
		return err
	}
	err = parallel.Each(context.Background(), t.workers, len(names),
		func(i int) error { return t.RemoveTree(path.Join(top, names[i])) })
	if err == nil {
		err = t.RemoveTree(top)
	}
	return err
}

// keepResult moves the caller's result to the directory of results.
func (t *txn) keepResult() error {
	if t.plan.RunID == "" || t.plan.Result == (change.Hash{}) {
		return nil
	}
	name := path.Join(t.dir, journal.Result)
	s, err := t.Look(name)
	if err != nil || s.Kind == change.Absent {
		return err // moved already
	}
	if s.Kind != change.File {
		return &OpError{Phase: "clean", Path: name, Err: errDamaged}
	}
	h, _, err := t.Hash(name, s.Size)
	if err == nil && h != t.plan.Result {
		err = &OpError{Phase: "clean", Path: name, Err: errDamaged}
	}
	if err == nil {
		err = t.state.ensure(journal.ResultsDir)
	}
	if err != nil {
		return err
	}
	if err := t.FS.Rename(name, t.state.join(journal.ResultsDir, t.plan.RunID+".json")); err != nil {
		return err
	}
	return t.SyncDir(t.state.join(journal.ResultsDir)) // before the transaction is moved or removed
}

// dropFar durably removes the files next to paths on other mounts: after the transaction is gone, nothing names them.
func (t *txn) dropFar() error {
	var errs []error
	dirs := make(map[string]bool)
	for _, e := range t.entries {
		if e.FarDir == "" {
			continue
		}
		dirs[e.FarDir] = true
		for _, name := range []string{t.temp(e), t.slot(e), t.out(e), t.back(e)} {
			errs = append(errs, t.RemoveTree(name))
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		errs = append(errs, t.SyncReached(dir))
	}
	return errors.Join(errs...)
}

// discard removes a committed transaction of which nothing is kept. The mark of the commit is removed last.
func (t *txn) discard() error {
	names, err := t.Names(t.dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		if n == journal.DoneFile {
			continue
		}
		if err := t.RemoveTree(path.Join(t.dir, n)); err != nil {
			return err
		}
	}
	return t.RemoveTree(t.dir)
}

// forget removes a transaction that has not changed the tree, or was undone. The plan is removed first.
func (t *txn) forget() error {
	if err := t.Remove(path.Join(t.dir, journal.PlanFile)); err != nil {
		return err
	}
	if err := t.SyncDir(t.dir); err != nil {
		return err
	}
	t.removeRest()
	return nil
}

// removeRest removes the rest of a transaction without a plan. The rest is harmless, so a failure is a warning.
func (t *txn) removeRest() {
	if err := panics.Protect(func() error { return t.RemoveTree(t.dir) }); err != nil {
		t.trouble.warn(t.dir, "not removed: "+err.Error())
	}
}
