package stage

import (
	"path"
	"strings"

	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
)

// Respells reports whether the second name is nothing but another spelling of the first, in the same directory: a base
// that does not tell upper from lower case answers to both, and lists the first. From then on nothing stands at the
// second name as far as the stage is concerned, so that the file can be renamed to it. Rename finds this out by itself.
func (s *Stage) Respells(name, other string) bool {
	a, err := s.begin(name, guard.Look)
	if err != nil {
		return false
	}
	b, err := s.begin(other, guard.Look)
	if err != nil {
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	src, err := s.findExisting(a.name, false, guard.Look)
	if err != nil {
		return false
	}
	dst, err := s.findExisting(b.name, false, guard.Look)
	return err == nil && s.respells(src, dst)
}

// respells is Respells for what was found there. core.mu must be held.
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
	// They may still be two names, those of a hard link.
	entries, err := c.base.list(dir)
	if err != nil {
		return false
	}
	listed := false
	for _, e := range entries {
		switch e.Name() {
		case dst.name:
			return false
		case src.name:
			listed = true
		}
	}
	if listed {
		c.base.hide(there.path)
	}
	return listed
}

// hide makes it known that nothing of its own is at a path of the base.
func (b *baseFs) hide(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hidden == nil {
		b.hidden = make(map[string]bool)
	}
	b.hidden[name] = true
	delete(b.known, name)
}
