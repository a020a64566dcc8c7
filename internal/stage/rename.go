package stage

import (
	"cmp"
	"io/fs"
	"path"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
)

// Copy makes newname a copy of the regular file at oldname (links followed), without reading it.
func (s *Stage) Copy(oldname, newname string) error {
	err := s.withTwo(oldname, guard.Read, true, newname, guard.Write, func(src, dst place) error {
		switch {
		case src.ent.kind() == change.Dir:
			return names.ErrIsDir
		case src.ent.kind() != change.File:
			return names.ErrNotRegular
		case src.asDir:
			return names.ErrNotDir
		case dst.ent.kind() != change.Absent:
			return fs.ErrExist
		case dst.asDir:
			return names.ErrIsDir
		}
		if err := s.mayPut(dst, change.File); err != nil {
			return err
		}
		n := &node{kind: change.File, meta: meta{mtime: s.now, by: s.stamps()}}
		if old := src.ent.n; old != nil {
			old.body.shared.Store(true)
			n.mode, n.body = old.mode, old.body
		} else {
			f := s.core.base.keep(src.ent.f)
			n.mode, n.body = f.mode, f.body()
		}
		n.mode &^= fs.ModeSetuid | fs.ModeSetgid | s.umask()
		s.put(dst, n)
		return nil
	})
	return names.LinkError("copy", oldname, newname, err)
}

// Rename moves the entry at oldname to newname, as rename(2) does.
func (s *Stage) Rename(oldname, newname string) error {
	return names.LinkError("rename", oldname, newname,
		s.withTwo(oldname, guard.Write, false, newname, guard.Write, s.rename))
}

func (s *Stage) rename(src, dst place) error {
	if s.respells(src, dst) {
		dst.ent = ent{}
	}
	isDir := src.ent.kind() == change.Dir
	switch {
	case (src.asDir || dst.asDir) && !isDir:
		return names.ErrNotDir
	case src.path == ".", dst.path == ".":
		return fs.ErrInvalid
	case src.path == dst.path:
		return nil
	case isDir && names.Within(dst.path, src.path):
		return fs.ErrInvalid
	case names.Within(src.path, dst.path):
		return names.ErrNotEmpty
	}
	if err := cmp.Or(s.mayTake(src.dir, src.ent), s.mayMove(src),
		s.checkMove(src.ent, src.path, dst.path)); err != nil {
		return err
	}
	if err := s.checkReplace(dst, isDir); err != nil {
		return err
	}
	if err := s.mayPut(dst, src.ent.kind()); err != nil {
		return err
	}
	n := s.adopt(src)
	m := n.meta
	m.by = stamped(m.by, s.origin(), s.seq)
	m.moves = stamped(m.moves, s.origin(), s.seq)
	s.setMeta(n, m)
	s.put(dst, n)
	src.ent.n = n
	s.clear(src, removal{})
	return nil
}

// checkReplace returns an error if a rename may not put a directory, or another entry, at the place.
func (s *Stage) checkReplace(dst place, isDir bool) error {
	if err := s.checkTree(dst); err != nil {
		return err
	}
	switch kind := dst.ent.kind(); {
	case isDir && kind != change.Dir && kind != change.Absent:
		return names.ErrNotDir
	case !isDir && kind == change.Dir:
		return names.ErrIsDir
	}
	return cmp.Or(s.mayWrite(dst), s.checkEmpty(dst.ent))
}

// Respells reports whether the second name is only another spelling of the first, in the same directory: a base that
// ignores case accepts both, and lists the first. From then on the stage has nothing at the second name, so that the
// file can be renamed to it. Rename calls Respells.
func (s *Stage) Respells(name, other string) bool {
	respells := false
	err := s.withTwo(name, guard.Look, false, other, guard.Look, func(src, dst place) error {
		respells = s.respells(src, dst)
		return nil
	})
	return err == nil && respells
}

// respells is Respells for the places of both names. core.mu must be held.
func (c *core) respells(src, dst place) bool {
	if dst.ent.f == nil || src.path == dst.path || path.Dir(src.path) != path.Dir(dst.path) {
		return false
	}
	there := dst.ent.f
	dir := path.Dir(there.path)
	here, err := c.base.lstat(names.Join(dir, src.name))
	if err != nil || here == nil || here.kind != there.kind {
		return false
	}
	if there.id.Ino == 0 {
		if !strings.EqualFold(src.name, dst.name) || here.size != there.size || !here.mtime.Equal(there.mtime) {
			return false
		}
	} else if !here.id.SameFile(there.id) {
		return false
	}
	// They may still be two names: two hard links.
	entries, err := c.base.list(dir)
	if err != nil || lists(entries, dst.name) || !lists(entries, src.name) {
		return false
	}
	c.base.hide(there.path)
	return true
}
