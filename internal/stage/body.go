package stage

import (
	"crypto/sha256"
	"io"
	"slices"
	"sync/atomic"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/splice"
)

// body is the content of a file on the stage: bytes of the base, with splices perhaps, or pages of its own. It never
// changes, with one exception: a handle may write into the pages of a body that nobody else has looked at as a whole (see
// shared) and that was made since the last savepoint (see turn).
type body struct {
	src     *fact // nil if it has pages
	splices []change.Splice
	pages   []*page
	size    int64

	turn   int
	shared atomic.Bool
	hash   atomic.Pointer[change.Hash]
}

// plain reports whether the body is just what the base has.
func (b *body) plain() bool { return b.src != nil && len(b.splices) == 0 }

// inPlace reports whether each splice replaces as many bytes as it has. As none of them leaves the bytes as they were, such a
// body differs from what it is made from.
func (b *body) inPlace() bool {
	return !slices.ContainsFunc(b.splices, func(s change.Splice) bool { return s.Len != int64(len(s.Text)) })
}

// splicedBody returns what the splices make of a file of the base, of which data are the bytes. Where keeping the splices
// costs much more than keeping the result, it is the result, so that a million replacements in one file do not fill the
// memory.
func (c *core) splicedBody(src *fact, data []byte, splices []change.Splice) (*body, error) {
	if int64(len(data)) == src.size || len(splices) == 0 { // how large the result is goes by what the file says
		if b, err := overBase(src, splices); b != nil || err != nil {
			return b, err
		}
	}
	out, err := splice.Apply(data, splices)
	if err != nil {
		return nil, err
	}
	return c.pagedBody(out)
}

// overBase returns a body that is splices over a file of the base, nil if that would cost too much.
func overBase(src *fact, splices []change.Splice) (*body, error) {
	const (
		perSplice = 96        // bytes in memory of a splice without its text, about
		always    = 256 << 10 // this much is never too much
	)
	size, cost := src.size, int64(len(splices))*perSplice
	for _, s := range splices {
		size += int64(len(s.Text)) - s.Len
		cost += int64(len(s.Text))
	}
	switch {
	case size > maxFile:
		return nil, names.ErrTooLarge
	case cost <= always+2*size:
		return &body{src: src, splices: splices, size: size}, nil
	}
	return nil, nil
}

// pagedBody returns a body of data, which it takes over.
func (c *core) pagedBody(data []byte) (*body, error) {
	b := &body{size: int64(len(data))}
	for len(data) > 0 {
		n := min(len(data), pageSize)
		b.pages = append(b.pages, &page{owner: b, data: data[:n:n]})
		c.held.Add(int64(n))
		data = data[n:]
	}
	return b, c.relieve(b)
}

// bytesOf returns the content as a whole, of which a file that says that it is empty may have as much as most. It is
// shared and never changes. core.mu must not be held.
func (c *core) bytesOf(b *body, most int64) ([]byte, error) {
	if b.plain() {
		return c.base.read(b.src, most)
	}
	if data, ok := c.base.cache.get(b); ok {
		return data, nil
	}
	if b.size > maxInMemory {
		return nil, names.ErrTooLarge
	}
	var data []byte
	if b.src != nil {
		old, err := c.base.read(b.src, maxInMemory)
		if err == nil {
			data, err = splice.Apply(old, b.splices)
		}
		if err != nil {
			return nil, err
		}
	} else {
		c.mu.RLock()
		b.shared.Store(true)
		if len(b.pages) == 1 && b.pages[0] != nil && int64(len(b.pages[0].data)) == b.size {
			// The page is in memory already, so the cache has nothing to save.
			data = b.pages[0].data
		}
		c.mu.RUnlock()
		if data != nil {
			return data, nil
		}
		data = make([]byte, b.size)
		if _, err := c.readPages(b, data, 0); err != nil && err != io.EOF {
			return nil, err
		}
	}
	c.base.cache.put(b, data)
	return data, nil
}

// contentReader reads a body at any offset, until it is closed.
type contentReader struct {
	io.ReaderAt
	file io.Closer // nil if there is nothing to close
}

func (r contentReader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// readerOf returns a reader of the content that does not hold all of it in memory, apart from what the cache has
// anyway. core.mu must not be held.
func (c *core) readerOf(b *body) (contentReader, error) {
	if b.src == nil {
		return contentReader{ReaderAt: pageReader{c, b}}, nil
	}
	var r contentReader
	if data, ok := c.base.cache.get(b.src); ok {
		r.ReaderAt = bytesReaderAt(data)
	} else {
		file, err := c.base.open(b.src)
		if err != nil {
			return r, err
		}
		r = contentReader{ReaderAt: file, file: file}
	}
	if len(b.splices) > 0 {
		r.ReaderAt = splice.Spliced(r.ReaderAt, b.src.size, b.splices)
	}
	return r, nil
}

// open opens a stream of a body that does not change any more.
func (c *core) open(b *body) (io.ReadCloser, error) {
	r, err := c.readerOf(b)
	if err != nil {
		return nil, err
	}
	return struct {
		*io.SectionReader // so that parts of it can be read
		io.Closer
	}{io.NewSectionReader(r, 0, b.size), r}, nil
}

// hashOf returns the hash of a body, worked out once. core.mu must not be held.
func (c *core) hashOf(b *body) (change.Hash, error) {
	if b.plain() {
		return c.base.hashOf(b.src, c.readLimit(maxInMemory))
	}
	if h := b.hash.Load(); h != nil {
		return *h, nil
	}
	if b.src == nil {
		c.mu.RLock()
		b.shared.Store(true)
		c.mu.RUnlock()
	}
	r, err := c.open(b)
	if err != nil {
		return change.Hash{}, err
	}
	defer r.Close()
	sum, buf := sha256.New(), c.base.buffer(min(b.size, 64<<10))
	defer c.base.giveBack(buf)
	if n, err := io.CopyBuffer(struct{ io.Writer }{sum}, struct{ io.Reader }{r}, *buf); err != nil {
		return change.Hash{}, err
	} else if n != b.size {
		return change.Hash{}, names.ErrDrift
	}
	h := change.Hash(sum.Sum(nil))
	b.hash.Store(&h)
	return h, nil
}

// bytesReaderAt is a bytes.Reader without its state.
type bytesReaderAt []byte

func (d bytesReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(d)) {
		return 0, io.EOF
	}
	n := copy(p, d[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
