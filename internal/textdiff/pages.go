package textdiff

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
)

// Paged is an old and a new text that are not held in memory.
type Paged struct {
	Old, New         io.ReaderAt
	OldSize, NewSize int // in bytes
	// Tee, if not nil, receives the whole old text, in order, and is closed then.
	Tee io.WriteCloser
	// Limit is the largest number of bytes of lines that are compared and shown. Zero means no limit.
	Limit int64
	// Page is the size of a page in bytes. Zero means 16 KiB.
	Page int
}

// LimitError means that the diff is larger than the limit.
type LimitError struct{ Limit int64 }

// Error names the limit.
func (e *LimitError) Error() string { return fmt.Sprintf("more than %d bytes to show", e.Limit) }

// pagesHeld is the largest number of pages of each text in memory.
const pagesHeld = 64

// Texts returns both texts, for one comparison with the splices that made the new text. They are read only around the
// splices, except that the old text is read up to the last splice to count lines.
func (p Paged) Texts() (old, new Source) {
	if p.Limit <= 0 {
		p.Limit = math.MaxInt64
	}
	page, left := cmp.Or(p.Page, 16<<10), p.Limit
	return &pages{r: p.Old, page: page, size: p.OldSize, tee: p.Tee, limit: p.Limit, left: &left},
		&pages{r: p.New, page: page, size: p.NewSize, limit: p.Limit, left: &left}
}

// SourceError is the error of reading a text. A panic carries it through code without error results, up to the
// functions that are called from outside.
type SourceError struct{ Err error }

// Error returns the text of the reader's error.
func (e *SourceError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the reader.
func (e *SourceError) Unwrap() error { return e.Err }

func stop(err error) { panic(&SourceError{err}) }

// stopped recovers from stop.
func stopped(err *error) {
	switch failed := recover().(type) {
	case nil:
	case *SourceError:
		*err = failed
	default:
		panic(failed)
	}
}

// pages are a text that is read page by page.
type pages struct {
	r     io.ReaderAt
	page  int
	size  int
	tee   io.WriteCloser
	limit int64
	left  *int64 // the rest of the limit

	held [pagesHeld]struct { // the nth page of the text is at n%pagesHeld, if it is in memory
		number int
		data   []byte // nil if there is none
	}
	passed int    // offset up to which tee was written and lines were counted
	buf    []byte // buffer for pass
}

// at returns the page of the offset, valid until the next call, and the offset on the page.
func (p *pages) at(off int) (data []byte, in int) {
	if off < 0 || off >= p.size {
		stop(io.ErrUnexpectedEOF) // wrong splices
	}
	n := off / p.page
	held := &p.held[n%pagesHeld]
	if held.data == nil || held.number != n {
		if held.data == nil {
			held.data = make([]byte, p.page)
		}
		held.number, held.data = n, held.data[:min(p.page, p.size-n*p.page)]
		p.read(held.data, n*p.page)
	}
	return held.data, off % p.page
}

func (p *pages) read(data []byte, off int) {
	n, err := p.r.ReadAt(data, int64(off))
	if n == len(data) {
		return
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	stop(err)
}

// Size implements [Source].
func (p *pages) Size() int { return p.size }

func (p *pages) shown(from, to int) []byte {
	if *p.left -= int64(to - from); *p.left < 0 {
		stop(&LimitError{p.limit})
	}
	return p.slice(from, to)
}

func (p *pages) slice(from, to int) []byte {
	if int64(to-from) > p.limit {
		stop(&LimitError{p.limit}) // not even for a short time
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

func (p *pages) lineStart(lo, at int) int {
	for at > lo {
		data, in := p.at(at - 1)
		start := max(0, in-(at-1-lo))
		if i := bytes.LastIndexByte(data[start:in+1], '\n'); i >= 0 {
			return at - in + start + i
		}
		at -= in + 1 - start
	}
	return lo
}

func (p *pages) index(c byte, from, to int) int {
	for from < to {
		data, in := p.at(from)
		end := min(len(data), in+to-from)
		if i := bytes.IndexByte(data[in:end], c); i >= 0 {
			return from + i
		}
		from += end - in
	}
	return -1
}

func (p *pages) newlines(from, to int) int {
	p.pass(from, false)
	return p.pass(to, true)
}

func (p *pages) finish() {
	if p.tee == nil {
		return
	}
	p.pass(p.size, false)
	if err := p.tee.Close(); err != nil {
		stop(err)
	}
}

// pass reads up to an offset, and returns the number of line ends if counted is set.
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
				stop(err)
			}
		}
	}
	return lines
}
