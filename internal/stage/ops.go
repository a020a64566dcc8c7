package stage

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// leastUmask is taken from the permission bits of whatever is made on the stage, beside the umask of the process.
const leastUmask = 0o022

// made returns the permission bits of something new.
func (c *core) made(perm fs.FileMode) fs.FileMode {
	return perm & modes.PermBits &^ (c.umask() | leastUmask)
}

// origin is who writes through this view.
func (s *Stage) origin() change.Origin { return change.Origin{Step: s.step} }

// stamps returns the stamps of something that this view does now and that nobody did anything to before.
func (s *Stage) stamps() []stamp { return stamped(nil, s.origin(), len(s.log)) }

// put makes n what stands at the place. core.mu must be held for writing.
func (s *Stage) put(p place, n *node) {
	dir := s.adoptDir(p)
	s.setSlot(dir, p.name, slot{n: n, gone: s.goneAt(dir, p, false), seq: len(s.log)})
}

// clear makes nothing stand at the place.
func (s *Stage) clear(p place, permanent bool) {
	dir := s.adoptDir(p)
	s.setSlot(dir, p.name, slot{gone: s.goneAt(dir, p, permanent), seq: len(s.log)})
}

// goneAt returns how the base's entry at the place is taken away when something else is put over it.
func (s *Stage) goneAt(dir *node, p place, permanent bool) *removal {
	// Without anything there it was taken away before, if it ever was there.
	if p.ent.kind() == change.Absent {
		return dir.kids[p.name].gone
	}
	if dir.base == "" {
		return nil
	}
	return &removal{by: s.stamps(), permanent: permanent}
}

// Mkdir makes a directory.
func (s *Stage) Mkdir(name string, perm os.FileMode) error {
	w, err := s.begin(name, guard.Write)
	if err != nil {
		return pathError("mkdir", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.find(nil, w.name, false, guard.Write)
	if err == nil && p.ent.kind() != change.Absent {
		err = fs.ErrExist
	}
	if err == nil {
		s.makeDir(p, perm)
	}
	return pathError("mkdir", name, err)
}

func (s *Stage) makeDir(p place, perm fs.FileMode) {
	n := newDir(s.made(perm), s.now)
	n.by = s.stamps()
	s.put(p, n)
}

// MkdirAll makes a directory and those above it that are missing. Where only some paths are allowed, the directories
// that lead to them may be made too, on the way to one that is allowed.
func (s *Stage) MkdirAll(name string, perm os.FileMode) error {
	w, err := s.begin(name, guard.Write)
	if err != nil {
		return pathError("mkdir", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.find(nil, w.name, true, guard.Write)
	if err == nil && p.ent.kind() != change.Absent {
		if p.ent.kind() != change.Dir {
			err = names.ErrNotDir
		}
		return pathError("mkdir", name, err)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return pathError("mkdir", name, err)
	}
	for end := range len(w.name) + 1 {
		if end < len(w.name) && w.name[end] != '/' {
			continue
		}
		if err := s.makeDirOnWay(w.name[:end], perm, end == len(w.name)); err != nil {
			return pathError("mkdir", name, err)
		}
	}
	return nil
}

// makeDirOnWay makes the directory unless there is one.
func (s *Stage) makeDirOnWay(name string, perm fs.FileMode, last bool) error {
	p, err := s.find(nil, name, true, guard.Look)
	switch {
	case err != nil:
		return err
	case p.ent.kind() == change.Dir:
		return nil
	case p.ent.kind() != change.Absent:
		return names.ErrNotDir
	case p.linked:
		return fs.ErrNotExist
	case !last && s.guard.LeadsToAllowed(p.path) && !names.IsProtected(p.path):
	default:
		if err := s.guard.Check(p.path, guard.Write); err != nil {
			return err
		}
	}
	s.makeDir(p, perm)
	return nil
}

// SymlinkIfPossible makes newname a symbolic link to oldname, which is kept as it is: what it leads to counts when the
// link is followed.
func (s *Stage) SymlinkIfPossible(oldname, newname string) error {
	w, err := s.begin(newname, guard.Write)
	if err == nil && strings.IndexByte(oldname, 0) >= 0 {
		err = names.ErrBadName
	}
	if err == nil && (oldname == "" || w.asDir) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return linkError("symlink", oldname, newname, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.find(nil, w.name, false, guard.Write)
	if err == nil && p.ent.kind() != change.Absent {
		err = fs.ErrExist
	}
	if err == nil {
		n := &node{kind: change.Symlink, target: oldname, meta: meta{mode: fs.ModePerm, mtime: s.now, by: s.stamps()}}
		s.put(p, n)
	}
	return linkError("symlink", oldname, newname, err)
}
