package textdiff

import (
	"bytes"
	"fmt"
	"io"
	"math"
)

// Paged is an old and a new text that are not held as a whole.
type Paged struct {
	Old, New         io.ReaderAt
	OldSize, NewSize int // in bytes
	// Tee, if not nil, is given all of the old text, in order.
	Tee io.Writer
	// Limit is how many bytes of lines are compared, and shown, at most. Zero means that there is no limit.
	Limit int64
	// Page is how much is read at once, in bytes. Zero means 16 KiB.
	Page int
}

// LimitError says that there is more to show than was allowed.
type LimitError struct{ Limit int64 }

// Error names the limit.
func (e *LimitError) Error() string { return fmt.Sprintf("more than %d bytes to show", e.Limit) }

// pagesHeld is how many pages of each text are in memory at a time.
const pagesHeld = 64

// Hunks returns what [Hunks] does, of texts that are read only where the regions are, and once as a whole to count lines.
// The regions must hold what [Region] says, which is not checked. The error is one of a reader or of Tee,
// io.ErrUnexpectedEOF if a text is shorter than its size, or a *LimitError.
func (p Paged) Hunks(regions []Region, context int) (list []Hunk, err error) {
	if p.Page <= 0 {
		p.Page = 16 << 10
	}
	if p.Limit <= 0 {
		p.Limit = math.MaxInt64
	}
	left := p.Limit
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case stop:
			list, err = nil, failed.err
		default:
			panic(failed)
		}
	}()
	old := &pages{r: p.Old, page: p.Page, size: p.OldSize, tee: p.Tee, limit: p.Limit, left: &left}
	new := &pages{r: p.New, page: p.Page, size: p.NewSize, limit: p.Limit, left: &left}
	list = hunksOf(&source{size: p.OldSize, pages: old}, &source{size: p.NewSize, pages: new}, regions, context)
	if p.Tee != nil {
		old.pass(p.OldSize, false)
	}
	return list, nil
}

// stop is what a panic carries an error with, through code that otherwise has nothing to do with errors, up to
// [Paged.Hunks].
type stop struct{ err error }

// pages are a text that is read page by page.
type pages struct {
	r     io.ReaderAt
	page  int
	size  int
	tee   io.Writer
	limit int64
	left  *int64 // of the limit

	held   map[int][]byte // by number
	order  []int          // of the pages held, the one read last at the end
	passed int            // what tee was given, and lines were counted in
	buf    []byte         // for that
}

// at returns the page that the offset is on, until it is called again, and where on it.
func (p *pages) at(off int) (data []byte, in int) {
	if off < 0 || off >= p.size {
		panic(stop{io.ErrUnexpectedEOF}) // regions that lie
	}
	n := off / p.page
	data, ok := p.held[n]
	if !ok {
		if p.held == nil {
			p.held = make(map[int][]byte, pagesHeld)
		}
		if len(p.order) == pagesHeld {
			data = p.held[p.order[0]][:p.page]
			delete(p.held, p.order[0])
			p.order = append(p.order[:0], p.order[1:]...)
		} else {
			data = make([]byte, p.page)
		}
		data = data[:min(p.page, p.size-n*p.page)]
		p.read(data, n*p.page)
		p.held[n] = data
		p.order = append(p.order, n)
	}
	return data, off % p.page
}

func (p *pages) read(data []byte, off int) {
	n, err := p.r.ReadAt(data, int64(off))
	if n == len(data) {
		return
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	panic(stop{err})
}

// charge takes bytes from what may be shown.
func (p *pages) charge(n int) {
	if *p.left -= int64(n); *p.left < 0 {
		panic(stop{&LimitError{p.limit}})
	}
}

// slice returns a copy of the bytes from from to to.
func (p *pages) slice(from, to int) []byte {
	if int64(to-from) > p.limit {
		panic(stop{&LimitError{p.limit}}) // not even for a moment
	}
	out := make([]byte, 0, to-from)
	for from < to {
		data, in := p.at(from)
		n := min(len(data)-in, to-from)
		out = append(out, data[in:in+n]...)
		from += n
	}
	return out
}

// lastNewline returns where the last newline from lo to at is, lo-1 if there is none.
func (p *pages) lastNewline(lo, at int) int {
	for at > lo {
		data, in := p.at(at - 1)
		start := max(0, in-(at-1-lo))
		if i := bytes.LastIndexByte(data[start:in+1], '\n'); i >= 0 {
			return at - 1 - in + start + i
		}
		at -= in + 1 - start
	}
	return lo - 1
}

// newline returns the offset behind the first newline from off to hi, hi if there is none.
func (p *pages) newline(off, hi int) int {
	for off < hi {
		data, in := p.at(off)
		end := min(len(data), in+hi-off)
		if i := bytes.IndexByte(data[in:end], '\n'); i >= 0 {
			return off + i + 1
		}
		off += end - in
	}
	return hi
}

// count counts line ends, and passes over all that is before.
func (p *pages) count(from, to int) int {
	p.pass(from, false)
	return p.pass(to, true)
}

// pass reads on to an offset, and returns how many line ends there were if that is asked for.
func (p *pages) pass(to int, counted bool) (lines int) {
	if !counted && p.tee == nil {
		p.passed = max(p.passed, to)
		return 0
	}
	if p.buf == nil {
		p.buf = make([]byte, min(256<<10, max(p.size, 1)))
	}
	for p.passed < to {
		part := p.buf[:min(len(p.buf), to-p.passed)]
		p.read(part, p.passed)
		p.passed += len(part)
		if counted {
			lines += bytes.Count(part, newline)
		}
		if p.tee != nil {
			if _, err := p.tee.Write(part); err != nil {
				panic(stop{err})
			}
		}
	}
	return lines
}
