package sed

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/millrace-go/millrace/internal/match"
)

// Edit receives one change of an input: the bytes from start to end become text. Changes come in order and do not
// overlap. The text belongs to the runner and must be copied to be kept. An error ends the run.
type Edit func(start, end int64, text []byte) error

// Bounds are the limits of a run. The zero Bounds has no limits.
type Bounds struct {
	// Replacements is the largest number of substitutions. Zero means no limit. One more is ErrReplacements, before it is
	// made.
	Replacements int
	// Text is the largest number of bytes that one line may become, with the copies of p and the texts of a, i and c. Zero
	// means no limit. More is ErrText.
	Text int64
}

// ErrReplacements and ErrText name the exceeded limit of Bounds.
var (
	ErrReplacements = errors.New("too many substitutions")
	ErrText         = errors.New("too much text")
)

// LineError means that a line is longer than Options.MaxLine, or became longer.
type LineError struct {
	Line int // from 1
	Max  int // bytes
}

// Error names the line and the limit.
func (e *LineError) Error() string {
	return fmt.Sprintf("line %d is longer than %d bytes", e.Line, e.Max)
}

// splice is one substitution in the original line.
type splice struct{ start, end, from, to int } // the text is runner.space[from:to]

// runner is one run of a script over one input.
type runner struct {
	s      *Script
	ctx    context.Context
	work   int // work since the context was checked
	bounds Bounds
	edit   Edit
	stats  Stats
	ranges []ranged
	last   *pattern
	lines  lines
	isLast bool           // the last line has been read
	bare   bool           // the last line read has no newline
	places []match.Places // the places of the texts that the guards of the script need
	filled int            // the value of lines.fills for places

	space   []byte // the pattern space; the line itself while changes is 0
	owned   []byte // the memory of the pattern space, now or before
	spare   []byte // the memory for the next pattern space
	changes int
	splices []splice // the substitutions, if changes is 1
	printed []byte   // text before the pattern space: of p, i and c, with newlines
	open    bool     // the newline at the end of printed counts only if more text comes after it
	// The texts of a, which come after the pattern space.
	appended []byte
	alone    bool // the runner has the turn of script.long

	substituting substituting
}

// Apply runs the script over the text of src and passes each change to edit. It needs a small multiple of the longest
// line in memory. The error is an [*Error], a [*LineError], [ErrReplacements] or [ErrText], or it is from src, edit or
// the context. The context is checked within a line too.
func (s *Script) Apply(ctx context.Context, src io.Reader, bounds Bounds, edit Edit) (Stats, error) {
	r, _ := s.idle.Get().(*runner)
	if r == nil {
		r = &runner{s: s, ranges: make([]ranged, len(s.commands))}
		r.substituting.runner, r.substituting.yield = r, r.substituting.take
		r.places = make([]match.Places, len(s.guards))
	}
	for i, c := range s.commands {
		r.ranges[i] = ranged{active: c.to.kind != addrNone && c.from.kind == addrLine && c.from.n == 0}
	}
	r.ctx, r.bounds, r.edit, r.stats, r.last, r.work = ctx, bounds, edit, Stats{}, nil, often
	r.lines = lines{src: src, buf: r.lines.buf[:0], fills: r.lines.fills + 1}
	err := r.run()
	stats := r.stats
	r.release()
	const most = 4 << 20 // bytes to keep for the next run
	if r.ctx, r.edit, r.lines.src = nil, nil, nil; cap(r.lines.buf)+cap(r.owned)+cap(r.spare)+cap(r.printed)+
		cap(r.appended) <= most {
		s.idle.Put(r)
	}
	return stats, err
}

// freely is the largest text of a line, in bytes, that runners may process in parallel. Only one runner at a time
// processes a larger line: it needs several times its size, and there may be as many runners as processors.
const freely = 1 << 20

// reserve waits for the turn of a runner whose line takes so many bytes. The error is from the context.
func (r *runner) reserve(size int) error {
	if size <= freely || r.alone {
		return nil
	}
	select {
	case r.s.long <- struct{}{}:
		r.alone = true
		return nil
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
}

// release returns the turn, and frees its memory.
func (r *runner) release() {
	if !r.alone {
		return
	}
	r.space, r.owned, r.spare, r.printed, r.appended = nil, nil, nil, nil, nil
	r.splices, r.substituting.out = nil, nil
	r.alone = false
	<-r.s.long
}

// often is how much work, in bytes and commands, is done between two checks of the context. A line counts as perLine,
// for the work on its changes.
const (
	often   = 1 << 18
	perLine = 64
)

// spend counts some work that was done. The error is from the context.
func (r *runner) spend(work int) error {
	if r.work += work; r.work < often {
		return nil
	}
	r.work = 0
	return r.ctx.Err()
}
