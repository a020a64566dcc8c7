package stage

import (
	"bytes"
	"cmp"
	"io"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/splice"
)

// Content is the content of a file of any size at one moment: it can be read as a whole or in pieces. It never changes.
// It is not safe for concurrent use.
type Content struct {
	c    *core
	body *body
	name string // as the caller gave it
	most int64  // bytes that may be held in memory

	data  []byte // all bytes, if whole is set
	whole bool

	pooled bool      // the bytes are valid during one call only
	once   bool      // and are not cached for the next call, see Once
	bufs   [2][]byte // reused memory: for bytes of the base, and for the result of splices

	checked bool  // passes check that the base has not changed
	left    *pass // the pass that was closed last
	drift   error // the result of checking an earlier pass
}

// Content returns the content of a regular file of any size.
func (s *Stage) Content(name string) (*Content, error) {
	t, err := s.content(name)
	if err != nil {
		return nil, err
	}
	return &t, nil
}

func (s *Stage) content(name string) (Content, error) {
	b, err := s.bodyAt(name, guard.Read)
	if err != nil {
		return Content{}, names.PathError("read", name, err)
	}
	return Content{c: s.core, body: b, name: name, most: s.readLimit(maxInMemory)}, nil
}

// ReadFile returns the bytes of a regular file. They are shared: never modify them.
func (s *Stage) ReadFile(name string) ([]byte, error) {
	t, err := s.content(name)
	if err != nil {
		return nil, err
	}
	return t.Bytes(maxInMemory)
}

// SetMaxRead sets the largest size, in bytes, of a file that is read as a whole, and of a file of the base that is
// edited; with zero or less, the limit is 2 GiB. The limit does not apply to streams of Open. Call it before the first
// use.
func (s *Stage) SetMaxRead(most int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.maxRead = most
}

// readLimit returns the smaller of most and the limit of the stage.
func (c *core) readLimit(most int64) int64 {
	if c.maxRead > 0 {
		most = min(most, c.maxRead)
	}
	return min(most, maxInMemory)
}

// View calls do with the content of a regular file of at most that many bytes. The content and its bytes are valid
// until do returns, because most files are read into reused memory. An error of do is returned as it is.
func (s *Stage) View(name string, most int64, do func(*Content) error) error {
	b, most, err := s.contentAt(name, guard.Read, most)
	if err != nil {
		return names.PathError("read", name, err)
	}
	t := s.borrow(name, b, most)
	defer s.giveBack(t)
	return do(t)
}

// Once marks bytes read from the content as not worth caching for a later step.
func (t *Content) Once() { t.once = true }

// borrow returns a content that must be returned with giveBack.
func (c *core) borrow(name string, b *body, most int64) *Content {
	t, ok := c.base.contents.Get().(*Content)
	if !ok {
		t = new(Content)
	}
	*t = Content{c: c, body: b, name: name, most: most, pooled: true, bufs: t.bufs}
	return t
}

func (c *core) giveBack(t *Content) {
	if t.left != nil {
		t.left.base.drop()
	}
	*t = Content{bufs: t.bufs}
	for i, buf := range t.bufs {
		if cap(buf) > 2*maxPooled {
			t.bufs[i] = nil
		}
	}
	c.base.contents.Put(t)
}

// room returns memory for n bytes.
func (t *Content) room(i int, n int64) []byte {
	if int64(cap(t.bufs[i])) < n {
		t.bufs[i] = make([]byte, max((n+4<<10)&^(4<<10-1), 2*int64(cap(t.bufs[i]))))
	}
	return t.bufs[i][:n]
}

// Size returns the number of bytes. It is 0 for a file without a known size, as in /proc.
func (t *Content) Size() int64 { return t.body.size }

// Hash returns the hash of all bytes, which is computed once and without holding the bytes.
func (t *Content) Hash() (change.Hash, error) {
	h, err := t.c.hashOf(t.body)
	return h, names.PathError("read", t.name, err)
}

// Bytes returns all bytes, which are shared: never modify them. The error is [names.ErrTooLarge] for more bytes than
// most, or than the limits of the stage: before reading if the reported size is too large, and during reading if the
// reported size is 0, as in /proc.
func (t *Content) Bytes(most int64) ([]byte, error) {
	most = min(most, t.most)
	if !t.whole {
		data, err := t.load(most)
		if err != nil {
			return nil, names.PathError("read", t.name, err)
		}
		t.data, t.whole = data, true
	}
	if int64(len(t.data)) > most {
		return nil, names.PathError("read", t.name, names.ErrTooLarge)
	}
	return t.data, nil
}

func (t *Content) load(most int64) ([]byte, error) {
	c, b := t.c, t.body
	switch {
	case b.size > most:
		return nil, names.ErrTooLarge
	case b.plain():
		return t.loadBase(b.src, most)
	}
	if data, ok := c.base.cache.get(b); ok {
		return data, nil
	}
	if b.src == nil {
		return c.loadPages(b)
	}
	old, err := t.loadBase(b.src, maxInMemory)
	if err != nil {
		return nil, err
	}
	if t.pooled {
		return splice.Append(t.room(1, b.size)[:0], old, b.splices)
	}
	data, err := splice.Apply(old, b.splices)
	if err == nil {
		c.base.cache.put(b, data)
	}
	return data, err
}

