package placing

import (
	"bytes"
	"strings"

	"github.com/millrace-go/millrace/internal/patch"
)

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

// endsOf returns the line ends of the lines of a hunk that must be in the file.
func endsOf(h *patch.Hunk) (ends []patch.End) {
	for l := range h.Lines() {
		if l.Op != '+' {
			ends = append(ends, l.End)
		}
	}
	return ends
}

// sameEnds reports whether the lines of the file have these line ends.
func (p *placing) sameEnds(ends []patch.End, at int) bool {
	for i, want := range ends {
		if _, end := p.line(at + i); end != want {
			return false
		}
	}
	return true
}

// marksOf returns, for each line of a hunk that must be in the file, whether it begins with a byte order mark. It
// returns nil if neither the hunk nor the file has such a mark. A mark at the beginning of the file does not count.
func (t *Text) marksOf(h *patch.Hunk) (marks []bool) {
	some := t.marked
	for l := range h.Lines() {
		some = some || l.Op != '+' && strings.HasPrefix(l.Text, bom)
	}
	if !some {
		return nil
	}
	for l := range h.Lines() {
		if l.Op != '+' {
			marks = append(marks, strings.HasPrefix(l.Text, bom))
		}
	}
	return marks
}

// sameMarks reports whether the lines of the file have the byte order marks of the hunk. It ignores the first line of
// the file, where an editor may have added a mark.
func (p *placing) sameMarks(at, lead, trail int) bool {
	for i := lead; i < len(p.marks)-trail; i++ {
		if at+i == 0 || i == 0 && p.first {
			continue
		}
		if line, _ := p.line(at + i); bytes.HasPrefix(line, []byte(bom)) != p.marks[i] {
			return false
		}
	}
	return true
}
