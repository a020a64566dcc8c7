package review

import (
	"strings"

	"github.com/millrace-go/millrace"
)

// matches is a hunk whose lines are decided match by match.
type matches struct {
	hunk   millrace.Hunk
	places []matched
}

// matched is one match: a text that replaces some bytes of an old line of the hunk.
type matched struct {
	line     int // index in the lines of the hunk
	from, to int
	text     string
}

// matchesOf finds the matches of a hunk with one run of changed lines. It returns nil if there are fewer than two, or
// if the old and new lines do not form pairs.
func matchesOf(h millrace.Hunk) *matches {
	lines := h.Lines()
	var old, fresh []int
	notes := 0
	for i, l := range lines {
		switch l.Op {
		case '-':
			old = append(old, i)
		case '+':
			fresh = append(fresh, i)
		case '\\':
			notes++
		}
	}
	if len(old) != len(fresh) || notes == 1 {
		return nil
	}
	m := &matches{hunk: h}
	for n, i := range old {
		places, ok := placesOf(lines[i], lines[fresh[n]])
		if !ok {
			return nil
		}
		for _, p := range places {
			p.line = i
			m.places = append(m.places, p)
		}
	}
	if len(m.places) < 2 {
		return nil
	}
	return m
}

// placesOf finds the places where two lines differ, from their marks. ok is false if the marks are not sufficient.
func placesOf(old, fresh millrace.HunkLine) (places []matched, ok bool) {
	before, after := old.Marks, fresh.Marks
	i, j := 0, 0
	for i < len(old.Text) || j < len(fresh.Text) {
		p := matched{from: i, to: i}
		if len(before) > 0 && before[0][0] == i {
			p.to, before = before[0][1], before[1:]
		}
		end := j
		if len(after) > 0 && after[0][0] == j {
			end, after = after[0][1], after[1:]
		}
		if p.to > i || end > j {
			p.text = fresh.Text[j:end]
			places, i, j = append(places, p), p.to, end
			continue
		}
		n := min(unmarked(before, i, old.Text), unmarked(after, j, fresh.Text))
		if n == 0 || old.Text[i:i+n] != fresh.Text[j:j+n] {
			return nil, false
		}
		i, j = i+n, j+n
	}
	return places, true
}

// unmarked returns the number of bytes of a text from an offset to the next mark.
func unmarked(marks [][2]int, from int, text string) int {
	if len(marks) > 0 {
		return marks[0][0] - from
	}
	return len(text) - from
}

// items returns an item for each match, which shows the line with only this match.
func (m *matches) items() []item {
	lines := m.hunk.Lines()
	var items []item
	for n, p := range m.places {
		l := lines[p.line]
		shown := millrace.Hunk{
			OldStart: l.Old, OldLines: 1, NewStart: m.hunk.NewStart + l.Old - m.hunk.OldStart, NewLines: 1,
			By: m.hunk.By, Text: "-" + l.Text + "\n+" + l.Text[:p.from] + p.text + l.Text[p.to:] + "\n",
		}
		items = append(items, item{hunk: shown, of: m, match: n})
	}
	return items
}

// part returns the decision on the hunk from its items, which are all of its matches. ok is false if it stays as
// planned.
func (m *matches) part(items []item) (part millrace.Part, ok bool) {
	wanted := make(map[int][]matched) // by line
	count := 0
	for _, i := range items {
		if i.is == taken {
			p := m.places[i.match]
			wanted[p.line] = append(wanted[p.line], p)
			count++
		}
	}
	switch count {
	case 0:
		return millrace.Part{Hunk: m.hunk}, true
	case len(m.places):
		return part, false
	}
	var b strings.Builder
	for n, l := range m.hunk.Lines() {
		if l.Op != ' ' && l.Op != '-' {
			continue
		}
		at := 0
		for _, p := range wanted[n] {
			b.WriteString(l.Text[at:p.from] + p.text)
			at = p.to
		}
		b.WriteString(l.Text[at:] + "\n")
	}
	text := b.String()
	return millrace.Part{Hunk: m.hunk, Text: &text}, true
}
