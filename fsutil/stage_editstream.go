package fsutil

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"hash/maphash"
	"io"
)

// EditStream is [Stage.Edit] for a file that is not to be held as a whole: find reads the current content, as much of it as
// it wants to, and calls emit for each splice, in ascending order and not overlapping. The splices are not copied: their
// texts and origins must not change afterwards. It may happen that find is called again, with other content, if somebody
// else has written to the file while it was read. If find returns an error, nothing is staged and EditStream returns that
// error as it is.
func (s *Stage) EditStream(name string, find func(r io.Reader, emit func(Splice)) error) error {
	for {
		var failed error
		done, err := s.editStream(name, func(r io.Reader, emit func(Splice)) error {
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
func (s *Stage) editStream(name string, find func(io.Reader, func(Splice)) error) (done bool, err error) {
	old, _, err := s.contentAt(name, write, maxInMemory)
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
func (s *Stage) editUnsized(name string, find func(io.Reader, func(Splice)) error) (bool, error) {
	data, _, err := s.readFile(name, write, maxInMemory)
	if err != nil {
		return false, err
	}
	var splices []Splice
	if err := find(bytes.NewReader(data), func(sp Splice) { splices = append(splices, sp) }); err != nil {
		return false, err
	}
	return true, s.edit(name, splices)
}

// findSplices returns what find emits for the content, with all origins set, and without what changes nothing.
func (s *Stage) findSplices(old *body, find func(io.Reader, func(Splice)) error) ([]Splice, error) {
	r, err := s.pass(old)
	if err != nil {
		return nil, err
	}
	defer r.close()
	var own []Origin
	if s.step != "" {
		own = []Origin{s.origin()}
	}
	var splices []Splice
	err = find(r, func(sp Splice) {
		if len(sp.By) == 0 {
			sp.By = own
		}
		splices = append(splices, sp)
	})
	if err == nil {
		err = r.finish()
	}
	if err == nil {
		_, err = checkSplices(splices, old.size)
	}
	if err != nil {
		return nil, err
	}
	content, err := s.readerOf(old)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	return dropIdleIn(content, splices)
}

// editedStream is editedBody without holding the content.
func (s *Stage) editedStream(old *body, splices []Splice) (*body, error) {
	if old.src != nil {
		all := splices
		if len(old.splices) > 0 {
			base, err := s.readerOf(&body{src: old.src, size: old.src.size})
			if err != nil {
				return nil, err
			}
			defer base.Close()
			if all, err = ComposeSplices(old.splices, splices); err != nil {
				return nil, err
			}
			if all, err = dropIdleIn(base, all); err != nil {
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
	b, err := s.pagedFrom(SpliceReader(r, splices))
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
			err = ErrTooLarge
		}
		if err != nil {
			c.forget(b)
			return nil, err
		}
	}
}

// pass is one reading of a body from its beginning to its end, which makes sure that what it reads of the base is what was
// read of it before.
type pass struct {
	io.Reader
	base *baseReader // nil if there is none below
}

// pass begins to read a body. core.mu must not be held.
func (c *core) pass(b *body) (*pass, error) {
	if b.src == nil {
		c.mu.RLock()
		b.shared.Store(true) // nobody writes into the pages from now on
		c.mu.RUnlock()
		return &pass{Reader: io.NewSectionReader(pageReader{c, b}, 0, b.size)}, nil
	}
	base, err := c.base.reader(b.src)
	if err != nil {
		return nil, err
	}
	p := &pass{Reader: base, base: base}
	if len(b.splices) > 0 {
		p.Reader = SpliceReader(base, b.splices)
	}
	return p, nil
}

// finish reads what is left, and returns [ErrDrift] if the base is not what it was.
func (p *pass) finish() error {
	if p.base == nil {
		return nil
	}
	return p.base.finish()
}

func (p *pass) close() {
	if p.base != nil && p.base.file != nil {
		_ = p.base.file.Close() // it was only read
	}
}

// baseReader reads a file of the base and takes its fingerprint, and its hash if that is not known yet.
type baseReader struct {
	b     *baseFs
	f     *fact
	r     io.Reader
	file  io.Closer // nil if the bytes are in memory
	n     int64
	print maphash.Hash
	sum   hash.Hash // nil if the hash is known
}

// reader returns a reader of a file that says its size.
func (b *baseFs) reader(f *fact) (*baseReader, error) {
	r := &baseReader{b: b, f: f}
	r.print.SetSeed(b.seed)
	if f.hash.Load() == nil {
		r.sum = sha256.New()
	}
	if data, ok := b.cache.get(f); ok {
		r.r = bytes.NewReader(data)
		return r, nil // its fingerprint has been taken when it was read
	}
	file, err := b.open(f)
	if err != nil {
		return nil, err
	}
	r.r, r.file = io.LimitReader(file, f.size+1), file
	return r, nil
}

// Read implements io.Reader.
func (r *baseReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.n += int64(n)
	if r.file != nil {
		_, _ = r.print.Write(p[:n]) // hashes do not fail
	}
	if r.sum != nil {
		_, _ = r.sum.Write(p[:n])
	}
	if r.n > r.f.size {
		err = ErrDrift
	}
	return n, err
}

// finish reads the rest and checks that all is what was read before.
func (r *baseReader) finish() error {
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	if r.n != r.f.size {
		return ErrDrift
	}
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	if r.file != nil {
		if err := r.f.check(r.print.Sum64()); err != nil {
			return err
		}
	}
	if r.sum != nil && r.f.hash.Load() == nil {
		h := Hash(r.sum.Sum(nil))
		r.f.hash.Store(&h)
	}
	return nil
}
