// Package placing finds the places of the hunks of a patch in the text of a file.
//
// Context lines are never rewritten: the result is splices only for the added and removed lines of a hunk. The number
// of comparisons is limited.
package placing

import (
	"cmp"
	"context"
	"errors"

	"github.com/millrace-go/millrace/internal/patch"
)

// Settings are the tolerances of placing.
type Settings struct {
	Format    patch.Format
	Tolerance Level
	Fuzz      int  // context lines at both ends that may differ
	Nearest   bool // of several places, the nearest is used
}

// Placed is the result for a hunk.
type Placed struct {
	At      int // the first of its lines, from 0
	Moved   int // number of lines below the stated line, negative for above
	Level   Level
	Fuzz    int
	Done    bool // its new lines were there already
	Err     error
	Splices []patch.Splice
}

// placing is the work on the hunks of one file.
type placing struct {
	*Text
	Settings
	ctx     context.Context
	steps   *Steps
	hunks   []patch.Hunk
	effects []byte // of the present hunk
	marks   []bool // which old lines of the present hunk begin with a byte order mark; nil if no line could
	first   bool   // the first of them was the first line of its file, and is only context
	offset  int    // how far below its stated line the hunk before was found
	delta   int    // how many lines the hunks before have added
	cursor  int    // the line after the hunk before
}

// candidate is a place at which a hunk fits.
type candidate struct {
	at     int // its first line, even if that line may differ
	indent shift
}

// Place finds the places of the hunks of a file, and their changes. All of them refer to the original text. The error
// is a limit or from the context; the problem of a hunk is in its Placed.
func (t *Text) Place(ctx context.Context, f *patch.File, s Settings, steps *Steps) ([]Placed, error) {
	t.exact = f.Mixed
	if err := steps.Take(ctx, t.lines()); err != nil {
		return nil, err
	}
	p := &placing{Text: t, Settings: s, ctx: ctx, steps: steps, hunks: f.Hunks}
	if len(f.Hunks) > 1 {
		t.taken = make([]uint8, t.lines()+1)
	}
	all := make([]Placed, len(f.Hunks))
	for i := range f.Hunks {
		h := &f.Hunks[i]
		if err := steps.Take(ctx, h.OldLines+h.Added); err != nil {
			return nil, err
		}
		if t.taken != nil {
			p.effects = effectsOf(h)
		}
		p.marks, p.first = t.marksOf(h), h.OldStart <= 1 && h.Lead > 0
		placed, err := p.hunk(h)
		if err != nil {
			return nil, err
		}
		all[i] = placed
	}
	return all, nil
}

// hunk places one hunk.
func (p *placing) hunk(h *patch.Hunk) (Placed, error) {
	from := p.cursor
	if s := p.Format; s != patch.ApplyPatch {
		from = 0
	}
	stated, start := -1, -1 // its stated place, and where git would start looking
	if h.Numbered {
		stated = h.OldStart - 1
		if h.OldLines == 0 {
			stated = h.OldStart
		}
		start = h.NewStart - 1
		if h.NewLines == 0 {
			start = h.NewStart
		}
		start -= p.delta
		stated += p.offset
	}
	if len(h.Anchors) > 0 {
		line, missing, err := p.anchors(h, from)
		if err != nil || missing != "" {
			return Placed{Err: &AnchorError{Text: missing}}, err
		}
		from = line
	}
	var old []string
	if h.OldLines <= p.lines() {
		old = p.texts(h, '+')
	}
	if h.Removed == 0 && p.Format != patch.Unified {
		done, at, err := p.already(h, from, stated)
		if err != nil {
			return Placed{}, err
		}
		if done {
			p.cursor = at + h.NewLines
			return Placed{At: at, Done: true}, nil
		}
	}
	if h.OldLines == 0 {
		return p.bare(h, from, stated), nil
	}
	for fuzz := 0; fuzz <= p.Fuzz && old != nil; fuzz++ {
		lead, trail := dropped(h, fuzz)
		if fuzz > 0 && (lead+trail == 0 || lead+trail >= len(old)) {
			break
		}
		for level := None; level <= p.Tolerance; level++ {
			c, found, err := p.at(h, old, lead, trail, level, from, stated, start)
			if several, ok := errors.AsType[*AmbiguousError](err); ok {
				return Placed{Err: several}, nil
			}
			if err != nil {
				return Placed{}, err
			}
			if !found {
				continue
			}
			moved := 0
			if h.Numbered {
				moved = c.at - (stated - p.offset)
				p.offset = moved
			}
			splices := p.splices(h, c)
			p.take(c.at)
			p.delta += h.NewLines - h.OldLines
			p.cursor = c.at + h.OldLines
			return Placed{At: c.at, Moved: moved, Level: level, Fuzz: fuzz, Splices: splices}, nil
		}
	}
	done, at, err := p.already(h, from, stated)
	if err != nil {
		return Placed{}, err
	}
	if done {
		p.cursor = at + h.NewLines
		return Placed{At: at, Done: true}, nil
	}
	why, err := p.explain(h, old, stated)
	return Placed{Err: why}, err
}

// dropped returns how many context lines of a hunk may differ, at its beginning and at its end.
func dropped(h *patch.Hunk, fuzz int) (lead, trail int) {
	longer := max(h.Lead, h.Trail)
	return max(0, fuzz+h.Lead-longer), max(0, fuzz+h.Trail-longer)
}

