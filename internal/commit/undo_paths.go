package commit

import (
	"errors"
	"fmt"
	"path"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/journal"
)

// returnForeign puts back a file of another program that an exchange or a rename took out of the tree and that is still
// in a slot because the process died. It also removes unfinished copies.
func (u *undoing) returnForeign(e *entry) error {
	if err := u.Remove(u.temp(e)); err != nil {
		return err
	}
	for _, slot := range []string{u.slot(e), u.out(e), u.back(e)} {
		s, err := u.Look(slot)
		if err != nil {
			return err
		}
		if s.Kind == change.Absent {
			continue
		}
		ours, err := u.holdsOurs(e, slot, s)
		if err != nil {
			return err
		}
		switch {
		case !ours:
			err = u.giveBack(e, slot)
		case slot == u.back(e):
			err = u.RemoveTree(slot)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// holdsOurs reports whether the entry in a slot, in state s, is from the transaction: a file of the entry, or a
// directory in which no other program has written. After a power cut, files that the transaction had taken out of that
// directory may be in it again.
func (u *undoing) holdsOurs(e *entry, name string, s change.State) (bool, error) {
	if s.Kind != change.Dir {
		return u.isOurs(e, name, s)
	}
	names, err := u.Names(name)
	if err != nil {
		return false, err
	}
	for _, n := range names {
		inside := u.byPath[path.Join(e.Path, n)]
		if inside == nil {
			return false, nil
		}
		at := path.Join(name, n)
		s, err := u.Look(at)
		if err != nil {
			return false, err
		}
		if ours, err := u.holdsOurs(inside, at, s); err != nil || !ours {
			return false, err
		}
	}
	return true, nil
}

// giveBack moves a file of another program from a slot back to the path.
func (u *undoing) giveBack(e *entry, slot string) error {
	s, ok, err := u.at(e)
	if err != nil || !ok {
		return err
	}
	if s.Kind == change.Absent {
		if err = u.place(slot, e.Path); err == nil {
			u.conflict(e, reasonWritten)
		}
		return err
	}
	ours, err := u.isOurs(e, e.Path, s)
	if err != nil {
		return err
	}
	if !ours {
		u.conflict(e, "has been written by other programs, more than once: another version is "+slot)
		return nil
	}
	exchanged, err := u.exchange(slot, e.Path)
	if err == nil && !exchanged {
		err = u.FS.Rename(slot, e.Path)
	}
	if err == nil {
		u.conflict(e, reasonWritten)
	}
	return err
}

// removeNew removes files that the transaction made at a path without a file before, and directories that it made.
func (u *undoing) removeNew(e *entry) error {
	dir, kind, err := u.Blocked(e.Path)
	if err != nil || kind == change.Absent || u.byPath[dir] != nil {
		return err // nothing is there, or another entry handles the path of its directory
	}
	s, ok, err := u.at(e)
	if err != nil || !ok || s.Kind == change.Absent {
		return err
	}
	if e.New.Kind == change.Dir {
		if s.Kind != change.Dir || u.notOurs[e] {
			return nil // restore handles it
		}
		return u.takeBack(e)
	}
	if s.Kind == change.Dir && e.Old.Kind == change.Dir {
		return nil
	}
	is, err := u.isNew(e, e.Path, s)
	if err != nil {
		return err
	}
	if !is {
		if u.hasTouched(e) {
			u.conflict(e, reasonWritten)
		}
		return nil
	}
	return u.takeBack(e)
}

// takeBack takes the entry at the path out of the tree, and puts it back if the transaction did not make it.
func (u *undoing) takeBack(e *entry) error {
	back := u.back(e)
	if err := u.FS.Rename(e.Path, back); err != nil {
		if disk.IsAbsent(err) {
			return nil
		}
		if e.New.Kind == change.Dir && disk.IsUnsupported(err) {
			return u.removeInPlace(e)
		}
		return err
	}
	s, err := u.Look(back)
	if err != nil {
		return errors.Join(err, u.place(back, e.Path))
	}
	reason, err := u.whyKept(e, back, s)
	if reason == "" && err == nil {
		return u.RemoveTree(back)
	}
	if reason != "" {
		u.conflict(e, reason)
	}
	return flatten(errors.Join(err, u.place(back, e.Path)))
}

// whyKept returns the reason why the entry at name, in state s, must not be removed as an entry that the transaction
// made at the path, "" if it may be removed.
func (u *undoing) whyKept(e *entry, name string, s change.State) (string, error) {
	switch {
	case e.New.Kind != change.Dir:
		is, err := u.isNew(e, name, s)
		if err == nil && !is {
			return reasonWritten, nil
		}
		return "", err
	case s.Kind != change.Dir:
		return kindReason(change.Dir, s.Kind), nil
	}
	names, err := u.Names(name)
	if err == nil && len(names) > 0 {
		return "is not empty: another program has written in it", nil
	}
	return "", err
}

// removeInPlace removes a directory that cannot be renamed.
func (u *undoing) removeInPlace(e *entry) error {
	reason, err := u.whyKept(e, e.Path, e.New)
	if err != nil {
		return err
	}
	if reason != "" {
		u.conflict(e, reason)
		return nil
	}
	return u.Remove(e.Path)
}

// restoreDir puts a removed directory back: the directory itself if it still exists, otherwise a similar directory.
func (u *undoing) restoreDir(e *entry) error {
	s, ok, err := u.at(e)
	if err != nil || !ok || s.Kind == change.Dir {
		return err
	}
	if s.Kind != change.Absent {
		// If that was a new file, removeNew has reported it; otherwise another program has made it.
		if e.New.Kind == change.Absent {
			u.conflict(e, kindReason(change.Dir, s.Kind))
		}
		return nil
	}
	out := u.out(e)
	o, err := u.Look(out)
	if err != nil {
		return err
	}
	if o.Kind == change.Dir {
		if err := u.place(out, e.Path); err == nil || !disk.IsUnsupported(err) {
			return err
		}
	}
	u.made[e] = true
	if err := u.FS.Mkdir(e.Path, e.Old.Mode.Perm()|0o700); err != nil || o.Kind != change.Dir {
		return err
	}
	return u.CopyMeta(out, e.Path, u.warner(e.Path)) // a similar directory, from another mount
}

// restore puts back the file or link that was at the path before.
func (u *undoing) restore(e *entry) error {
	if e.InPlace {
		return u.writeBack(e)
	}
	s, ok, err := u.at(e)
	if err != nil || !ok {
		return err
	}
	if s.Kind == change.Absent {
		// A file is never absent during an exchange. It may be absent during a rename over it, if renaming is two steps.
		if disk.IsLeaf(e.New) && u.Can.Exchange {
			if u.hasTouched(e) {
				u.conflict(e, "has been removed by another program")
			}
			return nil
		}
	} else if replaceable, err := u.isReplaceable(e, s); err != nil || !replaceable {
		return err
	}
	from, err := u.bring(e)
	switch {
	case err != nil || from == "":
		return err
	case s.Kind == change.Absent:
		return u.place(from, e.Path)
	}
	if err := u.swap(e, from, &s); err != nil {
		return err
	}
	return u.keepMeta(e, s)
}

// isReplaceable reports whether the file at the path, in state s, must be replaced by the old file: it is the new file,
// or a file of a lower layer that shows through.
func (u *undoing) isReplaceable(e *entry, s change.State) (bool, error) {
	is, err := u.isOld(e, e.Path, s)
	if err != nil || is {
		return false, err
	}
	if is, err = u.isNew(e, e.Path, s); err == nil && !is && u.hasTouched(e) {
		if is, err = u.showsThrough(e); err == nil && !is {
			u.conflict(e, reasonWritten)
		}
	}
	return is, err
}

// swap puts the file in a slot in the place of the new file. If the replaced file was not the new file, swap reverses
// that. It sets taken to the state of the new file when it was removed.
func (u *undoing) swap(e *entry, from string, taken *change.State) error {
	exchanged, err := u.exchange(from, e.Path)
	switch {
	case err != nil:
		return err
	case !exchanged:
		return u.FS.Rename(from, e.Path)
	}
	s, err := u.Look(from)
	if err != nil {
		return err
	}
	is, err := u.isNew(e, from, s)
	if err != nil || !is {
		if err == nil {
			u.conflict(e, reasonWritten)
		}
		return flatten(errors.Join(err, u.Exchange(from, e.Path)))
	}
	*taken = s
	if from == u.back(e) {
		return u.Remove(from)
	}
	return nil
}

// bring prepares the file that was at the path and returns its name: the inode itself if it can be found, otherwise a
// copy. If the before-image is damaged, that is a conflict and the name is "".
func (u *undoing) bring(e *entry) (from string, err error) {
	back := u.back(e)
	var full error
	if e.Image == journal.Linked {
		s, err := u.Look(u.image(e))
		if err != nil {
			return "", err
		}
		if u.Can.Link && s.ID.SameFile(e.Old.ID) {
			u.noteWritten(e, s)
			// Another name may need space, which a full disk does not have.
			if full = u.Link(u.image(e), back); full == nil {
				return back, nil
			}
		}
	}
	for _, slot := range []string{u.slot(e), u.out(e)} {
		switch s, err := u.Look(slot); {
		case err != nil:
			return "", err
		case s.ID.SameFile(e.Old.ID):
			u.noteWritten(e, s)
			return slot, nil
		}
	}
	switch {
	case full != nil:
		return "", full
	case e.Old.Kind == change.Symlink:
		_, err = u.Symlink(back, e.Old)
		return back, err
	}
	err = u.copyFile(e, u.image(e), e.Old)
	if errors.Is(err, errDamaged) || disk.IsAbsent(err) {
		u.conflict(e, fmt.Sprintf("cannot be restored: its before-image %s is damaged", u.image(e)))
		return "", u.Remove(u.temp(e))
	}
	if err == nil {
		err = u.FS.Rename(u.temp(e), back)
	}
	return back, err
}
