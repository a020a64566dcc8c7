package preview

import (
	"bytes"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/textdiff"
)

// newMarker returns a marker for a run of changed lines. It marks only the places within the lines if places has them
// all, otherwise whole lines. places are the places changed by the splices, nil if unknown.
func newMarker(r run, places []textdiff.Span) marker {
	if places == nil {
		return marker{whole: true}
	}
	before, now := r.text('-'), r.text('+')
	var m marker
	for _, p := range places[r.From:r.To] {
		if p.Old < r.Old || p.New < r.New || p.OldEnd > r.OldEnd || p.NewEnd > r.NewEnd {
			return marker{whole: true}
		}
		head, tail := alike(before[p.Old-r.Old:p.OldEnd-r.Old], now[p.New-r.New:p.NewEnd-r.New])
		m.old.places = append(m.old.places, [2]int{p.Old - r.Old + head, p.OldEnd - r.Old - tail})
		m.new.places = append(m.new.places, [2]int{p.New - r.New + head, p.NewEnd - r.New - tail})
	}
	return m
}

// alike returns the number of bytes that two texts have in common at the beginning and, in the rest, at the end, in
// whole characters.
func alike(a, b []byte) (head, tail int) {
	n := min(len(a), len(b))
	for head < n && a[head] == b[head] {
		head++
	}
	for head > 0 && (head < len(a) && !utf8.RuneStart(a[head]) || head < len(b) && !utf8.RuneStart(b[head])) {
		head--
	}
	for tail < n-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for tail > 0 && !utf8.RuneStart(a[len(a)-tail]) {
		tail--
	}
	return head, tail
}

// marker finds the marks of the changed lines of a run, line by line; the zero marker finds none.
type marker struct {
	whole    bool
	old, new markedSide
}

// markedSide is a side of the change: its places, and the offset of its next line, both relative to the beginning of
// the run.
type markedSide struct {
	places [][2]int
	at     int
}

func (m *marker) next(l textdiff.Line) [][2]int {
	body := len(bytes.TrimSuffix(l.Text, []byte("\n")))
	switch {
	case m.whole && body > 0:
		return [][2]int{{0, body}}
	case l.Op == '-':
		return m.old.next(l.Text, body)
	default:
		return m.new.next(l.Text, body)
	}
}

func (s *markedSide) next(line []byte, body int) [][2]int {
	var marks [][2]int
	for len(s.places) > 0 {
		from, to := max(0, s.places[0][0]-s.at), min(body, s.places[0][1]-s.at)
		if s.places[0][0] >= s.at+len(line) {
			break
		}
		// A mark has whole characters, except in invalid UTF-8.
		for n := 1; n < utf8.UTFMax && from > 0 && from < to && !utf8.RuneStart(line[from]); n++ {
			from--
		}
		for n := 1; n < utf8.UTFMax && from < to && to < body && !utf8.RuneStart(line[to]); n++ {
			to++
		}
		switch last := len(marks) - 1; {
		case from >= to:
		case last >= 0 && from <= marks[last][1]:
			marks[last][1] = max(to, marks[last][1])
		default:
			marks = append(marks, [2]int{from, to})
		}
		if s.places[0][1] > s.at+len(line) {
			break // it continues in the next line
		}
		s.places = s.places[1:]
	}
	s.at += len(line)
	return marks
}