// texts returns the lines of a hunk in the form for comparing, without the lines of the operation but.
func (p *placing) texts(h *patch.Hunk, but byte) []string {
	lines := make([]string, 0, max(h.OldLines, h.NewLines))
	for l := range h.Lines() {
		if l.Op != but {
			lines = append(lines, p.wanted(l))
		}
	}
	return lines
}

// bare places a hunk that only has added lines.
func (p *placing) bare(h *patch.Hunk, from, stated int) Placed {
	at := stated
	switch {
	case p.Format == patch.ApplyPatch && len(h.Anchors) > 0 && !h.AtEnd:
		at = from
	case p.Format != patch.Unified || h.AtEnd && !h.Numbered:
		at = p.lines()
	case !h.Numbered:
		return Placed{Err: ErrNoContext}
	case p.lines() == 0:
		at = 0
	}
	if h.AtEnd && at != p.lines() {
		return Placed{Err: &OutsideError{Line: at + 1, Lines: p.lines(), Last: true}}
	}
	if at < 0 || at > p.lines() || p.clashes(at) {
		return Placed{Err: &OutsideError{Line: at + 1, Lines: p.lines()}}
	}
	splices := p.splices(h, candidate{at: at})
	p.take(at)
	p.delta += h.NewLines
	p.cursor = at
	return Placed{At: at, Splices: splices}
}

// at looks for the only place of a hunk at a level, ignoring its first lead and its last trail lines.
func (p *placing) at(
	h *patch.Hunk, old []string, lead, trail int, level Level, from, stated, start int,
) (c candidate, found bool, err error) {
	run := old[lead : len(old)-trail]
	var failed error
	fits := func(at int) (c candidate, ok bool) {
		c.at = at
		if at < from || at < 0 || at+len(old) > p.lines() || p.clashes(at) ||
			!p.anchored(h, at, stated, lead, trail) || !p.sameMarks(at, lead, trail) {
			return c, false
		}
		if level >= Indent {
			c.indent, ok, failed = p.shift(h, run, at+lead)
			return c, ok && failed == nil
		}
		return c, true
	}
	here := false
	if h.Numbered && p.same(run, stated+lead, level) {
		c, here = fits(stated)
	}
	var ends []patch.End
	if here {
		ends = endsOf(h)
	}
	wrongEnds := here && !p.sameEnds(ends, stated)
	atEnd := stated+len(old) == p.lines()
	if here && (start == stated || h.OldStart == 1 && stated == 0) && !wrongEnds && (h.Trail > 0 || atEnd) {
		return c, true, nil
	}
	if h.Numbered && h.Lead+h.Trail == 0 {
		return c, here, failed // only the line number identifies the place
	}
	x, err := p.Text.index(p.ctx, p.hunks, level, p.steps)
	if err != nil {
		return c, false, err
	}
	var several AmbiguousError
	best := c
	rival, stop := false, len(h.Anchors) > 0
	err = x.each(p.ctx, level, run, p.steps, func(first int) bool {
		other, ok := fits(first - lead)
		if !ok {
			return failed == nil
		}
		several.add(other.at + 1)
		if here && other.at != stated {
			rival = rival || near(other.at, start) <= near(stated, start) || wrongEnds && p.sameEnds(ends, other.at) ||
				h.Trail == 0 && h.OldStart > 1 && other.at+len(old) == p.lines()
		}
		if !here && (!found || near(other.at, stated) < near(best.at, stated) ||
			near(other.at, stated) == near(best.at, stated) && other.at > best.at) {
			best, found = other, true
		}
		return !stop
	})
	switch err = cmp.Or(err, failed); {
	case err != nil:
		return c, false, err
	case here && (!rival || p.Nearest):
		return c, true, nil
	case here, several.Count > 1 && !(p.Nearest && h.Numbered):
		return c, false, &several
	}
	return best, found, nil
}

func near(a, b int) int { return max(a-b, b-a) }

// anchored reports whether a hunk may be at a line. A hunk that only adds lines, without context before or after them,
// must begin or end the file, because otherwise its place after it was applied could not be distinguished. But if its
// stated line is not the first, it may be exactly at its stated line. A hunk with the last line of a file, without a
// line end, must be at the end.
func (p *placing) anchored(h *patch.Hunk, at, stated, lead, trail int) bool {
	if h.AtEnd && at+h.OldLines != p.lines() {
		return false
	}
	if p.Format != patch.Unified || h.Removed > 0 || lead+trail > 0 {
		return true
	}
	return (h.Lead > 0 || at == 0 || at == stated && h.OldStart > 1) && (h.Trail > 0 || at+h.OldLines == p.lines())
}

// anchors finds the lines that a hunk names, one after the other, and returns the line after the last of them.
func (p *placing) anchors(h *patch.Hunk, from int) (line int, missing string, err error) {
	for _, anchor := range h.Anchors {
		found := false
		for level := None; level <= p.Tolerance && !found; level++ {
			x, err := p.Text.index(p.ctx, p.hunks, level, p.steps)
			if err != nil {
				return 0, "", err
			}
			err = x.each(p.ctx, level, []string{anchor}, p.steps, func(at int) bool {
				if at >= from {
					from, found = at+1, true
				}
				return !found
			})
			if err != nil {
				return 0, "", err
			}
		}
		if !found {
			return 0, anchor, nil
		}
	}
	return from, "", nil
}
