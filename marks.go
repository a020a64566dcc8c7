package millrace

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// noNewline follows a line without a line end, as in git's format.
const noNewline = "\\ No newline at end of file\n"

// hunksToShow makes hunks of the places at which the two sides of a change differ.
func hunksToShow(c fsutil.Change, list []textdiff.Hunk) []Hunk {
	who := authorsOf(c)
	places := regions(c.Splices)
	var hunks []Hunk
	for _, h := range list {
		shown := Hunk{OldStart: h.OldStart, OldLines: h.OldLines, NewStart: h.NewStart, NewLines: h.NewLines}
		var all []fsutil.Splice
		for i, core := range h.Cores {
			splices := c.Splices[core.From:core.To]
			shown.by = append(shown.by, who.of(splices))
			if len(h.Cores) > 1 && (i == 0 || core.From != h.Cores[i-1].From) {
				all = append(all, splices...)
			}
		}
		if shown.By = slices.Clone(shown.by[0]); len(h.Cores) > 1 {
			shown.By = who.of(all)
		}
		shown.Text, shown.marks = textOf(h, places)
		hunks = append(hunks, shown)
	}
	return hunks
}

// authors tell who made which part of a change.
type authors struct {
	all   []fsutil.Origin
	exact bool           // there are splices
	rank  map[string]int // of steps, in the order in which they ran
}

func authorsOf(c fsutil.Change) authors {
	a := authors{all: c.By, exact: c.Splices != nil, rank: make(map[string]int)}
	for i, o := range c.By {
		if _, ok := a.rank[o.Step]; !ok {
			a.rank[o.Step] = i
		}
	}
	return a
}

// of returns who made some of the splices of the change, in the order in which the steps ran.
func (a authors) of(splices []fsutil.Splice) []fsutil.Origin {
	if !a.exact {
		return slices.Clone(a.all)
	}
	if len(splices) == 1 && len(splices[0].By) == 1 {
		return slices.Clone(splices[0].By)
	}
	var by []fsutil.Origin
	seen := make(map[fsutil.Origin]bool)
	for _, s := range splices {
		for _, o := range s.By {
			if !seen[o] {
				seen[o] = true
				by = append(by, o)
			}
		}
	}
	// Splices are in the order of the text.
	slices.SortStableFunc(by, func(x, y fsutil.Origin) int { return a.rank[x.Step] - a.rank[y.Step] })
	return by
}

// textOf returns the lines of a hunk, and the marks in them. places are what the splices have changed, nil if that is not known.
func textOf(h textdiff.Hunk, places []textdiff.Region) (string, [][2]int) {
	var text bytes.Buffer
	var marks [][2]int
	for lines, run := h.Lines, 0; len(lines) > 0; {
		n := slices.IndexFunc(lines, func(l textdiff.Line) bool { return (l.Op == ' ') != (lines[0].Op == ' ') })
		if n < 0 {
			n = len(lines)
		}
		var m marker
		if lines[0].Op != ' ' {
			m = newMarker(h.Cores[run], lines[:n], places)
			run++
		}
		for _, l := range lines[:n] {
			text.WriteByte(l.Op)
			for _, at := range m.next(l) {
				marks = append(marks, [2]int{text.Len() + at[0], text.Len() + at[1]})
			}
			text.Write(l.Text)
			if !bytes.HasSuffix(l.Text, []byte("\n")) {
				text.WriteString("\n" + noNewline)
			}
		}
		lines = lines[n:]
	}
	return text.String(), marks
}

// newMarker returns one for a run of changed lines. It marks whole lines unless they are those that the splices are on.
func newMarker(core textdiff.Core, lines []textdiff.Line, places []textdiff.Region) marker {
	if places == nil {
		return marker{whole: true}
	}
	var before, now []byte
	for _, l := range lines {
		if l.Op == '-' {
			before = append(before, l.Text...)
		} else {
			now = append(now, l.Text...)
		}
	}
	var m marker
	for _, r := range places[core.From:core.To] {
		from, to := r.OldOff-core.OldOff, r.NewOff-core.NewOff
		if from < 0 || to < 0 || from+r.OldLen > len(before) || to+r.NewLen > len(now) {
			return marker{whole: true}
		}
		head, tail := alike(before[from:from+r.OldLen], now[to:to+r.NewLen])
		m.old.places = append(m.old.places, [2]int{from + head, from + r.OldLen - tail})
		m.new.places = append(m.new.places, [2]int{to + head, to + r.NewLen - tail})
	}
	return m
}

// alike returns how many bytes two texts have in common at their beginnings, and how many of the others at their ends,
// in whole characters.
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

// marker finds the marks of the changed lines of a run, one after the other; the zero marker finds none.
type marker struct {
	whole    bool
	old, new markedSide
}

// markedSide is one of two files: the places on it, and where its next line begins, both counted from where the run
// does.
type markedSide struct {
	places [][2]int
	at     int
}

// next returns the marks of the next line.
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
		// A mark has whole characters, as far as the text has.
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
			break // it goes on in the next line
		}
		s.places = s.places[1:]
	}
	s.at += len(line)
	return marks
}
