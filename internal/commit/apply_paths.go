package commit

import (
	"cmp"
	"errors"
	"io/fs"
	"path"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/modes"
)

// putIn puts the new file or link at its path.
func (t *txn) putIn(e *entry) error {
	if e.InPlace {
		return t.overwrite(e)
	}
	if err := t.bringNear(e); err != nil {
		return err
	}
	if disk.IsLeaf(e.Old) {
		return t.replace(e)
	}
	return t.place(t.slot(e), e.Path)
}

// bringNear copies the staged content of an entry on another mount to a file next to its path.
func (t *txn) bringNear(e *entry) error {
	if e.FarDir == "" {
		return nil
	}
	if e.New.Kind == change.Symlink {
		_, err := t.Symlink(t.slot(e), e.New)
		return err
	}
	if err := t.copyFile(e, t.staged(e), e.New); err != nil {
		return err
	}
	return t.FS.Rename(t.temp(e), t.slot(e))
}

// copyFile copies a file of the transaction to temp. s is the state of the file, or the state that it should have. A
// copy left by an earlier try is removed first.
func (t *txn) copyFile(e *entry, from string, s change.State) error {
	if err := t.Remove(t.temp(e)); err != nil {
		return err
	}
	f, err := t.OpenFound(from)
	if err != nil {
		return err
	}
	defer f.Close()
	made, err := t.Write(t.temp(e), f, disk.Wanted{Mode: s.Mode, ModTime: s.ModTime, Meta: from}, t.warner(e.Path))
	if err == nil && made.Hash != s.Hash {
		err = errDamaged
	}
	return err
}

var errDamaged = errors.New("a file of the transaction is damaged")

// goneAt returns the error of an operation on a path: a conflict if the path is gone.
func goneAt(path string, err error) error {
	if disk.IsAbsent(err) {
		return conflictAt(path, "has been removed")
	}
	return err
}

// flatten unwraps a joined error with only one part, so that its type can be checked.
func flatten(err error) error {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		if list := j.Unwrap(); len(list) == 1 {
			return list[0]
		}
	}
	return err
}

// expect returns a conflict about path if the file at name is not want.
func (t *txn) expect(name, path string, want change.State) error {
	s, err := t.Look(name)
	if err == nil {
		err = t.expectContent(name, path, s, want)
	}
	if err == nil {
		err = expectMeta(path, s, want)
	}
	return err
}

// expectContent is expect for the file at name in state s, without permissions and owner.
func (t *txn) expectContent(name, path string, s, want change.State) error {
	same, err := t.matches(name, s, want)
	if err == nil && !same {
		err = conflictAt(path, "%s", kindReason(want.Kind, s.Kind))
	}
	return err
}

// takeOut removes the entry at the path. The entry is moved to the transaction first and checked there.
func (t *txn) takeOut(e *entry) error {
	if err := t.expectUnchanged(e); err != nil {
		return err
	}
	out := t.out(e)
	if err := t.FS.Rename(e.Path, out); err != nil {
		if e.Old.Kind == change.Dir && !disk.IsAbsent(err) && disk.IsUnsupported(err) {
			return t.removeDir(e)
		}
		return goneAt(e.Path, err)
	}
	if shows, err := t.showsThrough(e); err != nil || shows {
		return cmp.Or(err, error(&fs.PathError{Op: "rename", Path: t.FS.Name() + ":" + e.Path,
			Err: capability.ErrShowsThrough}))
	}
	err := t.expect(out, e.Path, e.Old)
	if err == nil && e.Old.Kind == change.Dir {
		err = t.expectEmpty(out, e.Path)
	}
	if err != nil {
		err = errors.Join(err, t.place(out, e.Path))
	}
	return flatten(err)
}

// showsThrough reports whether an entry that appeared at the path after a removal comes from a lower layer, and not
// from another program: it cannot be removed, or removing it reveals another entry. File systems that can exchange, or
// rename without replacing, have no such layers.
func (t *txn) showsThrough(e *entry) (bool, error) {
	if t.Can.Exchange || t.Can.NoReplace {
		return false, nil
	}
	s, err := t.Look(e.Path)
	if err != nil || s.Kind == change.Absent {
		return false, err
	}
	aside := t.back(e)
	if s, err := t.Look(aside); err != nil || s.Kind != change.Absent {
		return false, err // a version of another program, which must not be lost
	}
	if err := t.FS.Rename(e.Path, aside); err != nil {
		return !disk.IsAbsent(err), nil
	}
	s, err = t.Look(e.Path)
	if err != nil {
		return false, errors.Join(err, t.place(aside, e.Path))
	}
	if s.Kind != change.Absent {
		return true, t.FS.Rename(aside, e.Path)
	}
	return false, t.place(aside, e.Path)
}

