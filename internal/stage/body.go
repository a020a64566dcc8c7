package stage

import (
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"sync/atomic"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/splice"
)

// Limits, and sizes from which another way is used. All are in bytes.
const (
	maxInMemory = 1<<31 - 1 // of one file that is held in memory
	maxFile     = 1 << 40   // of one file on the stage

	maxPooled = 1 << 20   // of a file that is read into reused memory
	pageSize  = 128 << 10 // of a page; the last page of a file may be shorter
	copySize  = 64 << 10  // of the buffer for hashing

	defaultSpillAt = 64 << 20 // of files written as a whole; more is written to a temporary file
	defaultCache   = 4 << 20  // of files that were read

	// A file is kept as splices over its base if the splices cost little more than its bytes.
	perSplice    = 96        // in memory, of a splice without its text, roughly
	alwaysSplice = 256 << 10 // splices up to this cost are always kept
)

// body is the content of a file on the stage: bytes of the base, perhaps with splices, or pages of its own. It never
// changes, with one exception: a handle may write into the pages of a body that was not read as a whole so far (see
// shared) and was made since the last savepoint (see turn).
type body struct {
	src     *fact // nil if it has pages
	splices []change.Splice
	pages   []*page
	size    int64

	turn   int
	shared atomic.Bool
	hash   atomic.Pointer[change.Hash]
}

// plain reports whether the body is the unchanged content of a file of the base.
func (b *body) plain() bool { return b.src != nil && len(b.splices) == 0 }

// inPlace reports whether each splice replaces as many bytes as it inserts. Every splice changes bytes, so such a body
// differs from its source.
func (b *body) inPlace() bool {
	return !slices.ContainsFunc(b.splices, func(s change.Splice) bool { return s.Len != int64(len(s.Text)) })
}

// overBase returns a body of splices over a file of the base, nil if keeping the splices costs much more than keeping
// the result: a million replacements in one file must not fill the memory.
func overBase(src *fact, splices []change.Splice) (*body, error) {
	size, cost := src.size, int64(len(splices))*perSplice
	for _, s := range splices {
		size += int64(len(s.Text)) - s.Len
		cost += int64(len(s.Text))
	}
	switch {
	case size > maxFile:
		return nil, names.ErrTooLarge
	case cost <= alwaysSplice+2*size:
		return &body{src: src, splices: splices, size: size}, nil
	}
	return nil, nil
}

// pagedFrom returns a body with pages of its own, filled with size bytes from r.
func (c *core) pagedFrom(r io.Reader, size int64) (*body, error) {
	if size > maxFile {
		return nil, names.ErrTooLarge
	}
	b := &body{size: size, pages: make([]*page, 0, (size+pageSize-1)/pageSize)}
	for left := size; left > 0; {
		data := make([]byte, min(pageSize, left))
		_, err := io.ReadFull(r, data)
		pg := &page{owner: b, data: data}
		if err == nil {
			b.pages = append(b.pages, pg)
			left -= int64(len(data))
			if c.held.Add(int64(len(data))) > c.spillAt {
				err = c.spillPage(pg)
			}
		}
		if err != nil {
			c.forget(b)
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = names.ErrDrift
			}
			return nil, err
		}
	}
	return b, c.relieve(b)
}

// contentReader reads a body at any offset, until it is closed.
type contentReader struct {
	io.ReaderAt
	size int64
	file io.Closer // nil if there is nothing to close
}

func (r contentReader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// readerOf returns a reader of the content. It holds nothing in memory except bytes that are in the cache already.
// core.mu must not be held.
func (c *core) readerOf(b *body) (contentReader, error) {
	if b.src == nil {
		c.mu.RLock() // a handle may just be writing
		defer c.mu.RUnlock()
		return contentReader{ReaderAt: pageReader{c, b}, size: b.size}, nil
	}
	r := contentReader{size: b.size}
	if data, ok := c.base.cache.get(b.src); ok {
		r.ReaderAt = splice.Bytes(data)
	} else {
		file, err := c.base.open(b.src)
		if err != nil {
			return r, err
		}
		r.ReaderAt, r.file = file, file
	}
	if len(b.splices) > 0 {
		r.ReaderAt = splice.Spliced(r.ReaderAt, b.src.size, b.splices)
	}
	return r, nil
}

// open opens a stream of a body that no longer changes.
func (c *core) open(b *body) (io.ReadCloser, error) {
	r, err := c.readerOf(b)
	if err != nil {
		return nil, err
	}
	return struct {
		*io.SectionReader // so that parts of it can be read
		io.Closer
	}{io.NewSectionReader(r, 0, r.size), r}, nil
}

// hashOf returns the hash of a body, computed once. core.mu must not be held.
func (c *core) hashOf(b *body) (change.Hash, error) {
	known := &b.hash
	if b.plain() {
		known = &b.src.hash
	}
	if h := known.Load(); h != nil {
		return *h, nil
	}
	h, err := c.sum(b)
	if err == nil {
		known.Store(&h)
	}
	return h, err
}

func (c *core) sum(b *body) (change.Hash, error) {
	t := c.borrow("", b, c.readLimit(maxInMemory))
	defer c.giveBack(t)
	switch {
	case b.plain() && b.size == 0: // its size may be unknown
		data, err := t.load(t.most)
		return change.HashOf(data), err
	case b.plain():
		if err := t.makeSure(); err != nil {
			return change.Hash{}, err
		}
		return *b.src.hash.Load(), nil
	}
	p, err := c.pass(b, false)
	if err != nil {
		return change.Hash{}, err
	}
	defer p.base.drop()
	sum := sha256.New()
	n, err := io.CopyBuffer(struct{ io.Writer }{sum}, struct{ io.Reader }{p}, t.room(0, copySize))
	if err == nil && n != b.size {
		err = names.ErrDrift
	}
	return change.Hash(sum.Sum(nil)), err
}
