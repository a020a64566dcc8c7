package commit

import (
	"context"
	"errors"
	"path"
	"time"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/panics"
)

const reasonWritten = "has been written by another program"

// undo returns the tree to its state before the transaction, whatever part of it was applied, and removes the
// transaction. It can be interrupted and repeated. If it fails at a path, it still continues with all others:
//
//   - A file that another program has written since is left as it is. If the transaction had put a file there before,
//     that is a conflict, and the before-images are kept in a directory for conflicts.
//   - If an operation fails, the transaction stays to be undone later, and the error reports it.
func (t *txn) undo() error {
	t.phase("rollback")
	u := &undoing{txn: t, made: make(map[*entry]bool), moves: t.moves()}
	if t.isLost() {
		return panics.Protect(u.verifyLost)
	}
	if err := panics.Protect(t.makeSlots); err != nil {
		u.errs = append(u.errs, t.fail(t.dir, err))
	}
	for _, pass := range []struct {
		list []*entry
		do   func(e *entry) error
	}{
		{t.shallowFirst(func(e *entry) bool { return e.Old.Kind == change.Dir || e.New.Kind == change.Dir }), u.openUp},
		{t.entries, u.returnForeign},
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
	if len(u.errs) > 0 {
		if t.isLost() {
			return panics.Protect(u.verifyLost)
		}
		return t.pending(flatten(errors.Join(u.errs...)))
	}
	err := panics.Protect(u.leave)
	if _, ok := errors.AsType[*RollbackConflict](err); ok {
		return err
	}
	return t.pending(err)
}

// pending returns a PendingError with the error, nil for nil.
func (t *txn) pending(err error) error {
	if err == nil {
		return nil
	}
	return &PendingError{ID: path.Base(t.dir), Dir: t.dir, Err: err}
}

// undoing is the state of one undo.
type undoing struct {
	*txn
	errs  []error
	found []change.Problem  // conflicts
	made  map[*entry]bool   // directories made by this undo
	moves map[string]*entry // moved files, by their old path
}

func (u *undoing) conflict(e *entry, reason string) {
	u.found = append(u.found, change.Problem{Path: e.Path, Reason: reason})
}

// leave removes the transaction, or moves it to the conflicts, where the user finds the files that could not be
// restored.
func (u *undoing) leave() error {
	if len(u.found) == 0 {
		if err := u.dropFar(); err != nil {
			return err
		}
		return u.forget()
	}
	if err := u.state.ensureConflicts(); err != nil {
		return err
	}
	to := u.state.join(journal.ConflictsDir, u.plan.ID)
	if err := u.FS.Rename(u.dir, to); err != nil {
		return err
	}
	if err := u.SyncDir(path.Dir(to), path.Dir(u.dir)); err != nil {
		return err
	}
	return &RollbackConflict{ID: u.plan.ID, Paths: sortProblems(u.found), Dir: to}
}

// openUp makes a directory writable if the transaction changes its mode.
func (u *undoing) openUp(e *entry) error {
	s, err := u.Reach(e.Path)
	if err != nil || s.Kind != change.Dir || s.Mode&0o700 == 0o700 {
		return err
	}
	return u.FS.Chmod(e.Path, s.Mode|0o700)
}

// at returns the state of the path. ok is false if the path cannot be reached through real directories, which is a
// conflict if the transaction had changed the path.
func (u *undoing) at(e *entry) (s change.State, ok bool, err error) {
	dir, kind, err := u.Blocked(e.Path)
	if err != nil {
		return s, false, err
	}
	if dir != "" {
		if u.hasTouched(e) {
			u.conflict(e, "its directory "+dir+" "+kindReason(change.Dir, kind))
		}
		return s, false, nil
	}
	s, err = u.Look(e.Path)
	return s, err == nil, err
}

// isOld reports whether name, in state s, is the file that was at the path before: the inode itself, even if another
// program has written to it, or a copy made by an earlier undo.
func (u *undoing) isOld(e *entry, name string, s change.State) (bool, error) {
	if !disk.IsLeaf(e.Old) || s.Kind != e.Old.Kind {
		return false, nil
	}
	if s.ID.SameFile(e.Old.ID) && !e.InPlace {
		return true, nil
	}
	if e.Image == journal.Linked {
		return false, nil
	}
	want := e.Old
	want.ID = capability.Identity{}
	return u.matches(name, s, want)
}

// isNew reports whether name, in state s, is the file that the transaction put, or would have put, at the path. A moved
// file only needs to have the inode; its bytes are safe in the image of its old path.
func (u *undoing) isNew(e *entry, name string, s change.State) (bool, error) {
	if !e.isNewFile() || s.Kind != e.New.Kind {
		return false, nil
	}
	if e.Moved && s.ID.Ino != 0 && e.New.ID.Ino != 0 {
		return s.ID.SameFile(e.New.ID), nil
	}
	return u.matches(name, s, e.New)
}

// isOurs reports whether the file is the old or the new file of the entry.
func (u *undoing) isOurs(e *entry, name string, s change.State) (bool, error) {
	is, err := u.isOld(e, name, s)
	if err != nil || is {
		return is, err
	}
	return u.isNew(e, name, s)
}

// hasTouched reports whether the transaction had changed the path before another program did. If an error prevents the
// check, it returns true.
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
		return false // it was not brought near, or the path is not another program's
	}
	untouched, err := u.isNew(e, slot, s)
	return err != nil || !untouched
}

// noteWritten records a conflict if another program has written to the old file after it was taken out of the tree.
// Those bytes are restored, because they are the newest.
func (u *undoing) noteWritten(e *entry, s change.State) {
	to := u.moves[e.Path] // at the new path the transaction may have set another time
	timed := isSet(s.ModTime, e.Old.ModTime) || to != nil && isSet(s.ModTime, to.New.ModTime)
	if s.Kind == change.File && !(timed && s.Size == e.Old.Size) {
		u.conflict(e, "another program wrote to it; restored with the new content")
	}
}

// isSet reports whether a file whose time was set to given may have the time is: some file systems keep whole seconds
// only, or every other second.
func isSet(is, given time.Time) bool {
	return is.Equal(given) || is.Equal(given.Truncate(time.Second)) || is.Equal(given.Truncate(2*time.Second))
}

// restoreAttr restores mode and time of files and directories that the transaction changed.
func (u *undoing) restoreAttr(e *entry) error {
	s, err := u.Reach(e.Path)
	if err != nil || s.Kind != e.Old.Kind || u.notOurs[e] {
		return err
	}
	want, to := e.Old, e.New
	switch moved := u.moves[e.Path]; {
	case e.Old.Kind == change.Dir:
		timed := e.New.Kind != change.Dir && u.Owns(s.ID) // a directory of another user keeps the time of this change
		if u.made[e] || e.New.Kind != change.Dir || s.Mode == e.New.Mode || s.Mode == e.New.Mode|0o700 ||
			s.Mode == e.Old.Mode|0o700 {
			return u.setMeta(e.Path, s, want, timed)
		}
		return nil
	case e.Attr:
	case moved != nil:
		to = moved.New
	case s.Kind == change.Symlink:
		to = s // a file that was made anew has lost its time if the power failed then
	default:
		return nil
	}
	is, err := u.isOld(e, e.Path, s)
	if err != nil || !is {
		return err
	}
	if s.Mode != to.Mode {
		want.Mode = s.Mode // another program has changed it
	}
	return u.setMeta(e.Path, s, want, s.ModTime.Equal(to.ModTime))
}
