// Package progress shows progress on one line of a terminal, and removes the line at the end.
package progress

import (
	"io"
	"sync"
	"time"

	"github.com/millrace-go/millrace/internal/names"
)

// The timing of a progress line: not at the beginning, because most runs end early, and not more often than a person
// can read.
const (
	quiet    = 300 * time.Millisecond
	interval = 100 * time.Millisecond
)

// Line is one line of a terminal that shows progress. Its methods are safe for concurrent use. A nil *Line shows
// nothing.
type Line struct {
	w io.Writer

	mu    sync.Mutex
	start time.Time
	last  time.Time
	shown bool
	ended bool
}

// New returns a line on w, which must be a terminal. Time counts from now.
func New(w io.Writer) *Line { return &Line{w: w, start: time.Now()} }

// Show replaces the line by a text, unless it is too early or too soon after the last update. The line never wraps: the
// terminal cuts off the part that does not fit, so the width need not be known. The text is written in a single write,
// so that other output cannot come in between.
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

// Clear removes the line, for other output. The next Show brings it back.
func (p *Line) Clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

// Done removes the line permanently. It may be called more than once.
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
