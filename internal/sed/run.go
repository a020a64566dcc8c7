package sed

import (
	"bytes"
	std "context"
	"errors"
	"fmt"
	"slices"
)

// Edit takes one change of an input: its bytes from start to end become text. Changes come in order and do not overlap. The
// text is the runner's and must be copied to be kept. An error ends the run.
type Edit func(start, end int64, text []byte) error

// Bounds are what a run may come to at most. The zero Bounds has no limits.
type Bounds struct {
	// Replacements is how many substitutions are made. Zero means that there is no limit. One more is ErrReplacements, before
	// it is made.
	Replacements int
	// Text is how much text one line may become, with the copies that p prints, in bytes. Zero means that there is no limit. More is
	// ErrText.
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
type splice struct{ start, end, from, to int } // text is runner.texts[from:to]

// runner is one run of a script over one input.
type runner struct {
	s        *Script
	clock    *clock
	bounds   Bounds
	edit     Edit
	stats    Stats
	ranges   []ranged
	last     *pattern
	machines map[*posix]*machine
	hits     []int // where the text a command needs was found last, for plain scripts
	caps     []int

	space   []byte // the pattern space; the line itself as long as changes is 0
	owned   []byte // where the pattern space is, or was
	spare   []byte // where the next one will be
	changes int
	splices []splice // the changes, if it is one
	texts   []byte
	printed []byte // by p, with newlines
	isLast  bool
}

func (s *Script) run(ctx std.Context, bounds Bounds, edit Edit) *runner {
	r := &runner{s: s, clock: &clock{ctx: ctx}, bounds: bounds, edit: edit, ranges: make([]ranged, len(s.commands)), machines: make(map[*posix]*machine)}
	for i, c := range s.commands {
		r.ranges[i].active = c.to.kind != addrNone && c.from.kind == addrLine && c.from.n == 0
	}
	if s.plain {
		r.hits = make([]int, len(s.commands))
	}
	return r
}

func (r *runner) close() {
	for re, m := range r.machines {
		re.done(m)
	}
}

func (r *runner) machineOf(re *posix) *machine {
	m, ok := r.machines[re]
	if !ok {
		m = re.machine(r.clock)
		r.machines[re] = m
	}
	return m
}

// text runs the script over all lines of b.
func (r *runner) text(b []byte) error {
	for at := 0; at < len(b); {
		if !r.clock.spend(1) {
			return r.clock.err
		}
		if r.s.plain {
			if to := r.skip(b, at); to > at {
				r.stats.Lines += bytes.Count(b[at:to], []byte{'\n'})
				if to == len(b) && b[to-1] != '\n' {
					r.stats.Lines++
				}
				at = to
				continue
			}
		}
		end := bytes.IndexByte(b[at:], '\n')
		next := at + end + 1
		if end < 0 {
			end, next = len(b)-at, len(b)
		}
		r.stats.Lines++
		r.isLast = next == len(b)
		if end > r.s.maxLine {
			return &LineError{r.stats.Lines, r.s.maxLine}
		}
		if err := r.line(b[at:next], end, int64(at)); err != nil {
			return err
		}
		at = next
	}
	return nil
}

// skip returns where the first line begins that has some text that a command needs, of those at or after at.
func (r *runner) skip(b []byte, at int) int {
	first := len(b)
	for i, c := range r.s.commands {
		if r.hits[i] <= at {
			if k := bytes.Index(b[at:], c.subst.re.must()); k >= 0 {
				r.hits[i] = at + k + 1 // 0 is not known
			} else {
				r.hits[i] = len(b) + 1
			}
		}
		first = min(first, r.hits[i]-1)
	}
	if first == len(b) {
		return first
	}
	return at + bytes.LastIndexByte(b[at:first], '\n') + 1
}

// line runs the script over one line, of which the first n bytes are not its newline.
func (r *runner) line(line []byte, n int, base int64) error {
	r.space, r.changes = line[:n:n], 0
	r.splices, r.texts, r.printed = r.splices[:0], r.texts[:0], r.printed[:0]
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
		text := r.texts[s.from:s.to]
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
		if !r.clock.spend(1) {
			return false, r.clock.err
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
			r.transliterate(c)
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
	r.clock.spend(len(r.space))
	r.printed = append(append(r.printed, r.space...), '\n')
	return nil
}

// become makes space the pattern space.
func (r *runner) become(space []byte) {
	r.space = space
	r.owned, r.spare = space, r.owned
	r.changes++
}

// transliterate runs a y.
func (r *runner) transliterate(c *command) {
	r.clock.spend(len(r.space))
	out := slices.Grow(r.spare[:0], len(r.space))
	for b := r.space; len(b) > 0; {
		u, n := decode(b, false)
		if to, ok := c.letters[u]; ok {
			out = append(out, to...)
		} else {
			out = append(out, b[:n]...)
		}
		b = b[n:]
	}
	if bytes.Equal(out, r.space) {
		r.spare = out
		return
	}
	r.become(out)
	r.splices = r.splices[:0]
	r.changes++ // more than one place, at once
}
