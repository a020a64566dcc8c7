package commit

import (
	"path"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/journal"
)

// isLost reports whether somebody else has removed the directory of the transaction, as "git clean -fdx" does. Then
// nothing of it can be undone. If that cannot be found out it is taken to be there, with a warning: what is done then
// finds out.
func (t *txn) isLost() bool {
	s, err := t.Look(t.dir)
	if err != nil {
		t.trouble.warn(t.dir, "not known to be there: "+err.Error())
	}
	return err == nil && s.Kind == change.Absent
}

// lostPlan reports whether nothing is left that says what the transaction is, so that no Recover will undo it.
func (t *txn) lostPlan() bool {
	for _, name := range []string{journal.PlanFile, journal.DoneFile} {
		if s, err := t.Look(path.Join(t.dir, name)); err != nil || s.Kind != change.Absent {
			return false
		}
	}
	return true
}

// commitLost ends a transaction that was removed after all of it had been applied and made durable. The tree is what
// it was to be, and stays so: the plan is gone, and is made to stay gone, also by a power cut.
func (t *txn) commitLost() error {
	dirs := append(disk.Above(t.dir), t.dir)
	for i := len(dirs) - 1; i >= 0; i-- {
		if s, err := t.Look(dirs[i]); err != nil || s.Kind == change.Dir {
			if err == nil {
				err = t.SyncDir(dirs[i])
			}
			return err
		}
	}
	return t.SyncDir(".")
}

// judgeLost says what the tree is after a transaction was removed before all of it had been applied: nil if that is
// what was there before, else a *RollbackConflict with every path that is not. Nothing more is touched, for what
// would be needed to make the rest old, or new, is gone.
func (u *undoing) judgeLost() error {
	for _, e := range u.entries {
		reason, err := u.leftAs(e)
		if err != nil {
			return &PendingError{ID: u.plan.ID, Dir: u.dir, Err: u.fail(e.Path, err)}
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

// leftAs says what the path is if that is not what was there before.
func (u *undoing) leftAs(e *entry) (string, error) {
	s, err := disk.Reach(u, e.Path)
	if err != nil {
		return "", err
	}
	if s.Kind == e.Old.Kind {
		is := !disk.IsLeaf(e.Old)
		if !is {
			if is, err = u.isOld(e, e.Path, s); err != nil {
				return "", err
			}
		}
		switch {
		case is && s.Mode == e.Old.Mode, is && e.New.Kind != s.Kind, is && s.Mode != e.New.Mode:
			return "", nil
		case is:
			return "has its new permissions", nil
		}
	}
	is := s.Kind == e.New.Kind
	if is && disk.IsLeaf(e.New) {
		if is, err = u.isNew(e, e.Path, s); err != nil {
			return "", err
		}
	}
	switch {
	case is && s.Kind == change.Absent:
		return "is gone", nil
	case is:
		return "is new already", nil
	}
	return "is neither what it was nor what it was to be", nil
}
