package stage

import (
	"errors"
	"io/fs"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
)

// Seen is the state of a name when it was shown to somebody outside. The zero Seen means that nothing was there.
type Seen struct {
	Kind    change.Kind
	Mode    fs.FileMode // the permission bits of a file or a directory
	Target  string      // of a symbolic link, with slashes
	Version Version     // of a file
	// Hash is set for a file whose version does not distinguish all of its contents. It is the hash of its bytes then,
	// zero for other files.
	Hash change.Hash
}

// Holds compares the entry at the name, links not followed, with seen and returns the difference: the reason of a
// [Drift], "" if both are equal. The stage then rests on the compared state, so a later change by another program is a
// drift too.
func (s *Stage) Holds(name string, seen Seen) (reason string, err error) {
	p, err := s.lookUp(name, false, guard.Look)
	isAbsent := errors.Is(err, fs.ErrNotExist) || errors.Is(err, names.ErrNotDir)
	switch {
	case isAbsent && seen.Kind == change.Absent:
		return "", nil
	case isAbsent:
		return "removed", nil
	case err != nil:
		return "", names.PathError("lstat", name, err)
	case seen.Kind == change.Absent:
		return DriftCreated, nil
	case seen.Kind != p.ent.kind():
		return "kind", nil
	}
	if p.ent.n == nil {
		p.ent.f = s.core.base.keep(p.ent.f)
	}
	s.mu.RLock()
	info, target := p.ent.info(name), ""
	if seen.Kind == change.Symlink {
		target = p.ent.target()
	}
	s.mu.RUnlock()
	switch {
	case target != seen.Target:
		return "target", nil
	case seen.Kind != change.Symlink && info.Mode().Perm() != seen.Mode.Perm():
		return "mode", nil
	case seen.Kind != change.File:
		return "", nil
	}
	same, err := s.holdsFile(p.ent, seen)
	switch {
	case errors.Is(err, names.ErrDrift), err == nil && !same:
		return "content", nil
	case err != nil:
		return "", names.PathError("read", name, err)
	}
	return "", nil
}

func (s *Stage) holdsFile(e ent, seen Seen) (bool, error) {
	now, _, err := s.versionOf(e)
	if err != nil || now != seen.Version || seen.Hash == (change.Hash{}) {
		return now == seen.Version, err
	}
	b, err := s.bodyOf(e)
	if err != nil {
		return false, err
	}
	h, err := s.hashOf(b)
	return h == seen.Hash, err
}
