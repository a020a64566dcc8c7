package placing

import (
	"strings"

	"github.com/millrace-go/millrace/internal/patch"
)

// group is a sequence of removed and added lines without context lines.
type group struct {
	start   int // the first removed line, or the line before which the added lines come
	removed int
	text    []byte
	last    patch.Line // the last added line
	end     patch.End  // its line end in the file
}

// splices returns the changes of a hunk at a place, in ascending order.
func (p *placing) splices(h *patch.Hunk, c candidate) []patch.Splice {
	var list []patch.Splice
	at, oldNoEnd := c.at, false
	keepsBOM := p.bom
	if p.bom && at == 0 {
		for l := range h.Lines() {
			if l.Op != '+' {
				keepsBOM = !strings.HasPrefix(l.Text, bom)
				break
			}
		}
	}
	for l := range h.Lines() {
		oldNoEnd = oldNoEnd || l.Op != '+' && l.End == patch.NoEnd
	}
	g := group{start: at}
	flush := func() {
		if s, ok := p.splice(h, &g, oldNoEnd, keepsBOM); ok {
			list = append(list, s)
		}
		g = group{start: at}
	}
	for l := range h.Lines() {
		switch l.Op {
		case '-':
			g.removed++
			at++
		case '+':
			text := c.indent.apply(l.Text)
			if keepsBOM && g.start == 0 && len(g.text) == 0 {
				text = strings.TrimPrefix(text, bom)
			}
			g.end = p.endOf(h, &g, l, c.at)
			g.last = l
			g.text = append(append(g.text, text...), g.end.String()...)
		default:
			flush()
			at++
			g.start = at
		}
	}
	flush()
	return list
}

// endOf returns the line end of an added line: the line end of the whole file, or of the replaced line, or of the lines
// around it. If a patch has both kinds of line ends, they are used as they are.
func (p *placing) endOf(h *patch.Hunk, g *group, l patch.Line, first int) patch.End {
	own := l.End
	if own == patch.NoEnd {
		own = patch.LF // whether it is kept is decided when the place is known to be the last
	}
	switch {
	case p.exact:
		return own
	case p.only != patch.NoEnd:
		return p.only
	case h.OldLines == 0:
		return own
	}
	for _, i := range []int{g.start + max(g.removed-1, 0), g.start - 1, g.start} {
		if i >= first && i < first+h.OldLines {
			if _, end := p.line(i); end != patch.NoEnd {
				return end
			}
		}
	}
	return own
}

// splice returns the change of a group in the bytes of the file.
func (p *placing) splice(h *patch.Hunk, g *group, oldNoEnd, keepsBOM bool) (s patch.Splice, ok bool) {
	if g.removed == 0 && len(g.text) == 0 && g.last == (patch.Line{}) {
		return s, false
	}
	from, to := int64(p.starts[g.start]), int64(p.starts[g.start+g.removed])
	if keepsBOM && g.start == 0 {
		from, to = int64(len(bom)), max(to, int64(len(bom)))
	}
	text := g.text
	if g.start+g.removed == p.lines() && g.last != (patch.Line{}) {
		if p.unended(h, g, oldNoEnd) {
			text = text[:len(text)-len(g.end.String())]
		}
		if g.removed == 0 && !p.ended {
			text = append([]byte(g.end.String()), text...) // the line before has no line end yet
		}
	}
	return patch.Splice{Off: from, Len: to - from, Text: text}, true
}

// unended reports whether the last line of the file, which is added, has no line end. The marker in a patch decides,
// unless the old line has the marker too: then the patch does not change that, and the file decides.
func (p *placing) unended(h *patch.Hunk, g *group, oldNoEnd bool) bool {
	switch {
	case h.OldLines == 0 && p.lines() == 0:
		return g.last.End == patch.NoEnd
	case g.last.End == patch.NoEnd:
		return !oldNoEnd || !p.ended
	}
	return !oldNoEnd && !p.ended
}