func (t *txn) expectEmpty(dir, path string) error {
	names, err := t.Names(dir)
	if err == nil && len(names) > 0 {
		err = conflictAt(path, "is not empty: another program has created %q in it", names[0])
	}
	return err
}

// removeDir removes a directory that cannot be renamed, such as a directory in the lower layer of an overlay. A copy of
// the directory takes its place among the removed files.
func (t *txn) removeDir(e *entry) error {
	if err := t.expect(e.Path, e.Path, e.Old); err != nil {
		return err
	}
	if err := t.expectEmpty(e.Path, e.Path); err != nil {
		return err
	}
	out := t.out(e)
	if err := t.FS.Mkdir(out, e.Old.Mode.Perm()|0o700); err != nil {
		return err
	}
	if err := t.CopyMeta(e.Path, out, t.warner(e.Path)); err != nil {
		return err
	}
	if err := t.SyncDir(out, path.Dir(out)); err != nil {
		return err
	}
	return t.FS.Remove(e.Path)
}

// openUp makes a directory writable if it is not and if the transaction changes its mode.
func (t *txn) openUp(e *entry) error {
	if e.Old.Mode&0o700 == 0o700 {
		return nil
	}
	if err := t.expect(e.Path, e.Path, e.Old); err != nil {
		return err
	}
	return t.FS.Chmod(e.Path, e.New.Mode|0o700)
}

func (t *txn) makeDir(e *entry) error {
	if err := t.BringUp(path.Dir(e.Path)); err != nil {
		return err
	}
	err := t.FS.Mkdir(e.Path, e.New.Mode.Perm()|0o700)
	if disk.IsExist(err) {
		t.notOurs[e] = true
		return conflictAt(e.Path, "has been created by another program")
	}
	e.allowed = modes.PermBits
	if err == nil && e.From == "" {
		e.allowed, err = t.Inherit(path.Dir(e.Path), e.Path)
		err = disk.Optional(err, t.warner(e.Path))
	}
	if err == nil && e.From != "" && t.byPath[e.From].Old.Kind == change.Dir {
		var s change.State
		if s, err = t.Look(e.From); err == nil && s.Kind == change.Dir { // else it was removed already to make room
			err = t.CopyMeta(e.From, e.Path, t.warner(e.Path))
		}
	}
	if err != nil {
		return err
	}
	s, err := t.Look(e.Path)
	e.made = s.Mode
	return err
}

// setAttr sets the mode and times at the path if they did not come with the file.
func (t *txn) setAttr(e *entry) error {
	if e.New.Kind != change.Dir && !e.Attr && !e.Moved {
		return nil
	}
	now, err := t.Look(e.Path)
	if err != nil {
		return err
	}
	want := e.New
	if e.Attr {
		want.ID, want.ModTime = e.Old.ID, e.Old.ModTime
	}
	if e.Moved {
		want.ModTime = t.source(e).Old.ModTime
	}
	if err := t.expectContent(e.Path, e.Path, now, want); err != nil {
		return err
	}
	if err := t.expectAttrs(e, now); err != nil {
		t.notOurs[e] = true
		return err
	}
	want.Mode, want.ModTime = e.New.Mode, e.New.ModTime
	if isNewDir(e) && e.From == "" {
		want.Mode = want.Mode&e.allowed | now.Mode&fs.ModeSetgid // the setgid bit and the group come from the directory above
	}
	return t.setMeta(e.Path, now, want, !isKeptDir(e))
}

// setMeta sets the mode and time of the file at the path, which is in state now, to the values of want.
func (t *txn) setMeta(name string, now, want change.State, timed bool) error {
	isLink := now.Kind == change.Symlink
	if !isLink && now.Mode != want.Mode {
		if err := t.FS.Chmod(name, want.Mode); err != nil {
			return err
		}
	}
	switch {
	case !timed || want.ModTime.IsZero() || now.ModTime.Equal(want.ModTime):
		return nil
	case isLink:
		return t.LinkTime(name, want.ModTime)
	}
	return t.FS.Chtimes(name, want.ModTime, want.ModTime)
}
