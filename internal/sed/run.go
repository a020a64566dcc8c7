package sed

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/millrace-go/millrace/internal/match"
)

// Edit takes one change of an input: its bytes from start to end become text. Changes come in order and do not
// overlap. The text is the runner's and must be copied to be kept. An error ends the run.
type Edit func(start, end int64, text []byte) error

// Bounds are what a run may come to at most. The zero Bounds has no limits.
type Bounds struct {
	// Replacements is the limit on substitutions. Zero means no limit. One more is ErrReplacements, before it is made.
	Replacements int
	// Text is how much text one line may become, with the copies of p and the texts of a, i and c, in bytes. Zero
	// means no limit. More is ErrText.
	Text int64
}

// ErrReplacements and ErrText say which of the Bounds of a run was met.
var (
	ErrReplacements = errors.New("too many substitutions")
	ErrText         = errors.New("too much text")
)

// LineError is a line that is longer than Options.MaxLine, or became so.
type LineError struct {
	Line int // from 1
	Max  int // bytes
}

// Error names the line and the limit.
func (e *LineError) Error() string {
	return fmt.Sprintf("line %d is longer than %d bytes", e.Line, e.Max)
}

// splice is one substitution in the line as it was read.
type splice struct{ start, end, from, to int } // the text is runner.space[from:to]

// runner is one run of a script over one input.
type runner struct {
	s      *Script
	ctx    context.Context
	work   int // done since the context was looked at
	bounds Bounds
	edit   Edit
	stats  Stats
	ranges []ranged
	last   *pattern
	lines  lines
	isLast bool           // the last line has been read
	bare   bool           // the line that was read last has no newline
	places []match.Places // where the texts are that the guards of the script need
	filled int            // the value of lines.fills that they are for

	space   []byte // the pattern space; the line itself as long as changes is 0
	owned   []byte // where the pattern space is, or was
	spare   []byte // where the next one will be
	changes int
	splices []splice // the changes, if it is one
	printed []byte   // what comes before the pattern space: by p, i and c, with newlines
	open    bool     // the newline at the end of printed counts only if something follows
	// The texts of a, which come after the pattern space.
	appended []byte
	alone    bool // the runner has the turn that script.long gives

	substituting substituting
}

// Apply runs the script over all that src gives and passes each change to edit. It holds a small multiple of the
// longest line in memory. The error is an [*Error], a [*LineError], [ErrReplacements] or [ErrText], that of src or of
// edit, or that of the context, which is looked at within a line too.
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

// freely is how large the text of a line may be, in bytes, while other runners are at theirs. A line that is larger, or
// gets so, is worked at alone: it takes several times its size, and there may be as many runners as processors.
const freely = 1 << 20

// reserve waits for the turn of a runner whose line takes so many bytes. The error is that of the context.
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

// release gives the turn back, and the memory that it was for.
func (r *runner) release() {
	if !r.alone {
		return
	}
	r.space, r.owned, r.spare, r.printed, r.appended = nil, nil, nil, nil, nil
	r.splices, r.substituting.out = nil, nil
	r.alone = false
	<-r.s.long
}

// often is how much work, in bytes and commands, is done between two looks at the context. A line counts perLine, for
// what becomes of its changes.
const (
	often   = 1 << 18
	perLine = 64
)

// spend counts some work that was done. The error is that of the context.
func (r *runner) spend(work int) error {
	if r.work += work; r.work < often {
		return nil
	}
	r.work = 0
	return r.ctx.Err()
}
