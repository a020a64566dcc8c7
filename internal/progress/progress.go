// Package progress is a line of a terminal that shows what is going on, and leaves nothing of it.
package progress

import (
	"io"
	"sync"
	"time"

	"github.com/millrace-go/millrace/internal/names"
)

// When a progress line is written: not in the first moments, since most runs are over then, and not more often than can
// be read.
const (
	quiet    = 300 * time.Millisecond
	interval = 100 * time.Millisecond
)

// Line is one line of a terminal that reports what is going on. Its methods are safe for concurrent use. A nil
// *Line shows nothing.
type Line struct {
	w io.Writer

	mu    sync.Mutex
	start time.Time
	last  time.Time
	shown bool
	ended bool
}

// New returns a line on w, which has to be a terminal. Time counts from now.
func New(w io.Writer) *Line { return &Line{w: w, start: time.Now()} }

// Show replaces the line by a text, unless it is too early for it or too soon after the last one. The line never wraps:
// what does not fit is cut off by the terminal itself, so its width need not be known, and what is written is one
// write, so that no other output comes between.
func (p *Line) Show(text string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.ended || now.Sub(p.start) < quiet || p.shown && now.Sub(p.last) < interval {
		return
	}
	line := "\r\x1b[?7l" + names.Visible(text) + "\x1b[K\x1b[?7h"
	_, _ = p.w.Write([]byte(line)) // a line that cannot be shown does not fail the run
	p.last, p.shown = now, true
}

// Clear takes the line away, for other output. Show brings it back.
func (p *Line) Clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

// Done takes the line away for good. It may be called more than once.
func (p *Line) Done() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.ended = true
}

func (p *Line) clear() {
	if p.shown {
		_, _ = p.w.Write([]byte("\r\x1b[K"))
		p.shown = false
	}
}
