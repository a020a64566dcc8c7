package commit

import (
	"errors"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
)

// A mount may refuse for two names an operation that worked for two others, such as two names in the same directory. So
// each of these functions tries the next way when the mount refuses, in a commit, in undoing and in recovery.

// replace exchanges the file at the path for the new file, checks the old file, and puts it back if it is not the
// verified file. Without exchange it checks first.
func (t *txn) replace(e *entry) error {
	if err := t.expectUnchanged(e); err != nil {
		return err
	}
	slot := t.slot(e)
	exchanged, err := t.exchange(slot, e.Path)
	switch {
	case err != nil:
		return goneAt(e.Path, err)
	case !exchanged:
		if err := t.expect(e.Path, e.Path, e.Old); err != nil {
			return err
		}
		return t.MoveIn(slot, e.Path)
	}
	err = t.expect(slot, e.Path, e.Old)
	if err != nil {
		err = errors.Join(err, t.Exchange(slot, e.Path))
	}
	return flatten(err)
}

// exchange exchanges two names, and reports whether it did: the mount may not be able to.
func (t *txn) exchange(a, b string) (bool, error) {
	if !t.Can.Exchange {
		return false, nil
	}
	err := t.Exchange(a, b)
	if err != nil && !disk.IsAbsent(err) && disk.IsUnsupported(err) {
		return false, nil
	}
	return err == nil, err
}

// place moves a file of the transaction to a free name in the tree, and returns a conflict if the name is not free.
func (t *txn) place(from, to string) error {
	done, err := t.placeNew(from, to)
	switch {
	case disk.IsExist(err):
		return conflictAt(to, "has been created by another program")
	case err != nil || done:
		return err
	}
	s, err := t.Look(to)
	if err != nil {
		return err
	}
	if s.Kind != change.Absent {
		return conflictAt(to, "has been created by another program")
	}
	return t.MoveIn(from, to)
}

// placeNew is place in a single step that never replaces a file of another program. It reports whether the mount is
// able to do that. The error matches fs.ErrExist if the name is not free.
func (t *txn) placeNew(from, to string) (bool, error) {
	if t.Can.NoReplace {
		if err := t.RenameNoReplace(from, to); err == nil || !disk.IsUnsupported(err) {
			return err == nil, err
		}
	}
	if t.Can.Link {
		if err := t.Link(from, to); err == nil {
			// The slot shows whether its file has reached the path, so the file must not be in both.
			return true, t.FS.Remove(from)
		} else if !disk.IsUnsupported(err) {
			return false, err
		}
	}
	return false, nil
}
