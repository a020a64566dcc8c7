package stage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// leastUmask is removed from the permission bits of new entries on the stage, in addition to the umask of the process.
const leastUmask = 0o022

// made returns the permission bits of a new entry.
func (c *core) made(perm fs.FileMode) fs.FileMode {
	return perm & modes.PermBits &^ (c.umask() | leastUmask)
}

// origin returns the origin of changes made through this view.
func (s *Stage) origin() change.Origin { return change.Origin{Step: s.step} }

// stamps returns the stamps of an entry that is made or removed through this view now.
func (s *Stage) stamps() []stamp { return stamped(nil, s.origin(), s.seq) }

// put puts n at the place. core.mu must be held for writing.
func (s *Stage) put(p place, n *node) {
	dir := s.adoptDir(p)
	s.setSlot(dir, p.name, slot{n: n, gone: s.goneAt(dir, p, removal{replaced: true}), seq: s.seq})
}

// clear removes the entry at the place. core.mu must be held for writing.
func (s *Stage) clear(p place, how removal) {
	dir := s.adoptDir(p)
	s.setSlot(dir, p.name, slot{gone: s.goneAt(dir, p, how), seq: s.seq})
}

// goneAt returns how the base's entry at the place is removed when another entry is put over it.
func (s *Stage) goneAt(dir *node, p place, how removal) *removal {
	// If the present entry is not the base's, the base's was removed before, if it ever existed.
	old, staged := dir.kids[p.name]
	if p.ent.kind() == change.Absent || staged && old.isFresh() || dir.base == "" ||
		old.gone != nil && !old.isOwn(names.Join(dir.base, p.name)) {
		return old.gone
	}
	if p.ent.n == nil {
		s.core.base.keep(p.ent.f) // the entry that is removed is the present entry
	}
	how.by = s.stamps()
	if n := p.ent.n; n != nil && n.kind == change.Dir {
		how.before(n)
	}
	return &how
}

// Mkdir makes a directory.
func (s *Stage) Mkdir(name string, perm os.FileMode) error {
	return names.PathError("mkdir", name, s.modify(name, false, func(p place) error {
		if p.ent.kind() != change.Absent {
			return fs.ErrExist
		}
		return s.makeDir(p, perm)
	}))
}

func (s *Stage) makeDir(p place, perm fs.FileMode) error {
	if err := s.mayPut(p, change.Dir); err != nil {
		return err
	}
	n := newDir(s.made(perm), s.now)
	n.by = s.stamps()
	s.put(p, n)
	return nil
}

// MkdirAll makes a directory and the missing directories above it.
func (s *Stage) MkdirAll(name string, perm os.FileMode) error {
	return names.PathError("mkdir", name, s.writing(name, func(clean string, _ bool) error {
		p, err := s.find(clean, true, guard.Write)
		switch kind := p.ent.kind(); {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		case kind == change.Dir:
			return nil
		case kind != change.Absent:
			return names.ErrNotDir
		}
		for end := range len(clean) + 1 {
			if end == len(clean) || clean[end] == '/' {
				if err := s.makeDirOnWay(clean[:end], perm, end == len(clean)); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// makeDirOnWay makes the directory unless it exists.
func (s *Stage) makeDirOnWay(name string, perm fs.FileMode, last bool) error {
	p, err := s.find(name, true, guard.Look)
	switch {
	case err != nil:
		return err
	case p.ent.kind() == change.Dir:
		return nil
	case p.ent.kind() != change.Absent:
		return names.ErrNotDir
	case p.linked:
		return fs.ErrNotExist
	case last || !s.guard.LeadsToAllowed(p.path) || names.IsProtected(p.path):
		if err := s.check(p.path, guard.Write, false); err != nil {
			return err
		}
	}
	return s.makeDir(p, perm)
}

// SymlinkIfPossible makes newname a symbolic link to oldname, which is kept as it is.
func (s *Stage) SymlinkIfPossible(oldname, newname string) error {
	return names.LinkError("symlink", oldname, newname, s.modify(newname, false, func(p place) error {
		switch {
		case strings.IndexByte(oldname, 0) >= 0:
			return names.ErrBadName
		case oldname == "" || p.asDir:
			return fs.ErrNotExist
		case p.ent.kind() != change.Absent:
			return fs.ErrExist
		}
		if err := s.checkTarget(p.path, oldname); err != nil {
			return err
		}
		if err := s.mayPut(p, change.Symlink); err != nil {
			return err
		}
		s.put(p,
			&node{kind: change.Symlink, target: oldname, meta: meta{mode: fs.ModePerm, mtime: s.now, by: s.stamps()}})
		return nil
	}))
}

// Chmod sets the permission bits of a file or directory, links followed. Type bits are ignored.
func (s *Stage) Chmod(name string, mode os.FileMode) error {
	return names.PathError("chmod", name, s.changeMeta(name, func(m *meta) bool {
		differs := m.mode != mode&modes.PermBits
		m.mode = mode & modes.PermBits
		return differs
	}))
}

// Chtimes sets the time of modification, links followed; the zero time leaves it as it is.
func (s *Stage) Chtimes(name string, _, mtime time.Time) error {
	return names.PathError("chtimes", name, s.changeMeta(name, func(m *meta) bool {
		if mtime.IsZero() || m.mtime.Equal(mtime) {
			return false
		}
		m.mtime, m.timed = mtime, true
		return true
	}))
}

// changeMeta lets fn change a copy of the attributes of a file or directory, and stages it if fn reports that it did.
func (s *Stage) changeMeta(name string, fn func(m *meta) bool) error {
	return s.modify(name, true, func(p place) error {
		switch kind := p.ent.kind(); {
		case kind == change.Absent:
			return fs.ErrNotExist
		case kind == change.Other:
			return names.ErrNotRegular
		case p.asDir && kind != change.Dir:
			return names.ErrNotDir
		case p.path == ".":
			return fs.ErrInvalid // the root belongs to the caller; no change is about it
		}
		if err := s.mayWrite(p); err != nil {
			return err
		}
		n := s.adopt(p)
		m := n.meta
		if fn(&m) {
			if err := s.mayMark(p); err != nil {
				return err
			}
			m.by = stamped(m.by, s.origin(), s.seq)
			s.setMeta(n, m)
		}
		return nil
	})
}

// Chown does not stage anything, because owners cannot be changed. It only reports whether they would change.
func (s *Stage) Chown(name string, uid, gid int) error {
	p, err := s.lookUp(name, true, guard.Write)
	if err != nil {
		return names.PathError("chown", name, err)
	}
	id := capability.Identity{UID: uint32(os.Getuid()), GID: uint32(os.Getgid())}
	known := os.Getuid() >= 0 // not every system has such numbers
	if f := p.ent.fact(); f != nil {
		id, known = f.id, f.id != capability.Identity{}
	}
	same := func(want int, is uint32) bool { return want == -1 || known && want >= 0 && uint64(want) == uint64(is) }
	if same(uid, id.UID) && same(gid, id.GID) {
		return nil
	}
	return names.PathError("chown", name, fmt.Errorf("owners cannot be changed on a stage: %w", errors.ErrUnsupported))
}
