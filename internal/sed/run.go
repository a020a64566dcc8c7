package sed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/match"
)

// Edit takes one change of an input: its bytes from start to end become text. Changes come in order and do not
// overlap. The text is the runner's and must be copied to be kept. An error ends the run.
type Edit func(start, end int64, text []byte) error

// Bounds are what a run may come to at most. The zero Bounds has no limits.
type Bounds struct {
	// Replacements is how many substitutions are made. Zero means that there is no limit. One more is ErrReplacements,
	// before it is made.
	Replacements int
	// Text is how much text one line may become, with the copies that p prints, in bytes. Zero means that there is no
	// limit. More is ErrText.
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
	isLast bool           // the line is the last one
	places []match.Places // where the texts are that the guards of the script need
	filled int            // the value of lines.fills that they are for

	space   []byte // the pattern space; the line itself as long as changes is 0
	owned   []byte // where the pattern space is, or was
	spare   []byte // where the next one will be
	changes int
	splices []splice // the changes, if it is one
	printed []byte   // by p, with newlines
	alone   bool     // the runner has the turn that script.long gives

	substituting substituting
}

// Apply runs the script over all that src gives and passes each change to edit. What it holds in memory is a small
// multiple of the longest line. The error is an [*Error], a [*LineError], [ErrReplacements] or [ErrText], that of src
// or of edit, or that of the context, which is looked at within a line too.
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
	if r.ctx, r.edit, r.lines.src = nil, nil, nil; cap(r.lines.buf)+cap(r.owned)+cap(r.spare)+cap(r.printed) <= most {
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
	r.space, r.owned, r.spare, r.printed, r.splices, r.substituting.out = nil, nil, nil, nil, nil, nil
	r.alone = false
	<-r.s.long
}

// often is how much work, in bytes and commands, is done between two looks at the context. A line counts perLine, for
// what becomes of its changes.
const (
	often   = 1 << 18
	perLine = 64
)

// spend tells of some work that was done. The error is that of the context.
func (r *runner) spend(work int) error {
	if r.work += work; r.work < often {
		return nil
	}
	r.work = 0
	return r.ctx.Err()
}

func (r *runner) run() error {
	for {
		if err := r.spend(perLine); err != nil {
			return err
		}
		if len(r.places) > 0 {
			r.skip()
		}
		line, at, err := r.lines.line(r.s.maxLine)
		if err != nil || len(line) == 0 {
			return err
		}
		r.stats.Lines++
		r.isLast = r.lines.last()
		n := len(line)
		if line[n-1] == '\n' {
			n--
		}
		if n > r.s.maxLine {
			return &LineError{r.stats.Lines, r.s.maxLine}
		}
		if err := r.reserve(n); err != nil {
			return err
		}
		if err := r.line(line, n, at); err != nil {
			return err
		}
		r.release()
	}
}

// skip leaves out the next lines as far as they are known to have no text that a guard needs.
func (r *runner) skip() {
	l := &r.lines
	if r.filled != l.fills {
		r.filled = l.fills
		for i, re := range r.s.guards {
			r.places[i].Reset(re, l.buf)
		}
	}
	first := len(l.buf)
	for i := range r.places {
		if at := r.places[i].Next(l.next); at >= 0 {
			first = min(first, at)
		}
	}
	passed := l.buf[l.next:first]
	if first < len(l.buf) || !l.end {
		passed = passed[:bytes.LastIndexByte(passed, '\n')+1]
	}
	l.next += len(passed)
	r.work += len(passed)
	r.stats.Lines += bytes.Count(passed, []byte{'\n'})
	if n := len(passed); n > 0 && passed[n-1] != '\n' {
		r.stats.Lines++
	}
}

// line runs the script over one line, of which the first n bytes are not its newline.
func (r *runner) line(line []byte, n int, base int64) error {
	r.space, r.changes = line[:n:n], 0
	r.splices, r.printed = r.splices[:0], r.printed[:0]
	deleted, err := r.commands()
	if err != nil {
		return err
	}
	if deleted || r.s.quiet {
		if n == len(line) && len(r.printed) > 0 {
			r.printed = r.printed[:len(r.printed)-1]
		}
		return r.replace(line, r.printed, base)
	}
	if len(r.printed) > 0 {
		if err := r.edit(base, base, r.printed); err != nil {
			return err
		}
	}
	if r.changes != 1 || len(r.splices) == 0 {
		return r.replace(line[:n], r.space, base)
	}
	for _, s := range r.splices {
		text := r.space[s.from:s.to]
		if bytes.Equal(line[s.start:s.end], text) {
			continue
		}
		if err := r.edit(base+int64(s.start), base+int64(s.end), text); err != nil {
			return err
		}
	}
	return nil
}

// replace gives away what has to be changed of old to make it text.
func (r *runner) replace(old, text []byte, base int64) error {
	if bytes.Equal(old, text) {
		return nil
	}
	start, most := 0, min(len(old), len(text))
	for start < most && old[start] == text[start] {
		start++
	}
	end := 0
	for end < most-start && old[len(old)-1-end] == text[len(text)-1-end] {
		end++
	}
	return r.edit(base+int64(start), base+int64(len(old)-end), text[start:len(text)-end])
}

// commands runs the script over the pattern space. It reports whether d ended it.
func (r *runner) commands() (deleted bool, err error) {
	for i := 0; i < len(r.s.commands); i++ {
		if err := r.spend(1); err != nil {
			return false, err
		}
		c := &r.s.commands[i]
		selected := true
		if c.from.kind != addrNone {
			if selected, err = r.selected(i); err != nil {
				return false, err
			}
		}
		if selected == c.not {
			if c.name == '{' {
				i = c.end
			}
			continue
		}
		switch c.name {
		case 'd':
			return true, nil
		case 'p':
			err = r.print()
		case 'y':
			err = r.transliterate(c)
		case 's':
			err = r.substitute(c)
		}
		switch {
		case err != nil:
			return false, err
		case len(r.space) > r.s.maxLine:
			return false, &LineError{r.stats.Lines, r.s.maxLine}
		}
	}
	return false, nil
}

func (r *runner) print() error {
	size := len(r.printed) + len(r.space) + 1
	switch {
	case r.bounds.Text > 0 && int64(size) > r.bounds.Text:
		return ErrText
	case size/16 > r.s.maxLine:
		return &LineError{r.stats.Lines, r.s.maxLine}
	}
	if err := r.reserve(size); err != nil {
		return err
	}
	r.printed = append(append(r.printed, r.space...), '\n')
	return r.spend(len(r.space))
}

// become makes space the pattern space.
func (r *runner) become(space []byte) {
	r.space = space
	r.owned, r.spare = space, r.owned
	r.changes++
}

func (r *runner) transliterate(c *command) error {
	out := slices.Grow(r.spare[:0], len(r.space))
	for b := r.space; len(b) > 0; {
		_, n := utf8.DecodeRune(b)
		if to, ok := c.letters[string(b[:n])]; ok {
			out = append(out, to...)
		} else {
			out = append(out, b[:n]...)
		}
		b = b[n:]
	}
	if bytes.Equal(out, r.space) {
		r.spare = out
		return r.spend(len(out))
	}
	r.become(out)
	r.splices = r.splices[:0]
	r.changes++ // more than one place, at once
	return r.spend(len(out))
}
