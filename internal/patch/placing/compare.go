package placing

import "github.com/millrace-go/millrace/internal/patch"

// same reports whether lines are at a place, compared one by one.
func (p *placing) same(run []string, at int, level Level) bool {
	if at < 0 || at+len(run) > p.lines() {
		return false
	}
	var a, b []byte
	for i, want := range run {
		have := p.compared(at + i)
		if level == None {
			if string(have) != want {
				return false
			}
			continue
		}
		a, b = level.key(a[:0], have), level.key(b[:0], []byte(want))
		if string(a) != string(b) {
			return false
		}
	}
	return true
}

// sameEnds reports whether the lines of the file have the line ends of the hunk.
func (p *placing) sameEnds(h *patch.Hunk, at int) bool {
	for l := range h.Lines() {
		if l.Op == '+' {
			continue
		}
		if _, end := p.line(at); end != l.End {
			return false
		}
		at++
	}
	return true
}
