package stage

import "io/fs"

import (
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
)

// Remember offers bytes of a file that were just read through OpenDir, so that a later ReadFile need not read it again.
// The stage keeps a copy as long as it has room for it. It takes no offer for a file that is staged, or whose info is
// not that of the file the run knows.
func (s *Stage) Remember(name string, data []byte, info fs.FileInfo) {
	if !info.Mode().IsRegular() {
		return
	}
	p, err := s.lookUpKnown(name, info)
	if err != nil || p.ent.kind() != change.File || int64(len(data)) != info.Size() {
		return
	}
	f := p.ent.f
	if n := p.ent.n; n != nil {
		s.mu.RLock()
		if n.body.plain() {
			f = n.body.src
		}
		s.mu.RUnlock()
	}
	if f == nil {
		return
	}
	if f = s.core.base.keep(f); f.size == info.Size() && f.mtime.Equal(info.ModTime()) {
		s.core.base.offer(f, data)
	}
}

// lookUpKnown is lookUp for a file of the base that info is about, which saves asking the base again.
func (s *Stage) lookUpKnown(name string, info fs.FileInfo) (place, error) {
	w, err := s.begin(name, guard.Read)
	if err != nil {
		return place{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	dir, last := splitPath(w.name)
	p, err := s.findExisting(dir, true, guard.Look)
	if err != nil || p.ent.kind() != change.Dir || last == "" {
		return place{}, err
	}
	at := place{path: joinAs(w.name, p.path, last), dir: p.ent, name: last}
	if n := p.ent.n; n != nil {
		if kid, ok := n.kids[last]; ok {
			at.ent.n = kid.n
			return at, s.guard.Check(at.path, guard.Read)
		}
		if n.base == "" {
			return at, fs.ErrNotExist
		}
	}
	at.ent.f, err = s.core.base.newFact(joinAs(at.path, p.ent.base(), last), info)
	if err == nil {
		err = s.guard.Check(at.path, guard.Read)
	}
	return at, err
}
