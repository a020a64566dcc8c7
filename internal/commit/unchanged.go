package commit

import (
	"io/fs"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
)

// noteSeen records the change times of all files that the transaction does not touch before it replaces them: each
// write to a file and each change of its permissions, its owner or an attribute changes that time. So does another
// name, so the time is useless for a file that is moved, or that the plan has under two names.
func (t *txn) noteSeen() {
	type inode struct{ dev, ino uint64 }
	names := make(map[inode]int)
	moved := make(map[string]bool)
	for _, e := range t.entries {
		names[inode{e.Old.ID.Dev, e.Old.ID.Ino}]++
		moved[e.From] = moved[e.From] || e.Moved
	}
	for _, e := range t.entries {
		if e.Old.Kind != change.File || e.Old.ID.Ino == 0 {
			continue
		}
		if e.twin = names[inode{e.Old.ID.Dev, e.Old.ID.Ino}] > 1; !e.twin && !moved[e.Path] {
			e.seen = e.Old.ID.CTime
		}
	}
}

// forgetSeen clears the change times, for a mount that reports them late.
func (t *txn) forgetSeen() {
	for _, e := range t.entries {
		e.seen = 0
	}
}

// expectUnchanged returns a conflict if the file at the path was changed in any way since it was last checked. Another
// file at the path is noticed when it is taken out.
func (t *txn) expectUnchanged(e *entry) error {
	if e.seen == 0 {
		return nil
	}
	now, err := t.Look(e.Path)
	if err != nil || !now.ID.SameFile(e.Old.ID) {
		return err
	}
	return e.expectSeen(now)
}

// expectSeen is expectUnchanged for the state of the file.
func (e *entry) expectSeen(now change.State) error {
	if e.seen == 0 || now.ID.CTime == e.seen {
		return nil
	}
	if now.Kind != e.Old.Kind || now.Size != e.Old.Size || !now.ModTime.Equal(e.Old.ModTime) {
		return conflictAt(e.Path, "%s", kindReason(e.Old.Kind, now.Kind))
	}
	if err := expectMeta(e.Path, now, e.Old); err != nil {
		return err
	}
	return conflictAt(e.Path, "its attributes, its names or its content have been changed")
}

// expectMeta returns a conflict about path if permissions or owner have changed.
func expectMeta(path string, now, was change.State) error {
	if now.Kind != change.Symlink && now.Mode != was.Mode {
		return conflictAt(path, "permissions are %v now, were %v", now.Mode, was.Mode)
	}
	if now.ID.Ino != 0 && was.ID.Ino != 0 && (now.ID.UID != was.ID.UID || now.ID.GID != was.ID.GID) {
		return conflictAt(path, "owner and group are %d:%d now, were %d:%d", now.ID.UID, now.ID.GID, was.ID.UID,
			was.ID.GID)
	}
	return nil
}

// expectAttrs returns a conflict if another program has changed permissions or owner of the entry at the path, in state
// now, and the transaction is about to set its mode and times there.
func (t *txn) expectAttrs(e *entry, now change.State) error {
	was := e.Old
	switch {
	case isNewDir(e):
		was.ID, was.Mode = now.ID, e.made
	case isKeptDir(e):
		if e.Old.Mode&0o700 != 0o700 {
			was.Mode = e.New.Mode | 0o700 // see openUp
		}
	case e.Moved:
		was = t.source(e).Old
	}
	if e.twin || e.Moved && t.source(e).twin {
		return nil // its mode may already be the mode of the other name
	}
	if err := expectMeta(e.Path, now, was); err != nil || !e.Attr {
		return err
	}
	return e.expectSeen(now)
}

// keepMeta sets the permissions and the owner of the restored file to values that another program has given the new
// file. taken is the state of the new file when it was removed.
func (u *undoing) keepMeta(e *entry, taken change.State) error {
	if taken.Kind != change.File || e.New.Kind != change.File || e.Moved || e.FarDir != "" ||
		expectMeta(e.Path, taken, e.New) == nil {
		return nil
	}
	s, err := u.Reach(e.Path)
	if err != nil || s.Kind != change.File {
		return err
	}
	if is, err := u.isOld(e, e.Path, s); err != nil || !is {
		return err
	}
	u.conflict(e, "another program changed its permissions or owner; restored with those")
	mode := taken.Mode
	if taken.ID.Ino != 0 && (s.ID.UID != taken.ID.UID || s.ID.GID != taken.ID.GID) {
		mode &^= fs.ModeSetuid | fs.ModeSetgid // these bits grant the rights of another owner
		if err := disk.Optional(u.FS.Chown(e.Path, int(taken.ID.UID), int(taken.ID.GID)),
			u.warner(e.Path)); err != nil {
			return err
		}
	}
	return u.FS.Chmod(e.Path, mode)
}
