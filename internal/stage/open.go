package stage

import (
	"io/fs"
	"os"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
)

// Create makes a file, or empties the existing file, for reading and writing.
func (s *Stage) Create(name string) (afero.File, error) {
	return s.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Open opens a file or a directory for reading.
func (s *Stage) Open(name string) (afero.File, error) { return s.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens a file or a directory.
func (s *Stage) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	var f afero.File
	var err error
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC) == 0 {
		f, err = s.openRead(name)
	} else {
		f, err = s.openWrite(name, flag, perm)
	}
	if err != nil {
		return nil, names.PathError("open", name, err)
	}
	return f, nil
}

func (s *Stage) openRead(name string) (afero.File, error) {
	p, err := s.lookUp(name, true, guard.Look)
	if err != nil {
		return nil, err
	}
	switch p.ent.kind() {
	case change.Dir:
		return &openDir{handleOf: handleOf{s: s, name: name}, path: p.path, ent: p.ent}, nil
	case change.File:
		if err := s.guard.Check(p.path, guard.Read); err != nil {
			return nil, err
		}
		if p.ent.n == nil {
			p.ent.f = s.core.base.keep(p.ent.f)
		}
		return &openFile{handleOf: handleOf{s: s, name: name}, ent: p.ent}, nil
	default:
		return nil, names.ErrNotRegular
	}
}

func (s *Stage) openWrite(name string, flag int, perm fs.FileMode) (afero.File, error) {
	create := flag&os.O_CREATE != 0
	exclusive := create && flag&os.O_EXCL != 0
	f := &openFile{handleOf: handleOf{s: s, name: name}, flag: flag}
	err := s.modify(name, !exclusive, func(p place) error {
		switch kind := p.ent.kind(); {
		case create && p.asDir, kind == change.Dir && !exclusive:
			return names.ErrIsDir
		case kind == change.Absent && (!create || p.linked):
			return fs.ErrNotExist
		case kind == change.Absent:
			if err := s.mayPut(p, change.File); err != nil {
				return err
			}
			f.ent.n = &node{kind: change.File, meta: meta{
				mode: s.made(perm), mtime: s.now, by: s.stamps(), body: &body{turn: s.turn},
			}}
			s.put(p, f.ent.n)
			return nil
		case exclusive:
			return fs.ErrExist
		case kind != change.File:
			return names.ErrNotRegular
		case p.asDir:
			return names.ErrNotDir
		}
		if err := s.mayRewrite(p); err != nil {
			return err
		}
		f.ent.n, f.again = s.adopt(p), true
		if flag&os.O_TRUNC != 0 && f.ent.n.body.size > 0 {
			s.setBody(f.ent.n, &body{turn: s.turn})
		}
		return nil
	})
	return f, err
}

// writtenAt returns the time of a file that is written now: the time of the stage, or a later time if the file was
// written before, so that programs that compare times notice the change.
func (c *core) writtenAt(n *node) time.Time {
	isOfBase := n.from != nil && n.mtime.Equal(n.from.mtime)
	if isOfBase || n.timed || n.mtime.Before(c.now) {
		return c.now
	}
	return n.mtime.Add(time.Microsecond)
}

// setBody sets a body of a file that was written through this view. core.mu must be held for writing.
func (s *Stage) setBody(n *node, b *body) {
	m := n.meta
	m.body, m.mtime, m.timed = b, s.writtenAt(n), false
	m.by = stamped(m.by, s.origin(), s.seq)
	s.setMeta(n, m)
}
