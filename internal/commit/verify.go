package commit

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/parallel"
)

// verify compares the tree with the old states of the changes, and writes the states that it finds, with hashes and
// times, into the records. All conflicts are collected.
func (t *txn) verify(ctx context.Context) error {
	t.phase("verify")
	// An entry is compared with other entries, so no entry is changed before all have been compared.
	found := make([]change.State, len(t.entries))
	t.countTo(len(t.entries))
	err := parallel.Each(ctx, t.workers, len(t.entries), func(i int) error {
		e := t.entries[i]
		err := t.counted(t.verifyEntry(e, &found[i]))
		if c, ok := errors.AsType[*Conflict](err); ok {
			for _, p := range c.Paths {
				t.trouble.conflict(p.Path, p.Reason)
			}
			return nil
		}
		return t.fail(e.Path, err)
	})
	for i, e := range t.entries {
		if found[i].Kind != change.Absent {
			e.Old = found[i]
		}
	}
	t.noteSeen()
	if err == nil {
		err = t.verifyParents()
	}
	if err == nil {
		err = t.findMounted()
	}
	if err != nil || len(t.trouble.conflicts) == 0 {
		return err
	}
	return &Conflict{Paths: sortProblems(t.trouble.conflicts)}
}

// verifyEntry compares one path with its record and sets found to the present state if that has more details than the
// record.
func (t *txn) verifyEntry(e *entry, found *change.State) error {
	if t.wasBelowFile(e) {
		return nil // so nothing is there now, as expected
	}
	now, err := t.Look(e.Path)
	if err != nil {
		return err
	}
	if now.Kind != e.Old.Kind {
		if e.Old.Kind == change.Absent && t.isOtherSpelling(e, now) {
			return nil
		}
		return conflictAt(e.Path, "%s", kindReason(e.Old.Kind, now.Kind))
	}
	if now.Kind == change.Absent {
		return nil
	}
	mode := now.Mode
	if now.Kind == change.Dir {
		// New directories inherit this from the directory above.
		mode = mode&^fs.ModeSetgid | e.Old.Mode&fs.ModeSetgid
	}
	if now.Kind != change.Symlink && mode != e.Old.Mode {
		return conflictAt(e.Path, "permissions are %v now, were %v", now.Mode, e.Old.Mode)
	}
	switch now.Kind {
	case change.Symlink:
		if now.Target != e.Old.Target {
			return conflictAt(e.Path, "link leads to %q now, led to %q", now.Target, e.Old.Target)
		}
	case change.Dir:
		if e.leaves() {
			if err := t.verifyContents(e); err != nil {
				return err
			}
		}
	case change.File:
		if now.Hash, err = t.verifyBytes(e, now); err != nil {
			return err
		}
	case change.Other:
		return &fs.PathError{Op: "commit", Path: e.Path, Err: names.ErrNotRegular}
	}
	*found = now
	return nil
}

// wasBelowFile reports whether a directory above the path is still a file or link, as the plan expects.
func (t *txn) wasBelowFile(e *entry) bool {
	for i := range len(e.Path) {
		if e.Path[i] != '/' {
			continue
		}
		if above := t.byPath[e.Path[:i]]; above != nil && disk.IsLeaf(above.Old) {
			return e.Old.Kind == change.Absent
		}
	}
	return false
}

// kindReason describes the change of a path by the kinds before and after.
func kindReason(want, is change.Kind) string {
	switch {
	case is == want:
		return "content has changed"
	case is == change.Absent:
		return "has been removed"
	case want == change.Absent:
		return "has been created by another program"
	default:
		return "is a " + is.String() + " now, was a " + want.String()
	}
}

// verifyBytes returns the hash of the file. It reads the file unless everything that the system reports is unchanged.
func (t *txn) verifyBytes(e *entry, now change.State) (change.Hash, error) {
	old := &e.Old
	known := old.Hash != change.Hash{}
	if known && isAsItWas(now, *old) && now.ID.CTime != 0 && !t.opts.ReadSince.IsZero() &&
		!isRacy(old.ModTime, t.opts.ReadSince) {
		return old.Hash, nil
	}
	if known && now.Size != old.Size {
		return change.Hash{}, conflictAt(e.Path, "content has changed")
	}
	h, n, err := t.Hash(e.Path, now.Size)
	switch {
	case disk.IsAbsent(err) || errors.Is(err, names.ErrNotRegular):
		return h, conflictAt(e.Path, "has been removed or replaced")
	case err != nil:
		return h, err
	case n != now.Size, known && h != old.Hash:
		return h, conflictAt(e.Path, "content has changed")
	case !known && (now.Size != old.Size || !now.ModTime.Equal(old.ModTime)):
		return h, conflictAt(e.Path, "has been written to")
	}
	return h, nil
}

// isAsItWas reports whether the state of a file is unchanged.
func isAsItWas(now, old change.State) bool {
	return now.Kind == old.Kind && now.Size == old.Size && now.ModTime.Equal(old.ModTime) && now.ID.SameFile(old.ID) &&
		now.ID.CTime == old.ID.CTime
}

// verifyContents checks that everything in a directory that will be removed will be removed too.
func (t *txn) verifyContents(e *entry) error {
	names, err := t.Names(e.Path)
	var bad []change.Problem
	for _, name := range names {
		p := path.Join(e.Path, name)
		if known := t.byPath[p]; known == nil || known.Old.Kind == change.Absent {
			bad = append(bad, change.Problem{Path: p,
				Reason: "has been created by another program in a directory that is to be removed"})
		}
	}
	if len(bad) > 0 {
		return &Conflict{Paths: bad}
	}
	return err
}

// isOtherSpelling reports whether the entry at a path that should be free is an entry that the plan removes under a
// name that differs only in case, on a file system that ignores case.
func (t *txn) isOtherSpelling(e *entry, now change.State) bool {
	for _, o := range t.entries {
		if o != e && o.New.Kind == change.Absent && len(o.Path) == len(e.Path) && strings.EqualFold(o.Path, e.Path) {
			s, err := t.Look(o.Path)
			return err == nil && (s.ID.SameFile(now.ID) || now.ID.Ino == 0)
		}
	}
	return false
}

// verifyParents checks that each path is in directories, and that no symbolic link is on the way. Directories in the
// plan have been checked.
func (t *txn) verifyParents() error {
	known := make(map[string]string) // why nothing can be written below a directory, "" if it can
	rights := newRights(t)
	for _, e := range t.entries {
		at := path.Dir(e.Path)
		_, isKnown := known[at]
		if known[at] == "" {
			if err := rights.verify(e); err != nil {
				return t.fail(e.Path, err)
			}
			if isKnown {
				continue // so are the directories above
			}
		}
		for _, dir := range disk.Above(at) {
			if _, ok := known[dir]; !ok {
				reason, err := t.parentReason(dir)
				if err != nil {
					return t.fail(e.Path, err)
				}
				known[dir] = reason
			}
			if known[dir] != "" {
				t.trouble.conflict(e.Path, known[dir])
				break
			}
		}
	}
	return nil
}

// parentReason returns why nothing can be written in a directory, "" if it can.
func (t *txn) parentReason(dir string) (string, error) {
	if e := t.byPath[dir]; e != nil && (e.Old.Kind == change.Dir || e.New.Kind == change.Dir) {
		return "", nil
	}
	s, err := t.Look(dir)
	switch {
	case err != nil || s.Kind == change.Dir:
		return "", err
	case s.Kind == change.Absent:
		return "its directory " + dir + " has been removed", nil
	}
	return "its directory " + dir + " is a " + s.Kind.String() + " now", nil
}
