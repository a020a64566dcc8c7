package stage

import (
	"cmp"
	"errors"
	"io/fs"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// Remove removes a file, a link, or an empty directory.
func (s *Stage) Remove(name string) error {
	return names.PathError("remove", name, s.remove(name, removal{}))
}

// Discard is Remove, but the file is not kept in the trash.
func (s *Stage) Discard(name string) error {
	return names.PathError("remove", name, s.remove(name, removal{permanent: true}))
}

// Replace is Remove for an entry that the caller then replaces by another entry.
func (s *Stage) Replace(name string) error {
	return names.PathError("remove", name, s.remove(name, removal{replaced: true}))
}

func (s *Stage) remove(name string, how removal) error {
	return s.modify(name, false, func(p place) error {
		switch kind := p.ent.kind(); {
		case kind == change.Absent:
			return fs.ErrNotExist
		case p.path == ".":
			return fs.ErrInvalid
		case p.asDir && kind != change.Dir:
			return names.ErrNotDir
		}
		err := s.checkTree(p)
		// The entries of a directory may be hidden from this process: that the directory is not empty is reason enough to
		// refuse.
		if err == nil || errors.Is(err, fs.ErrPermission) {
			err = cmp.Or(s.checkEmpty(p.ent), err)
		}
		if err != nil {
			return err
		}
		s.clear(p, how)
		return nil
	})
}

// RemoveAll removes the entry at the name with everything in it, completely or not at all.
func (s *Stage) RemoveAll(name string) error {
	found := false
	err := s.modify(name, false, func(p place) error {
		found = p.ent.kind() != change.Absent
		switch {
		case !found:
			return nil
		case p.path == ".":
			return fs.ErrInvalid
		}
		if err := s.checkTree(p); err != nil {
			return err
		}
		s.clear(p, removal{})
		return nil
	})
	if !found && s.err == nil && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return names.PathError("remove", name, err)
}

// checkEmpty returns [names.ErrNotEmpty] for a directory that is not empty.
func (s *Stage) checkEmpty(e ent) error {
	if e.kind() != change.Dir {
		return nil
	}
	kids, err := s.children(nil, e)
	if err == nil && len(kids) > 0 {
		err = names.ErrNotEmpty
	}
	return err
}

// checkTree returns an error if the entry at the place may not be removed, with everything below it.
func (s *Stage) checkTree(p place) error {
	return cmp.Or(s.mayTake(p.dir, p.ent), s.mayMove(p), s.checkMove(p.ent, p.path, p.path))
}

// checkMove is checkTree for an entry that moves to another path: no rule may cover its contents at the new path
// either.
func (s *Stage) checkMove(e ent, from, to string) error {
	if e.kind() == change.Dir {
		for _, name := range []string{from, to} {
			if err := s.checkHolds(name); err != nil {
				return err
			}
		}
	}
	return s.checkBelow(e, from, to)
}

// checkBelow is checkMove without the paths outside of the directory that repositories lead to.
func (s *Stage) checkBelow(e ent, from, to string) error {
	if e.kind() == change.Other {
		return names.ErrNotRegular
	}
	if e.kind() == change.Symlink && from != to {
		return s.checkMoved(e, from, to)
	}
	if e.kind() != change.Dir {
		return nil
	}
	if s.guard.HoldsReserved(from) || s.guard.HoldsReserved(to) {
		return names.ErrReserved
	}
	kids, err := s.children(nil, e)
	if err == nil {
		err = s.take(e, kids, from == to)
	}
	if locked := s.mayChange(e); err == nil && locked != nil {
		if err = locked; len(kids) > 0 {
			err = guard.Held(locked, names.Join(from, kids[0].name))
		}
	}
	if err != nil {
		return err
	}
	var marks names.Marks
	in := e.fact()
	sticky := in != nil && in.mode&fs.ModeSticky != 0
	for _, k := range kids {
		if marks |= names.MarkOf(k.name, modes.Bits(k.kind)); marks.IsRepository() {
			return guard.Repository(from)
		}
		at, then := names.Join(from, k.name), names.Join(to, k.name)
		if err := s.guard.Keeps(at); err != nil {
			return guard.Held(err, at)
		}
		if err := s.guard.Keeps(then); then != at && err != nil {
			return guard.Held(err, then)
		}
		var below ent
		if sticky || k.kind == change.Dir || k.kind == change.Symlink {
			if below, err = s.entOf(k); err != nil {
				return err
			}
			if err := s.mayTake(e, below); err != nil {
				return guard.Held(err, at)
			}
		}
		switch k.kind {
		case change.Dir, change.Symlink:
			if err := s.checkBelow(below, at, then); err != nil {
				return err
			}
		case change.Other:
			return names.ErrNotRegular
		case change.Absent, change.File:
		}
	}
	return nil
}
