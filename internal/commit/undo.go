package commit

import (
	"context"
	"errors"
	"path"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/panics"
)

// undo makes the tree what it was before the transaction, whatever part of it was carried out, and removes the
// transaction. It can be interrupted and repeated. It goes on over all paths whatever happens at one of them:
//
//   - What somebody else has written since is left as it is. If something of the transaction had been there before,
//     that makes a conflict, and the before-images are kept in a directory for conflicts.
//   - If an operation fails, the transaction stays as it is to be undone later, and the error tells.
func (t *txn) undo() error {
	t.phase("rollback")
	u := &undoing{txn: t, made: make(map[*entry]bool), moves: t.moves()}
	if t.isLost() {
		return panics.Protect(u.judgeLost)
	}
	if err := panics.Protect(t.makeSlots); err != nil {
		u.errs = append(u.errs, t.fail(t.dir, err))
	}
	for _, pass := range []struct {
		list []*entry
		do   func(e *entry) error
	}{
		{t.shallowFirst(func(e *entry) bool { return e.Old.Kind == change.Dir || e.New.Kind == change.Dir }), u.openUp},
		{t.entries, u.settle},
		{t.deepestFirst(func(e *entry) bool { return e.New.Kind != change.Absent && !disk.IsLeaf(e.Old) && !isKeptDir(e) }), u.removeNew},
		{t.deepestFirst(func(e *entry) bool { return disk.IsLeaf(e.Old) && e.New.Kind == change.Dir }), u.removeNew},
		{t.shallowFirst(func(e *entry) bool { return e.Old.Kind == change.Dir && e.New.Kind != change.Dir }), u.restoreDir},
		{t.shallowFirst(func(e *entry) bool { return disk.IsLeaf(e.Old) && !e.Attr }), u.restore},
		{t.deepestFirst(func(e *entry) bool { return e.Old.Kind != change.Absent }), u.restoreAttr},
	} {
		for _, e := range pass.list {
			if err := panics.Protect(func() error { return pass.do(e) }); err != nil {
				u.errs = append(u.errs, t.fail(e.Path, err))
			}
		}
	}
	if err := panics.Protect(func() error { return t.syncAll(context.Background()) }); err != nil {
		u.errs = append(u.errs, err)
	}
	if len(u.errs) > 0 && t.isLost() {
		return panics.Protect(u.judgeLost)
	}
	if len(u.errs) > 0 {
		return &PendingError{ID: t.plan.ID, Dir: t.dir, Err: flatten(errors.Join(u.errs...))}
	}
	err := panics.Protect(u.leave)
	if _, ok := errors.AsType[*panics.Error](err); ok {
		err = &PendingError{ID: t.plan.ID, Dir: t.dir, Err: err}
	}
	return err
}

// undoing is the state of one undo.
type undoing struct {
	*txn
	errs  []error
	found []change.Problem  // conflicts
	made  map[*entry]bool   // directories made by this undo
	moves map[string]*entry // what was moved, by where it was
}

func (u *undoing) conflict(e *entry, reason string) {
	u.found = append(u.found, change.Problem{Path: e.Path, Reason: reason})
}

// leave removes the transaction, or puts it away where the user finds what could not be restored.
func (u *undoing) leave() error {
	pending := func(err error) error {
		if err == nil {
			return nil
		}
		return &PendingError{ID: u.plan.ID, Dir: u.dir, Err: err}
	}
	if len(u.found) == 0 {
		if err := u.dropFar(); err != nil {
			return pending(err)
		}
		return pending(u.forget())
	}
	if err := errors.Join(u.state.clear(journal.ConflictsDir), u.state.keep(journal.ConflictsDir)); err != nil {
		return pending(err)
	}
	to := u.state.join(journal.ConflictsDir, u.plan.ID)
	if err := u.FS.Rename(u.dir, to); err != nil {
		return pending(err)
	}
	for _, dir := range []string{path.Dir(to), path.Dir(u.dir)} {
		if err := u.SyncDir(dir); err != nil {
			return pending(err)
		}
	}
	return &RollbackConflict{ID: u.plan.ID, Paths: sortProblems(u.found), Dir: to}
}

// openUp lets things be written in a directory whose mode the transaction changes.
func (u *undoing) openUp(e *entry) error {
	s, err := disk.Reach(u, e.Path)
	if err != nil || s.Kind != change.Dir || s.Mode&0o700 == 0o700 {
		return err
	}
	return u.FS.Chmod(e.Path, s.Mode|0o700)
}

// canReach reports whether the path can be got at through real directories, and makes a conflict of it if not.
func (u *undoing) canReach(e *entry) (bool, error) {
	dir, kind, err := disk.Blocked(u, e.Path)
	if err != nil || dir == "" {
		return err == nil, err
	}
	if u.hasTouched(e) {
		u.conflict(e, "its directory "+dir+" "+kindReason(change.Dir, kind))
	}
	return false, nil
}

// The questions about what stands somewhere.

// isOld reports whether name, in state s, is the file that was at the path before: the inode itself, even if somebody
// has written in it, or a copy made by an undoing before this.
func (u *undoing) isOld(e *entry, name string, s change.State) (bool, error) {
	if !disk.IsLeaf(e.Old) || s.Kind != e.Old.Kind {
		return false, nil
	}
	if s.ID.SameFile(e.Old.ID) {
		return true, nil
	}
	if e.Image == journal.Linked {
		return false, nil
	}
	want := e.Old
	want.ID = capability.Identity{}
	return u.matches(name, s, want)
}

// isNew reports whether name, in state s, is the file that the transaction put, or was to put, at the path. One that
// was moved there is that as long as it is the inode; its bytes are safe in the image of where it came from.
func (u *undoing) isNew(e *entry, name string, s change.State) (bool, error) {
	if !e.isNewFile() || s.Kind != e.New.Kind {
		return false, nil
	}
	if e.Moved && s.ID.Ino != 0 && e.New.ID.Ino != 0 {
		return s.ID.SameFile(e.New.ID), nil
	}
	return u.matches(name, s, e.New)
}

// isOurs reports whether the file is one of the two.
func (u *undoing) isOurs(e *entry, name string, s change.State) (bool, error) {
	is, err := u.isOld(e, name, s)
	if err != nil || is {
		return is, err
	}
	return u.isNew(e, name, s)
}

// hasTouched reports whether the transaction had changed the path before somebody else did. When that cannot be told
// for an error, it is supposed.
func (u *undoing) hasTouched(e *entry) bool {
	if e.leaves() {
		if s, err := u.Look(u.out(e)); err != nil || s.Kind != change.Absent {
			return true
		}
	}
	if !e.isNewFile() {
		return false
	}
	slot := u.slot(e)
	s, err := u.Look(slot)
	if err != nil {
		return true
	}
	if e.FarDir != "" && s.Kind == change.Absent {
		return false // it was not brought near, or the path is not somebody else's
	}
	untouched, err := u.isNew(e, slot, s)
	return err != nil || !untouched
}
