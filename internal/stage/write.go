package stage

import (
	"io"
	"io/fs"
	"os"
)

// Write implements io.Writer.
func (f *openFile) Write(p []byte) (int, error) {
	err := f.start(true)
	defer f.mu.Unlock()
	var n int
	if err == nil && len(p) > 0 {
		err = f.mutate(func(b *body) error {
			if f.flag&os.O_APPEND != 0 {
				f.off = b.size
			}
			var err error
			n, err = f.s.writePages(b, p, f.off)
			return err
		})
		f.off += int64(n)
	}
	return n, pathError("write", f.name, err)
}

// WriteAt implements io.WriterAt. It fails on a file that was opened for appending.
func (f *openFile) WriteAt(p []byte, off int64) (int, error) {
	err := f.start(true)
	defer f.mu.Unlock()
	switch {
	case err == nil && f.flag&os.O_APPEND != 0:
		err = errAppendAt
	case err == nil && off < 0:
		err = fs.ErrInvalid
	}
	var n int
	if err == nil && len(p) > 0 {
		err = f.mutate(func(b *body) error {
			var err error
			n, err = f.s.writePages(b, p, off)
			return err
		})
	}
	return n, pathError("write", f.name, err)
}

// WriteString implements io.StringWriter.
func (f *openFile) WriteString(text string) (int, error) { return f.Write([]byte(text)) }

// Truncate sets the size. What is added is zeros.
func (f *openFile) Truncate(size int64) error {
	err := f.start(true)
	defer f.mu.Unlock()
	if err == nil && size < 0 {
		err = fs.ErrInvalid
	}
	if err == nil && size != f.info().size {
		err = f.mutate(func(b *body) error { return f.s.truncatePages(b, size) })
	}
	return pathError("truncate", f.name, err)
}

// mutate calls fn with a body of the file that may be written into. A handle for writing always has a node.
func (f *openFile) mutate(fn func(b *body) error) error {
	c, n := f.s.core, f.ent.n
	f.dirty = true
	for {
		c.mu.Lock()
		b := n.body
		if b.src == nil {
			if b.turn != c.turn || b.shared.Load() {
				b = c.fork(b)
				f.s.setBody(n, b)
			} else if by := stamped(n.by, f.s.origin(), len(c.log)); len(by) > len(n.by) || n.timed {
				f.s.setBody(n, b)
			}
			err := fn(b)
			c.mu.Unlock()
			return err
		}
		c.mu.Unlock()
		own, err := c.copyUp(b)
		if err != nil {
			return err
		}
		c.mu.Lock()
		if n.body == b { // else somebody was faster
			own.turn = c.turn
			f.s.setBody(n, own)
		}
		c.mu.Unlock()
	}
}

// copyUp returns a body with pages of its own for one that comes from the base. core.mu must not be held.
func (c *core) copyUp(b *body) (*body, error) {
	r, err := c.readerOf(b)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return c.pagedFrom(io.NewSectionReader(r, 0, b.size), b.size)
}
