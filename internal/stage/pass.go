package stage

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"hash/maphash"
	"io"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/splice"
)

// Content is the content of a file while a [FindSplices] looks at it.
type Content struct {
	open func() (*pass, error)
	now  *pass // nil before the first byte is asked for
}

// Read implements io.Reader.
func (c *Content) Read(p []byte) (int, error) {
	if err := c.begin(); err != nil {
		return 0, err
	}
	return c.now.Read(p)
}

// Rewind goes back to the beginning. It reads what is left before, so that the hash of the file comes out, and returns
// [ErrDrift] if the bytes are not those that were read before.
func (c *Content) Rewind() error {
	err := c.finish()
	c.close()
	return err
}

func (c *Content) begin() (err error) {
	if c.now == nil {
		c.now, err = c.open()
	}
	return err
}

func (c *Content) finish() error {
	if err := c.begin(); err != nil {
		return err
	}
	return c.now.finish()
}

func (c *Content) close() {
	if c.now != nil {
		c.now.close()
	}
	c.now = nil
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
		p.Reader = splice.Splicing(base, b.splices)
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
	if r.n > r.f.size || errors.Is(err, io.ErrUnexpectedEOF) { // which a MemMapFs says of a file that was cut short
		err = names.ErrDrift
	}
	return n, err
}

// finish reads the rest and checks that all is what was read before.
func (r *baseReader) finish() error {
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	if r.n != r.f.size {
		return names.ErrDrift
	}
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	if r.file != nil {
		if err := r.f.check(r.print.Sum64()); err != nil {
			return err
		}
	}
	if r.sum != nil && r.f.hash.Load() == nil {
		h := change.Hash(r.sum.Sum(nil))
		r.f.hash.Store(&h)
	}
	return nil
}
