package textdiff

import "bytes"

// maxSlide is the largest number of lines by which a change is moved to a better place.
const maxSlide = 256

// compact moves insertions and deletions that could be a few lines higher or lower, as when a line is added to a
// sequence of equal lines: first to a neighbour that they can touch, so that there are fewer changes to read, then to
// the beginning of a new part of the text. The number of changed lines does not change. The result reuses cores; it is
// nil if the comparison was cancelled.
func (t texts) compact(cores []Core) []Core {
	up := cores[:0]
	for i, c := range cores {
		if t.ended(i) {
			return nil
		}
		for n := 0; ; n++ {
			if len(up) > 0 && up[len(up)-1].touches(c) {
				c = up[len(up)-1].merge(c)
				up = up[:len(up)-1]
			}
			if n == maxSlide || !t.slideUp(&c) {
				break
			}
		}
		up = append(up, c)
	}
	down := up[:0]
	for i := 0; i < len(up); i++ {
		c := up[i]
		if t.ended(i) {
			return nil
		}
		for n := 0; ; n++ {
			for i+1 < len(up) && c.touches(up[i+1]) {
				i++
				c = c.merge(up[i])
			}
			if n == maxSlide || !t.slideDown(&c) {
				break
			}
		}
		down = append(down, t.place(c, down))
	}
	return down
}

func (c Core) touches(next Core) bool { return c.OldEnd == next.Old && c.NewEnd == next.New }

// merge joins c and the next Core, which it touches.
func (c Core) merge(next Core) Core {
	c.OldLines += next.OldLines
	c.NewLines += next.NewLines
	c.OldEnd, c.NewEnd = next.OldEnd, next.NewEnd
	return c
}

// shift moves a core by lines with n bytes together, down if lines and n are positive.
func (c *Core) shift(lines, n int) {
	c.OldLine += lines
	c.NewLine += lines
	c.Old += n
	c.OldEnd += n
	c.New += n
	c.NewEnd += n
}

// side returns the text in which an insertion or a deletion has lines, and their offsets; ok is false if c is both.
func (t texts) side(c Core) (text Source, off, end int, ok bool) {
	switch {
	case c.OldLines == 0:
		return t.new, c.New, c.NewEnd, true
	case c.NewLines == 0:
		return t.old, c.Old, c.OldEnd, true
	default:
		return nil, 0, 0, false
	}
}

// slideUp moves c up by one line if the difference stays the same. c must not touch the core before it: so the line
// above c is common to both texts. A last line without a line end does not equal any other line.
func (t texts) slideUp(c *Core) bool {
	text, off, end, ok := t.side(*c)
	if !ok {
		return false
	}
	last := text.slice(text.lineStart(0, end-1), end)
	above := off - len(last)
	if above < 0 || !bytes.Equal(text.slice(above, off), last) || !startsLine(text, above) {
		return false
	}
	c.shift(-1, -len(last))
	return true
}

// slideDown moves c down by one line if the difference stays the same. c must not touch the core after it.
func (t texts) slideDown(c *Core) bool {
	text, off, end, ok := t.side(*c)
	if !ok {
		return false
	}
	first := text.slice(off, lineEnd(text, off, text.Size()))
	if len(first) > text.Size()-end || !bytes.Equal(text.slice(end, end+len(first)), first) {
		return false
	}
	c.shift(1, len(first))
	return true
}

// place moves c, which is as low as possible, up to the place with the best edges, without touching the core above.
func (t texts) place(c Core, above []Core) Core {
	best := c
	score := t.cost(c)
	for range maxSlide {
		if !t.slideUp(&c) || len(above) > 0 && above[len(above)-1].touches(c) {
			break
		}
		if s := t.cost(c); s < score {
			best, score = c, s
		}
	}
	return best
}

// cost rates the two edges of an insertion or a deletion, high for bad edges; the cost of another change does not
// matter.
func (t texts) cost(c Core) int {
	text, off, end, ok := t.side(c)
	if !ok {
		return 0
	}
	return edgeCost(text, off) + edgeCost(text, end)
}

// edgeCost rates a cut of the text at off, the beginning of a line. A cut is best before a line with little indentation
// and a blank line above it. It is worse before a blank line, or before a line that closes a block.
func edgeCost(text Source, off int) int {
	if off == 0 || off == text.Size() {
		return 0
	}
	above, aboveBlank := indent(text.slice(text.lineStart(0, off-1), off))
	line := text.slice(off, lineEnd(text, off, text.Size()))
	below, belowBlank := indent(line)
	if belowBlank {
		next := off + len(line)
		below, _ = indent(text.slice(next, lineEnd(text, next, text.Size())))
	}
	cost := 4 * below
	switch {
	case aboveBlank && !belowBlank:
		cost -= 3
	case belowBlank:
		cost++
	case below < above:
		cost += 3
	}
	return cost
}

// maxIndent is the largest indentation that is compared; deeper indentation makes a cut no worse.
const maxIndent = 200

// indent returns the number of columns by which a line is indented; a tab extends to the next multiple of 8.
func indent(line []byte) (columns int, blank bool) {
	for _, c := range line {
		switch c {
		case ' ':
			columns++
		case '\t':
			columns += 8 - columns%8
		case '\r', '\n', '\v', '\f':
		default:
			return columns, false
		}
		if columns >= maxIndent {
			return maxIndent, false
		}
	}
	return 0, true
}
