package stage

import (
	"io/fs"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
)

// Rename gives what stands at oldname the name newname, as rename(2) does: a file or a link takes the place of a file
// or a link, a directory that of an empty directory.
func (s *Stage) Rename(oldname, newname string) error {
	return linkError("rename", oldname, newname, s.rename(oldname, newname))
}

func (s *Stage) rename(oldname, newname string) error {
	from, err := s.begin(oldname, guard.Write)
	if err != nil {
		return err
	}
	to, err := s.begin(newname, guard.Write)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	src, err := s.findExisting(from.name, false, guard.Write)
	if err != nil {
		return err
	}
	dst, err := s.find(nil, to.name, false, guard.Write)
	if err != nil {
		return err
	}
	if s.respells(src, dst) {
		dst.ent = ent{}
	}
	isDir := src.ent.kind() == change.Dir
	switch {
	case (from.asDir || to.asDir) && !isDir:
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
	if err := s.checkMove(src, dst.path); err != nil {
		return err
	}
	if err := s.checkReplace(dst, isDir); err != nil {
		return err
	}
	n := s.adopt(src)
	// The node of a directory may have been made just now, also that of one dst lies in.
	if dst, err = s.find(nil, to.name, false, guard.Write); err != nil {
		return err
	}
	m := n.meta
	m.by = stamped(m.by, s.origin(), len(s.log))
	m.moves = stamped(m.moves, s.origin(), len(s.log))
	s.setMeta(n, m)
	s.put(dst, n)
	src.ent.n = n
	oldDir := s.adoptDir(src)
	var gone *removal
	if oldDir.base != "" {
		gone = &removal{by: s.stamps()}
	}
	s.setSlot(oldDir, src.name, slot{gone: gone, seq: len(s.log)})
	return nil
}

// checkReplace returns why a rename may not put a directory, or something else, at the place.
func (s *Stage) checkReplace(dst place, isDir bool) error {
	if err := s.checkTree(dst); err != nil {
		return err
	}
	switch kind := dst.ent.kind(); {
	case kind == change.Absent:
		return nil
	case isDir && kind != change.Dir:
		return names.ErrNotDir
	case !isDir && kind == change.Dir:
		return names.ErrIsDir
	case !isDir:
		return nil
	}
	kids, err := s.children(nil, dst.ent)
	if err == nil && len(kids) > 0 {
		err = names.ErrNotEmpty
	}
	return err
}
