package stage

import (
	"io/fs"
	"slices"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/splice"
)

// ReadFile returns the bytes of a regular file. They are shared: never modify them. The stage keeps what was read last,
// up to 8 MiB, so that several steps read a file once. A file of 2 GiB or more is [ErrTooLarge], and so is one beyond the
// limit of [Stage.SetMaxRead].
func (s *Stage) ReadFile(name string) ([]byte, error) {
	return s.ReadFileMax(name, maxInMemory)
}

// ReadFileMax is ReadFile for files of at most that many bytes. Larger ones are [ErrTooLarge]: judged by the size the file
// is said to have, before any of it is read, and by what comes where that is said to be 0, as in /proc.
func (s *Stage) ReadFileMax(name string, most int64) ([]byte, error) {
	data, _, err := s.readFile(name, guard.Read, most)
	return data, pathError("read", name, err)
}

// SetMaxRead sets how large, in bytes, a file may be that is read as a whole, or a file of the base that is edited; zero or
// less means that there is no limit but that of 2 GiB. Streams that Open gives are not held to it. Call it before the first
// use, while nobody else uses the stage.
func (s *Stage) SetMaxRead(most int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.maxRead = most
}

// readLimit returns the tighter of a limit and that of the stage.
func (c *core) readLimit(most int64) int64 {
	if c.maxRead > 0 {
		most = min(most, c.maxRead)
	}
	return min(most, maxInMemory)
}

// HashFile returns the hash of a regular file, which is not held for it, so it may be of any size. The stage works it out
// once, whatever asks for it.
func (s *Stage) HashFile(name string) (change.Hash, error) {
	p, err := s.lookUp(name, true, guard.Read)
	if err != nil {
		return change.Hash{}, pathError("read", name, err)
	}
	b, err := s.bodyOf(p.ent)
	if err != nil {
		return change.Hash{}, pathError("read", name, err)
	}
	h, err := s.hashOf(b)
	return h, pathError("read", name, err)
}

// readFile returns the bytes that stand at the name and the body they are of.
func (s *Stage) readFile(name string, a guard.Access, most int64) ([]byte, *body, error) {
	b, most, err := s.contentAt(name, a, most)
	if err != nil {
		return nil, nil, err
	}
	data, err := s.bytesOf(b, most)
	if err == nil && int64(len(data)) > most {
		err = names.ErrTooLarge // in the cache, of a file that does not say its size
	}
	if err != nil {
		return nil, nil, err
	}
	return data, b, nil
}

// contentAt returns what stands at the name, and the limit that it is held to.
func (s *Stage) contentAt(name string, a guard.Access, most int64) (*body, int64, error) {
	p, err := s.lookUp(name, true, a)
	if err != nil {
		return nil, 0, err
	}
	b, err := s.bodyOf(p.ent)
	if err != nil {
		return nil, 0, err
	}
	if a == guard.Read || b.plain() {
		most = s.readLimit(most) // what an edit has made larger, the next one of the same step may edit
	}
	if b.size > most {
		return nil, 0, names.ErrTooLarge
	}
	return b, most, nil
}

// bodyOf returns the content of a regular file as it is now.
func (c *core) bodyOf(e ent) (*body, error) {
	switch e.kind() {
	case change.Dir:
		return nil, names.ErrIsDir
	case change.File:
	default:
		return nil, names.ErrNotRegular
	}
	if e.n == nil {
		return c.base.keep(e.f).body(), nil
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return e.n.body, nil
}

// Remember offers bytes of a file that were just read through OpenDir, so that a later ReadFile need not read it again. The
// stage keeps a copy as long as it has room for it. It takes no offer for a file that is staged, or whose info is not that of
// the file the run knows.
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

// Edit applies splices, given in offsets of the current content, in ascending order and not overlapping. A splice whose
// By is empty is attributed to the step of this view. The splices are copied. What leaves the bytes as they are is
// dropped; if nothing is left, the file is not touched. A symbolic link is followed and stays.
func (s *Stage) Edit(name string, splices []change.Splice) error {
	return pathError("edit", name, s.edit(name, splices))
}

func (s *Stage) edit(name string, splices []change.Splice) error {
	splices = s.ownSplices(splices)
	for {
		data, old, err := s.readFile(name, guard.Write, maxInMemory)
		if err != nil {
			return err
		}
		if _, err := splice.Check(splices, int64(len(data))); err != nil {
			return err
		}
		mine := splice.DropIdle(data, splices)
		if len(mine) == 0 {
			return nil
		}
		edited, err := s.editedBody(old, data, mine)
		if err != nil {
			return err
		}
		if done, err := s.replaceBody(name, old, edited, mine); done || err != nil {
			return err
		}
		// Somebody else has written to the file in between: try again with what is there now.
	}
}

// ownSplices returns a copy with all origins set.
func (s *Stage) ownSplices(splices []change.Splice) []change.Splice {
	size := 0
	for _, sp := range splices {
		size += len(sp.Text)
	}
	texts := make([]byte, 0, size)
	var by []change.Origin
	if s.step != "" {
		by = []change.Origin{s.origin()}
	}
	own := slices.Clone(splices)
	var given, copied []change.Origin // mostly the same for all
	for i := range own {
		start := len(texts)
		texts = append(texts, own[i].Text...)
		own[i].Text = texts[start:len(texts):len(texts)]
		switch these := own[i].By; {
		case len(these) == 0:
			own[i].By = by
		case len(these) == len(given) && &these[0] == &given[0]:
			own[i].By = copied
		default:
			given, copied = these, slices.Clone(these)
			own[i].By = copied
		}
	}
	return own
}

// editedBody returns what the splices make of the content.
func (s *Stage) editedBody(old *body, data []byte, splices []change.Splice) (*body, error) {
	if old.src == nil {
		out, err := splice.Apply(data, splices)
		if err != nil {
			return nil, err
		}
		return s.pagedBody(out)
	}
	// The commit compares the file with the very bytes that were edited, so they are hashed while they are at hand.
	base := data
	if !old.plain() {
		var err error
		if base, err = s.core.base.read(old.src, maxInMemory); err != nil {
			return nil, err
		}
	}
	if old.src.hash.Load() == nil {
		h := change.HashOf(base)
		old.src.hash.Store(&h)
	}
	if old.plain() {
		return s.splicedBody(old.src, base, splices)
	}
	all, err := splice.Compose(old.splices, splices)
	if err != nil {
		return nil, err
	}
	return s.splicedBody(old.src, base, splice.DropIdle(base, all))
}

// replaceBody gives the file another content, unless it has not the old one any more.
func (s *Stage) replaceBody(name string, old, edited *body, splices []change.Splice) (done bool, err error) {
	w, err := s.begin(name, guard.Write)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.findExisting(w.name, true, guard.Write)
	if err != nil {
		return false, err
	}
	if p.ent.kind() != change.File || p.ent.n == nil && p.ent.f.path != old.srcPath() {
		return false, nil
	}
	n := s.adopt(p)
	if n.body != old && !(old.plain() && n.body.plain() && n.body.src == old.src) {
		return false, nil
	}
	m := n.meta
	m.body, m.mtime, m.timed = edited, s.now, false
	if edited.plain() && edited.src == n.from {
		m.mtime = n.from.mtime
	}
	m.by = stampedAll(m.by, splices, len(s.log))
	s.setMeta(n, m)
	return true, nil
}

// srcPath returns the path of the file of the base that a body comes from, "" if it does not.
func (b *body) srcPath() string {
	if b.src == nil {
		return ""
	}
	return b.src.path
}
