package textdiff

import "bytes"

// maxSlide bounds how many lines a change is moved up or down in search of a better place.
const maxSlide = 256

// compact moves insertions and deletions that could as well stand a few lines higher or lower, as when a line is
// added to a run of equal ones: first together with a neighbour where they can touch, so that there are fewer changes
// to read, then to where the text begins a new part. The number of changed lines stays the same. The result reuses
// cores; it is nil if the comparison was cancelled.
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

// merge returns c and the next Core, which it touches, as one.
func (c Core) merge(next Core) Core {
	c.OldLines += next.OldLines
	c.NewLines += next.NewLines
	c.OldEnd, c.NewEnd = next.OldEnd, next.NewEnd
	return c
}

// shift moves a core by lines that are n bytes long together, down if lines and n are positive.
func (c *Core) shift(lines, n int) {
	c.OldLine += lines
	c.NewLine += lines
	c.Old += n
	c.OldEnd += n
	c.New += n
	c.NewEnd += n
}

// side returns the text that an insertion or a deletion has lines in, and which; ok is false if c is both.
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

// slideUp moves c up by one line if that leaves the difference the same. The caller sees to it that c does not touch
// the core before it: the line above c is common to both texts then. A last line without a line end equals no other.
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

// slideDown moves c down by one line if that leaves the difference the same. c must not touch the core behind it.
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

// place moves c, which stands as low as it can, up to where its edges fall best, short of touching the last core above.
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

// cost rates how badly the two edges of an insertion or a deletion fall; the cost of another change does not matter.
func (t texts) cost(c Core) int {
	text, off, end, ok := t.side(c)
	if !ok {
		return 0
	}
	return edgeCost(text, off) + edgeCost(text, end)
}

// edgeCost rates a cut of the text at off, the beginning of a line. A cut is best before a line with little indent and
// a blank line above it. It is worse before a blank line, or before a line that closes a block.
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

// maxIndent bounds how much white space is looked at; a deeper indent makes a cut no worse.
const maxIndent = 200

// indent returns how many columns a line is indented by, a tab going to the next multiple of 8.
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
