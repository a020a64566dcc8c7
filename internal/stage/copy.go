package stage

import (
	"io/fs"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
)

// Copy makes newname a copy of the regular file that oldname leads to, permission bits included, but for setuid and
// setgid, for the copy may belong to somebody else, and for the umask of the process. The bytes are not read: the copy
// refers to them. It fails with [fs.ErrExist] if anything stands at newname, a link too.
func (s *Stage) Copy(oldname, newname string) error {
	return linkError("copy", oldname, newname, s.copyFile(oldname, newname))
}

func (s *Stage) copyFile(oldname, newname string) error {
	from, err := s.begin(oldname, guard.Read)
	if err != nil {
		return err
	}
	to, err := s.begin(newname, guard.Write)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	src, err := s.findExisting(from.name, true, guard.Read)
	if err != nil {
		return err
	}
	dst, err := s.find(nil, to.name, false, guard.Write)
	switch {
	case err != nil:
		return err
	case src.ent.kind() == change.Dir:
		return names.ErrIsDir
	case src.ent.kind() != change.File:
		return names.ErrNotRegular
	case from.asDir:
		return names.ErrNotDir
	case dst.ent.kind() != change.Absent:
		return fs.ErrExist
	case to.asDir:
		return names.ErrIsDir
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
}
