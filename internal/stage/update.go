package stage

import (
	"bytes"
	"io/fs"
	"slices"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/splice"
)

// Edit applies splices. Their offsets are in the current content, ascending and not overlapping.
func (s *Stage) Edit(name string, splices []change.Splice) error {
	given := func(t *Content) ([]change.Splice, error) {
		_, err := t.Bytes(maxInMemory)
		return splices, err
	}
	return names.PathError("edit", name, s.update(name, guard.Write, maxInMemory, given))
}

// Update is [Stage.Edit] with the splices that find returns for the content of the file, of at most most bytes. Update
// calls find again, with the new content, if the file was written during the call. The content and its bytes are valid
// until find returns. If find returns an error, nothing is staged and Update returns that error as it is.
func (s *Stage) Update(name string, most int64, find func(*Content) ([]change.Splice, error)) error {
	return s.update(name, guard.Read, most, find)
}

// update is the one loop that changes the content of a file: it reads the file, computes the splices, and replaces the
// content with their result unless the file was written since.
func (s *Stage) update(name string, a guard.Access, most int64, find func(*Content) ([]change.Splice, error)) error {
	for {
		b, limit, err := s.contentAt(name, a, most)
		if err != nil {
			return names.PathError("read", name, err)
		}
		t := s.borrow(name, b, limit)
		t.checked = true
		if done, err := s.attempt(t, find); done || err != nil {
			return err
		}
	}
}

// attempt is one round of update. It always returns the content with giveBack.
func (s *Stage) attempt(t *Content, find func(*Content) ([]change.Splice, error)) (done bool, err error) {
	defer s.giveBack(t)
	splices, err := find(t)
	if err != nil {
		return false, err
	}
	if t.left != nil || !t.whole && len(splices) > 0 {
		if err := s.verify(t); err != nil {
			return false, names.PathError("read", t.name, err)
		}
	}
	if len(splices) == 0 {
		return true, nil
	}
	done, err = s.replace(t, splices)
	return done, names.PathError("edit", t.name, err)
}

// verify checks the content that find has seen. A file that is small or has no size is read into memory for that,
// because it must be read anyway.
func (s *Stage) verify(t *Content) error {
	if size := t.body.size; t.left == nil && size <= maxPooled {
		_, err := t.Bytes(maxInMemory)
		return err
	}
	return t.makeSure()
}

// replace replaces the content of the file with the result of the splices. done is false if the content has changed
// since.
func (s *Stage) replace(t *Content, splices []change.Splice) (done bool, err error) {
	splices = s.ownSplices(splices)
	old, err := t.reader()
	if err != nil {
		return false, err
	}
	defer old.Close()
	size, err := splice.Check(splices, old.size)
	if err != nil {
		return false, err
	}
	mine, err := splice.DropIdle(old.ReaderAt, splices)
	if err != nil || len(mine) == 0 {
		return true, err
	}
	edited, err := s.edited(t, old, mine, size)
	if err != nil {
		return false, err
	}
	done, err = s.replaceBody(t.name, t.body, edited, mine)
	if !done {
		s.forget(edited)
	}
	return done, err
}

// edited returns the content with the splices applied. size is the size of the result.
func (s *Stage) edited(t *Content, old contentReader, splices []change.Splice, size int64) (*body, error) {
	b := t.body
	if src := b.src; src != nil {
		if t.whole && b.plain() && src.hash.Load() == nil {
			// The commit compares the file with these bytes, so they are hashed while they are in memory.
			h := change.HashOf(t.data)
			src.hash.Store(&h)
		}
		all, err := s.overOld(b, splices)
		if err != nil {
			return nil, err
		}
		if old.size == b.size { // the size of the result is computed from the reported size
			if made, err := overBase(src, all); made != nil || err != nil {
				return made, err
			}
		}
	}
	if t.whole {
		return s.pagedFrom(splice.Splicing(bytes.NewReader(t.data), splices), size)
	}
	p, err := s.pass(b, true)
	if err != nil {
		return nil, err
	}
	defer p.base.drop()
	made, err := s.pagedFrom(splice.Splicing(p, splices), size)
	if err != nil {
		return nil, err
	}
	if err := p.base.finish(t.room(0, copySize)); err != nil {
		s.forget(made)
		return nil, err
	}
	return made, nil
}

// overOld returns the splices combined with the splices of the body, over its base.
func (s *Stage) overOld(b *body, splices []change.Splice) ([]change.Splice, error) {
	if len(b.splices) == 0 {
		return splices, nil
	}
	all, err := splice.Compose(b.splices, splices)
	if err != nil {
		return nil, err
	}
	base, err := s.readerOf(b.src.body())
	if err != nil {
		return nil, err
	}
	defer base.Close()
	return splice.DropIdle(base.ReaderAt, all)
}

// ownSplices returns a copy of the splices with all origins set.
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

// replaceBody replaces the content of the file, unless the old content has changed.
func (s *Stage) replaceBody(name string, old, edited *body, splices []change.Splice) (done bool, err error) {
	err = s.modify(name, true, func(p place) error {
		switch kind := p.ent.kind(); {
		case kind == change.Absent:
			return fs.ErrNotExist
		case kind != change.File, p.ent.n == nil && (old.src == nil || p.ent.f.path != old.src.path):
			return nil
		}
		if err := s.mayRewrite(p); err != nil {
			return err
		}
		n := s.adopt(p)
		if n.body != old && !(old.plain() && n.body.plain() && n.body.src == old.src) {
			return nil
		}
		m := n.meta
		m.body, m.mtime, m.timed = edited, s.writtenAt(n), false
		if edited.plain() && edited.src == n.from {
			m.mtime = n.from.mtime
		}
		m.by = stampedAll(m.by, splices, s.seq)
		s.setMeta(n, m)
		done = true
		return nil
	})
	return done, err
}
