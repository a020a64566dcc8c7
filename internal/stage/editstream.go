package stage

import (
	"bytes"
	"io"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/splice"
)

// FindSplices reads the content of a file, as much of it as it wants to, and calls emit for each splice that is to be made,
// in ascending order and not overlapping. The splices are not copied: their texts and origins must not change afterwards.
type FindSplices func(r *Content, emit func(change.Splice)) error

// EditStream is [Stage.Edit] for a file that is not to be held as a whole. It may happen that find is called again, with
// other content, if somebody else has written to the file while it was read. If find returns an error, nothing is staged
// and EditStream returns that error as it is.
func (s *Stage) EditStream(name string, find FindSplices) error {
	for {
		var failed error
		done, err := s.editStream(name, func(r *Content, emit func(change.Splice)) error {
			failed = find(r, emit)
			return failed
		})
		switch {
		case failed != nil && err == failed: //nolint:errorlint // the very error of find
			return failed
		case done || err != nil:
			return pathError("edit", name, err)
		}
	}
}

// editStream is one attempt. It is not done if somebody else has written to the file meanwhile.
func (s *Stage) editStream(name string, find FindSplices) (done bool, err error) {
	old, _, err := s.contentAt(name, guard.Write, maxInMemory)
	if err != nil {
		return false, err
	}
	if old.src != nil && old.src.size == 0 {
		return s.editUnsized(name, find)
	}
	splices, err := s.findSplices(old, find)
	if err != nil || len(splices) == 0 {
		return true, err
	}
	edited, err := s.editedStream(old, splices)
	if err != nil {
		return false, err
	}
	done, err = s.replaceBody(name, old, edited, splices)
	if !done {
		s.forget(edited)
	}
	return done, err
}

// editUnsized is editStream for a file that does not say its size, as in /proc. There are no large ones of these.
func (s *Stage) editUnsized(name string, find FindSplices) (bool, error) {
	data, _, err := s.readFile(name, guard.Write, maxInMemory)
	if err != nil {
		return false, err
	}
	var splices []change.Splice
	r := &Content{open: func() (*pass, error) { return &pass{Reader: bytes.NewReader(data)}, nil }}
	if err := find(r, func(sp change.Splice) { splices = append(splices, sp) }); err != nil {
		return false, err
	}
	return true, s.edit(name, splices)
}

// findSplices returns what find emits for the content, with all origins set, and without what changes nothing.
func (s *Stage) findSplices(old *body, find FindSplices) ([]change.Splice, error) {
	r := &Content{open: func() (*pass, error) { return s.pass(old) }}
	defer r.close()
	var own []change.Origin
	if s.step != "" {
		own = []change.Origin{s.origin()}
	}
	var splices []change.Splice
	err := find(r, func(sp change.Splice) {
		if len(sp.By) == 0 {
			sp.By = own
		}
		splices = append(splices, sp)
	})
	if err == nil {
		err = r.finish()
	}
	if err == nil {
		_, err = splice.Check(splices, old.size)
	}
	if err != nil {
		return nil, err
	}
	content, err := s.readerOf(old)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	return splice.DropIdleIn(content, splices)
}

// editedStream is editedBody without holding the content.
func (s *Stage) editedStream(old *body, splices []change.Splice) (*body, error) {
	if old.src != nil {
		all := splices
		if len(old.splices) > 0 {
			base, err := s.readerOf(&body{src: old.src, size: old.src.size})
			if err != nil {
				return nil, err
			}
			defer base.Close()
			if all, err = splice.Compose(old.splices, splices); err != nil {
				return nil, err
			}
			if all, err = splice.DropIdleIn(base, all); err != nil {
				return nil, err
			}
		}
		if b, err := overBase(old.src, all); b != nil || err != nil {
			return b, err
		}
	}
	r, err := s.pass(old)
	if err != nil {
		return nil, err
	}
	defer r.close()
	b, err := s.pagedFrom(splice.Splicing(r, splices))
	if err == nil {
		if err = r.finish(); err != nil {
			s.forget(b)
		}
	}
	return b, err
}

// pagedFrom returns a body of all that r gives.
func (c *core) pagedFrom(r io.Reader) (*body, error) {
	b := &body{}
	for {
		data := make([]byte, pageSize)
		n, err := io.ReadFull(r, data)
		if n > 0 {
			pg := &page{owner: b, data: data[:n:n]}
			b.pages = append(b.pages, pg)
			b.size += int64(n)
			if c.held.Add(int64(n)) > c.spillAt && err == nil {
				err = c.spillPage(pg)
			}
		}
		switch {
		case err == io.EOF, err == io.ErrUnexpectedEOF:
			return b, c.relieve(b)
		case err == nil && b.size > maxFile:
			err = names.ErrTooLarge
		}
		if err != nil {
			c.forget(b)
			return nil, err
		}
	}
}
