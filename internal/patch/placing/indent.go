package placing

import (
	"bytes"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/patch"
)

// blanks are the characters of indentation.
const blanks = " \t"

// A tab is equivalent to a number of blanks in this range.
const narrowest, widest = 2, 8

// shift is the difference between the indentation of lines in a file and in a hunk: blanks in the hunk are tabs in the
// file or the reverse, and then all lines have more, or less, indentation.
type shift struct {
	tabs tabs
	text string
	less bool
}

// tabs is the number of blanks on one side for a tab on the other, 0 for none. If toTabs is set, the file has tabs and
// the hunk has blanks.
type tabs struct {
	width  int
	toTabs bool
}

// apply returns a line of the hunk with the indentation of the file.
func (t tabs) apply(line string) string {
	if t.width == 0 {
		return line
	}
	rest := strings.TrimLeft(line, blanks)
	indent := line[:len(line)-len(rest)]
	if !t.toTabs {
		return strings.ReplaceAll(indent, "\t", strings.Repeat(" ", t.width)) + rest
	}
	n := len(indent)
	if strings.Contains(indent, "\t") {
		return line
	}
	return strings.Repeat("\t", n/t.width) + strings.Repeat(" ", n%t.width) + rest
}

// apply indents an added line.
func (s shift) apply(text string) string {
	if strings.TrimSpace(text) == "" {
		return text
	}
	text = s.tabs.apply(text)
	if s.less {
		return strings.TrimPrefix(text, s.text)
	}
	return s.text + text
}

// shiftOf returns the difference between the indentation of a line of the file and of a line of a hunk. A blank line
// shows nothing.
func shiftOf(have []byte, want string) (s shift, blank, ok bool) {
	if strings.TrimSpace(want) == "" {
		return s, true, true
	}
	h := string(have[:len(have)-len(bytes.TrimLeft(have, blanks))])
	w := want[:len(want)-len(strings.TrimLeft(want, blanks))]
	if more, ok := strings.CutSuffix(h, w); ok {
		return shift{text: more}, false, true
	}
	less, ok := strings.CutSuffix(w, h)
	return shift{text: less, less: true}, false, ok
}

// shift returns the difference between the indentation of the lines at a place and of the lines of a hunk. ok is false
// if the lines do not all differ in the same way, or if several ways fit that would indent the added lines differently.
// The error is a *[patch.LimitError] or from the context.
func (p *placing) shift(h *patch.Hunk, run []string, at int) (s shift, ok bool, err error) {
	if s, ok = p.shiftBy(tabs{}, run, at); ok {
		return s, true, nil
	}
	var ways []shift
	for width := narrowest; width <= widest; width++ {
		for _, toTabs := range []bool{true, false} {
			if s, ok := p.shiftBy(tabs{width, toTabs}, run, at); ok {
				ways = append(ways, s)
			}
		}
	}
	plain := slices.DeleteFunc(slices.Clone(ways), func(s shift) bool { return s.text != "" })
	if len(plain) > 0 {
		ways = plain
	}
	if len(ways) == 0 {
		return s, false, nil
	}
	if len(ways) > 1 {
		if err := p.steps.Take(p.ctx, h.Added*len(ways)); err != nil {
			return s, false, err
		}
	}
	for l := range h.Lines() {
		for _, other := range ways[1:] {
			if l.Op == '+' && other.apply(l.Text) != ways[0].apply(l.Text) {
				return s, false, nil
			}
		}
	}
	return ways[0], true, nil
}

// shiftBy is shift with one way to convert tabs.
func (p *placing) shiftBy(by tabs, run []string, at int) (s shift, ok bool) {
	known := false
	for i, want := range run {
		now, blank, ok := shiftOf(p.compared(at+i), by.apply(want))
		switch {
		case !ok:
			return s, false
		case blank:
		case !known:
			s, known = now, true
		case s != now:
			return s, false
		}
	}
	s.tabs = by
	return s, true
}
