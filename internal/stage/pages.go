package stage

import (
	"io"
	"slices"

	"github.com/millrace-go/millrace/internal/names"
)

// page is a piece of a file that was written as a whole, in memory or in the spill file. A nil *page is all zeros, so a
// file with holes costs little. Guarded by core.mu.
type page struct {
	owner *body  // the only body that may write into data; nil for none
	data  []byte // shorter than the page if the rest is zeros
	off   int64  // in the spill file, if spilled is not 0
	// spilled is how many bytes are in the spill file. data is nil then.
	spilled int
	// stored means that the spill file has data too, which no longer changes.
	stored bool
}

// size returns the length of the page without trailing zeros that are implied.
func (p *page) size() int {
	if p == nil {
		return 0
	}
	return max(len(p.data), p.spilled)
}

// readPages is ReadAt over the pages. core.mu must not be held.
func (c *core) readPages(b *body, p []byte, off int64) (int, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if off >= b.size {
		return 0, io.EOF
	}
	want := p[:min(int64(len(p)), b.size-off)]
	for n := 0; n < len(want); {
		pos := off + int64(n)
		pg, in := b.pages[pos/pageSize], int(pos%pageSize)
		piece := want[n:min(len(want), n+pageSize-in)]
		got := 0
		switch {
		case in >= pg.size():
		case pg.spilled > 0:
			got = min(len(piece), pg.spilled-in)
			if err := c.unspill(piece[:got], pg.off+int64(in)); err != nil {
				return n, err
			}
		default:
			got = copy(piece, pg.data[in:])
		}
		clear(piece[got:])
		n += len(piece)
	}
	if len(want) < len(p) {
		return len(want), io.EOF
	}
	return len(want), nil
}

// fork returns a writable body with the same pages. core.mu must be held for writing.
func (c *core) fork(b *body) *body {
	return &body{pages: slices.Clone(b.pages), size: b.size, turn: c.turn}
}

// ownPage returns a writable page of the body with at least n bytes.
func (c *core) ownPage(b *body, i, n int) (*page, error) {
	old := b.pages[i]
	if old != nil && old.owner == b && old.spilled == 0 && !old.stored {
		if grow := n - len(old.data); grow > 0 {
			// The bytes between length and capacity may be left over from a truncation.
			had := len(old.data)
			old.data = slices.Grow(old.data, grow)[:n]
			clear(old.data[had:])
			c.held.Add(int64(grow))
		}
		return old, nil
	}
	pg := &page{owner: b, data: make([]byte, max(n, old.size()))}
	switch {
	case old == nil:
	case old.spilled > 0:
		if err := c.unspill(pg.data[:old.spilled], old.off); err != nil {
			return nil, err
		}
	default:
		copy(pg.data, old.data)
	}
	b.pages[i] = pg
	c.held.Add(int64(len(pg.data)))
	return pg, nil
}

// writePages is WriteAt into the pages. core.mu must be held for writing, and b must be writable.
func (c *core) writePages(b *body, p []byte, off int64) (int, error) {
	if off > maxFile-int64(len(p)) {
		return 0, names.ErrTooLarge
	}
	had := b.size
	c.resize(b, max(had, off+int64(len(p))))
	n, err := c.fillPages(b, p, off)
	if err != nil { // bytes that were not written must not count
		if n == 0 {
			off = 0
		}
		c.resize(b, max(had, off+int64(n)))
	}
	return n, err
}

// fillPages is writePages within the size of the body.
func (c *core) fillPages(b *body, p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		pos := off + int64(n)
		i, in := int(pos/pageSize), int(pos%pageSize)
		piece := p[n:min(len(p), n+pageSize-in)]
		pg, err := c.ownPage(b, i, in+len(piece))
		if err != nil {
			return n, err
		}
		n += copy(pg.data[in:], piece)
		if in+len(piece) == pageSize && c.held.Load() > c.spillAt {
			if err := c.spillPage(pg); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// resize sets the size of the body. Added pages are zeros.
func (c *core) resize(b *body, size int64) {
	n := int((size + pageSize - 1) / pageSize)
	if n <= len(b.pages) {
		c.release(b, b.pages[n:])
		b.pages = slices.Delete(b.pages, n, len(b.pages))
	} else {
		b.pages = append(b.pages, make([]*page, n-len(b.pages))...)
	}
	b.size = size
}

// truncatePages sets the size of the body, under the conditions of writePages.
func (c *core) truncatePages(b *body, size int64) error {
	if size > maxFile {
		return names.ErrTooLarge
	}
	// Truncated bytes must not come back when the file grows again.
	last, in := int(size/pageSize), int(size%pageSize)
	if size < b.size && in > 0 && b.pages[last].size() > in {
		pg, err := c.ownPage(b, last, in)
		if err != nil {
			return err
		}
		c.held.Add(int64(in - len(pg.data)))
		pg.data = pg.data[:in]
	}
	c.resize(b, size)
	return nil
}

// relieve moves pages of the body to the spill file while too much is in memory. core.mu must be held for writing, or
// no other goroutine may have b yet.
func (c *core) relieve(b *body) error {
	for _, pg := range b.pages {
		if c.held.Load() <= c.spillAt {
			return nil
		}
		if pg != nil && pg.spilled == 0 && len(pg.data) > 0 {
			if err := c.spillPage(pg); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *core) spillPage(pg *page) error {
	if err := c.store(pg); err != nil {
		return err
	}
	c.held.Add(-int64(len(pg.data)))
	pg.spilled, pg.data = len(pg.data), nil
	return nil
}

// store writes the bytes of a page to the spill file, and also keeps them in memory.
func (c *core) store(pg *page) error {
	if pg.stored {
		return nil
	}
	off, err := c.spill.Append(pg.data)
	if err == nil {
		pg.off, pg.stored = off, true
	}
	return err
}

// drop subtracts the pages that only this body has from the bytes held in memory. A handle may still be open on the
// body; bytes written through it are counted again. core.mu must be held for writing.
func (c *core) drop(b *body) {
	if b == nil || b.shared.Load() {
		return
	}
	c.release(b, b.pages)
}

// release is drop for some of the pages of a body.
func (c *core) release(b *body, pages []*page) {
	for _, pg := range pages {
		if pg != nil && pg.owner == b {
			c.held.Add(-int64(len(pg.data)))
			pg.owner = nil
		}
	}
}

// forget is drop for a body that was not put on the stage. core.mu must not be held.
func (c *core) forget(b *body) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(b)
}

// pageReader reads the pages of a body.
type pageReader struct {
	c *core
	b *body
}

func (r pageReader) ReadAt(p []byte, off int64) (int, error) { return r.c.readPages(r.b, p, off) }
