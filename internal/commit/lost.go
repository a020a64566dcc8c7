package commit

import (
	"path"
	"slices"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/journal"
)

// isLost reports whether another program has removed the directory of the transaction, as "git clean -fdx" does. Then
// the transaction cannot be undone. If that cannot be determined, isLost reports false, with a warning.
func (t *txn) isLost() bool {
	s, err := t.Look(t.dir)
	if err != nil {
		t.trouble.warn(t.dir, "not known to be there: "+err.Error())
	}
	return err == nil && s.Kind == change.Absent
}

// lostPlan reports whether the plan of the transaction is gone everywhere, so that no Recover will undo it.
func (t *txn) lostPlan() bool {
	for _, name := range []string{journal.PlanFile, journal.DoneFile} {
		if s, err := t.Look(path.Join(t.dir, name)); err != nil || s.Kind != change.Absent {
			return false
		}
	}
	return true
}

// commitLost ends a transaction that was removed after everything was applied and durable. The tree is in its new
// state, and stays so: commitLost makes the removal of the plan durable.
func (t *txn) commitLost() error {
	dirs := disk.Above(t.dir)
	for _, dir := range slices.Backward(dirs) {
		s, err := t.Look(dir)
		if err != nil {
			return err
		}
		if s.Kind == change.Dir {
			return t.SyncDir(dir)
		}
	}
	return t.SyncDir(".")
}

// verifyLost compares the tree after a transaction was removed before everything was applied. The error is nil if the
// tree is in its old state, otherwise a *RollbackConflict with every path that differs. Nothing is changed, because the
// files needed to finish or to undo are gone.
func (u *undoing) verifyLost() error {
	for _, e := range u.entries {
		reason, err := u.leftAs(e)
		if err != nil {
			return u.pending(u.fail(e.Path, err))
		}
		if reason != "" {
			u.conflict(e, reason)
		}
	}
	if len(u.found) == 0 {
		return nil
	}
	return &RollbackConflict{ID: u.plan.ID, Paths: sortProblems(u.found)}
}

// leftAs describes the path if it is not in its old state.
func (u *undoing) leftAs(e *entry) (string, error) {
	s, err := u.Reach(e.Path)
	if err != nil {
		return "", err
	}
	is := func(was change.State, file func(e *entry, name string, s change.State) (bool, error)) (bool, error) {
		if s.Kind != was.Kind || !disk.IsLeaf(was) {
			return s.Kind == was.Kind, nil
		}
		return file(e, e.Path, s)
	}
	switch isOld, err := is(e.Old, u.isOld); {
	case err != nil:
		return "", err
	case isOld && s.Mode != e.Old.Mode && e.New.Kind == s.Kind && s.Mode == e.New.Mode:
		return "has its new permissions", nil
	case isOld:
		return "", nil
	}
	switch isNew, err := is(e.New, u.isNew); {
	case err != nil:
		return "", err
	case isNew && s.Kind == change.Absent:
		return "is gone", nil
	case isNew:
		return "is new already", nil
	}
	return "is neither what it was nor what it was to be", nil
}
