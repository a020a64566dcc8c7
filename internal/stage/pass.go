package stage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"hash/maphash"
	"io"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/splice"
)

// pass is one reading of a body from its beginning. A checked pass can check at its end that the bytes of the base are
// the bytes that were read before.
type pass struct {
	io.Reader
	base *baseReader // nil without a base; its methods accept nil
}

// pass begins reading a body. core.mu must not be held.
func (c *core) pass(b *body, checked bool) (*pass, error) {
	if b.src == nil {
		c.mu.RLock()
		b.shared.Store(true) // its pages no longer change
		c.mu.RUnlock()
		return &pass{Reader: io.NewSectionReader(pageReader{c, b}, 0, b.size)}, nil
	}
	base, err := c.base.reader(b.src, checked)
	if err != nil {
		return nil, err
	}
	p := &pass{Reader: base, base: base}
	if len(b.splices) > 0 {
		p.Reader = splice.Splicing(base, b.splices)
	}
	return p, nil
}

// During makes reading a file of the base fail with the cause of ctx once ctx is done, until the returned function is
// called. Reading a large file takes minutes on a slow disk. read receives the number of bytes read, from several
// goroutines at a time.
func (s *Stage) During(ctx context.Context, read func(n int)) (until func()) {
	before := s.base.during.Swap(&readingFor{ctx, read})
	return func() { s.base.during.Store(before) }
}

// readingFor is the context of reading files of the base.
type readingFor struct {
	ctx  context.Context
	read func(n int)
}

// baseReader reads a file of the base and computes its fingerprint, and its hash if the hash is not known yet.
type baseReader struct {
	b     *baseFs
	f     *fact
	r     io.Reader
	file  io.Closer // nil if the bytes are in memory
	n     int64
	print *maphash.Hash // nil if it is not needed, or was computed before
	sum   hash.Hash     // nil if it is not needed, or known
}

// reader returns a reader of a file that reports its size.
func (b *baseFs) reader(f *fact, checked bool) (*baseReader, error) {
	r := &baseReader{b: b, f: f}
	if checked && f.hash.Load() == nil {
		r.sum = sha256.New()
	}
	if data, ok := b.cache.get(f); ok {
		r.r = bytes.NewReader(data)
		return r, nil // its fingerprint was computed when it was read
	}
	file, err := b.open(f)
	if err != nil {
		return nil, err
	}
	if checked {
		r.print = new(maphash.Hash)
		r.print.SetSeed(b.seed)
	}
	r.r, r.file = io.LimitReader(file, f.size+1), file
	return r, nil
}

func (r *baseReader) Read(p []byte) (int, error) {
	during := r.b.during.Load()
	if during != nil && during.ctx.Err() != nil {
		return 0, context.Cause(during.ctx)
	}
	n, err := r.r.Read(p)
	r.n += int64(n)
	if during != nil {
		during.read(n)
	}
	if r.print != nil {
		_, _ = r.print.Write(p[:n]) // hashes do not fail
	}
	if r.sum != nil {
		_, _ = r.sum.Write(p[:n])
	}
	short := err == io.EOF && r.n < r.f.size || errors.Is(err, io.ErrUnexpectedEOF) // the error of a MemMapFs
	if short || r.n > r.f.size {
		err = names.ErrDrift
	}
	return n, err
}

// drop closes the reader. Dropping it again does nothing.
func (r *baseReader) drop() error {
	if r == nil || r.file == nil {
		return nil
	}
	file := r.file
	r.file = nil
	return file.Close()
}

// finish reads the rest through buf, and returns [names.ErrDrift] if the base differs from the bytes read before.
func (r *baseReader) finish(buf []byte) error {
	if r == nil {
		return nil
	}
	if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r}, buf); err != nil {
		return err
	}
	if r.n != r.f.size {
		return names.ErrDrift
	}
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	if r.print != nil {
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
