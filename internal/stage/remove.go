package stage

import (
	"errors"
	"io/fs"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
)

// Remove removes a file, a link, or an empty directory.
func (s *Stage) Remove(name string) error { return pathError("remove", name, s.remove(name, false)) }

// Discard is Remove, but the file is not to be kept in the trash.
func (s *Stage) Discard(name string) error { return pathError("remove", name, s.remove(name, true)) }

func (s *Stage) remove(name string, permanent bool) error {
	w, err := s.begin(name, guard.Write)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.findExisting(w.name, false, guard.Write)
	switch {
	case err != nil:
		return err
	case p.path == ".":
		return fs.ErrInvalid
	case w.asDir && p.ent.kind() != change.Dir:
		return names.ErrNotDir
	}
	if err := s.checkTree(p); err != nil {
		return err
	}
	if p.ent.kind() == change.Dir {
		kids, err := s.children(nil, p.ent)
		if err != nil {
			return err
		}
		if len(kids) > 0 {
			return names.ErrNotEmpty
		}
	}
	s.clear(p, permanent)
	return nil
}

// RemoveAll removes what stands at the name with all that is in it. That nothing does is no error. It does so wholly or
// not at all: a directory that holds something that may not be removed stays as it is.
func (s *Stage) RemoveAll(name string) error {
	w, err := s.begin(name, guard.Write)
	if err != nil {
		return pathError("remove", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.findExisting(w.name, false, guard.Write)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && p.path == ".":
		err = fs.ErrInvalid
	case err == nil:
		err = s.checkTree(p)
	}
	if err == nil {
		s.clear(p, false)
	}
	return pathError("remove", name, err)
}

// checkTree returns why what stands at the place may not be taken away, with all below it: some of it is none of the
// stage's business.
func (s *Stage) checkTree(p place) error { return s.checkMove(p, p.path) }

// checkMove is checkTree for what is to stand at another path afterwards: what is in a directory must be no rule's
// there either.
func (s *Stage) checkMove(p place, to string) error {
	if p.ent.kind() == change.Other {
		return names.ErrNotRegular
	}
	if p.ent.kind() != change.Dir {
		return nil
	}
	if s.guard.HoldsReserved(p.path) || s.guard.HoldsReserved(to) {
		return names.ErrReserved
	}
	kids, err := s.children(nil, p.ent)
	if err != nil {
		return err
	}
	for _, k := range kids {
		at, then := names.Join(p.path, k.name), names.Join(to, k.name)
		if err := s.guard.Keeps(at); err != nil {
			return guard.Held(err, at)
		}
		if err := s.guard.Keeps(then); then != at && err != nil {
			return guard.Held(err, then)
		}
		switch k.kind {
		case change.Dir:
			e, err := s.entOf(k)
			if err != nil {
				return err
			}
			if err := s.checkMove(place{path: at, ent: e}, then); err != nil {
				return err
			}
		case change.Other:
			return names.ErrNotRegular
		case change.Absent, change.File, change.Symlink:
		}
	}
	return nil
}