// loadBase returns the bytes of a file of the base. The bytes of a file without a size may be cached already.
func (t *Content) loadBase(f *fact, most int64) ([]byte, error) {
	base := t.c.base
	if data, ok := base.cache.get(f); ok {
		return data, nil
	}
	var buf []byte
	switch small := t.pooled && f.size <= maxPooled; {
	case f.size == 0 || !small && !t.once:
		return base.read(f, most)
	case small:
		buf = t.room(0, f.size+1)
	}
	f.mu.Lock()
	data, err := base.fetch(f, buf, most, t.once)
	f.mu.Unlock()
	if err == nil && !t.once {
		base.cache.offer(f, data)
	}
	return data, err
}

// loadPages returns the bytes of a file that was written as a whole.
func (c *core) loadPages(b *body) ([]byte, error) {
	c.mu.RLock()
	b.shared.Store(true)
	var data []byte
	if len(b.pages) == 1 && b.pages[0] != nil && int64(len(b.pages[0].data)) == b.size {
		data = b.pages[0].data // the bytes are in memory already: no need to cache them
	}
	c.mu.RUnlock()
	if data != nil {
		return data, nil
	}
	data = make([]byte, b.size)
	if _, err := c.readPages(b, data, 0); err != nil && err != io.EOF {
		return nil, err
	}
	c.base.cache.put(b, data)
	return data, nil
}

// Open opens a stream of the bytes. If the file of the base has changed, reading fails with [names.ErrDrift].
func (t *Content) Open() (io.ReadCloser, error) {
	if t.body.plain() && t.body.size == 0 { // its size may be unknown
		if _, err := t.Bytes(t.most); err != nil {
			return nil, err
		}
	}
	if t.whole {
		return io.NopCloser(bytes.NewReader(t.data)), nil
	}
	p, err := t.c.pass(t.body, t.checked)
	if err != nil {
		return nil, names.PathError("read", t.name, err)
	}
	return &reading{p, t}, nil
}

// reading is a stream that [Content.Open] opened.
type reading struct {
	*pass
	t *Content
}

func (r *reading) Read(p []byte) (int, error) {
	n, err := r.pass.Read(p)
	if err != nil && err != io.EOF {
		err = names.PathError("read", r.t.name, err)
	}
	return n, err
}

// Close keeps the pass for [Content.makeSure], which may have to read the rest.
func (r *reading) Close() error {
	if !r.t.checked {
		return r.base.drop()
	}
	if t := r.t; t.left != nil && t.left != r.pass {
		// Splices may come from any of the passes, so each pass must have read the same bytes.
		t.drift = cmp.Or(t.drift, t.left.base.finish(t.spare()))
		t.left.base.drop()
	}
	r.t.left = r.pass
	if r.base != nil && r.base.n == r.base.f.size {
		r.t.drift = cmp.Or(r.t.drift, r.base.finish(r.t.spare())) // then its hash is known, and is not computed again
	}
	return nil
}

// spare returns a buffer that holds none of the bytes that were returned.
func (t *Content) spare() []byte {
	if t.whole {
		return make([]byte, copySize)
	}
	return t.room(0, copySize)
}

// makeSure reads the base to its end once, and compares it with the bytes read before. Then its hash is known too.
func (t *Content) makeSure() (err error) {
	if t.drift != nil {
		return t.drift
	}
	if t.left == nil {
		if t.left, err = t.c.pass(t.body, true); err != nil {
			return err
		}
	}
	return t.left.base.finish(t.spare())
}

// reader returns a reader at any offset. The reader does not check the base.
func (t *Content) reader() (contentReader, error) {
	if t.whole {
		return contentReader{ReaderAt: splice.Bytes(t.data), size: int64(len(t.data))}, nil
	}
	return t.c.readerOf(t.body)
}

// contentAt returns the content at the name, and its limit.
func (s *Stage) contentAt(name string, a guard.Access, most int64) (*body, int64, error) {
	b, err := s.bodyAt(name, a)
	if err != nil {
		return nil, 0, err
	}
	if a == guard.Read || b.plain() {
		most = s.readLimit(most) // a later edit of the same step may edit a file that an edit has made larger
	}
	if b.size > most {
		return nil, 0, names.ErrTooLarge
	}
	return b, most, nil
}

func (s *Stage) bodyAt(name string, a guard.Access) (*body, error) {
	p, err := s.lookUp(name, true, a)
	if err != nil {
		return nil, err
	}
	return s.bodyOf(p.ent)
}

// bodyOf returns the present content of a regular file. It no longer changes.
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
	b := e.n.body
	if b.src == nil {
		b.shared.Store(true) // its pages and its size no longer change
	}
	return b, nil
}
