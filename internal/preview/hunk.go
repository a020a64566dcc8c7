package preview

import (
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// Hunk is one place where a file differs, as in a unified diff.
type Hunk struct {
	OldStart, OldLines, NewStart, NewLines int
	// Text has the lines, each after a space, a "-" or a "+".
	Text string
	// By has the authors of the hunk, and Runs the authors of each run of changed lines.
	By   []change.Origin
	Runs [][]change.Origin
	// Marks are the marks of each changed line.
	Marks [][][2]int
}

// String returns the hunk as in a unified diff, with its "@@" line.
func (h Hunk) String() string {
	return string(textdiff.AppendHead(nil, h.OldStart, h.OldLines, h.NewStart, h.NewLines)) + h.Text
}

// Line is one line of a hunk: Op is ' ', '-', '+', or '\\' for the note that the line above has no line end. Old and
// New are its line numbers, 0 if it is not in that file. Text has no "\n". Marks are the changed ranges of Text.
type Line struct {
	Op       byte
	Old, New int
	Text     string
	Marks    [][2]int
}

func (l Line) changed() bool { return l.Op == '-' || l.Op == '+' }

// Lines returns the lines of the hunk.
func (h Hunk) Lines() []Line {
	lines := make([]Line, 0, strings.Count(h.Text, "\n"))
	before, now, marks := h.OldStart, h.NewStart, h.Marks
	for text := range strings.Lines(h.Text) {
		l := Line{Op: text[0], Text: strings.TrimSuffix(text[1:], "\n")}
		if l.Op == '\n' {
			l.Op = ' ' // some tools remove the space of an empty line
		}
		if l.Op == ' ' || l.Op == '-' {
			l.Old = before
			before++
		}
		if l.Op == ' ' || l.Op == '+' {
			l.New = now
			now++
		}
		if l.changed() && len(marks) > 0 {
			l.Marks, marks = marks[0], marks[1:]
		}
		lines = append(lines, l)
	}
	return lines
}

// Split returns a hunk for each run of changed lines, with the unchanged lines around it. A hunk with one run is
// returned unchanged.
func (h Hunk) Split() []Hunk {
	lines, texts := h.Lines(), slices.Collect(strings.Lines(h.Text))
	var parts []Hunk
	at := Hunk{OldStart: h.OldStart, NewStart: h.NewStart} // the lines between the previous part and this one
	marks := h.Marks
	for i := 0; i < len(lines); {
		if !lines[i].changed() {
			at.count(lines[i])
			i++
			continue
		}
		from, to, changed := i, i, 0
		for ; to < len(lines) && (lines[to].changed() || lines[to].Op == '\\'); to++ {
			if lines[to].changed() {
				changed++
			}
		}
		for n := 0; from > 0 && n < textdiff.DefaultContext && !lines[from-1].changed() &&
			lines[from-1].Op != '\\'; n++ {
			from--
		}
		end := to
		for n := 0; end < len(lines) && !lines[end].changed(); end++ {
			if lines[end].Op == '\\' {
				continue
			}
			if n++; n > textdiff.DefaultContext {
				break
			}
		}
		part := Hunk{OldStart: at.OldStart + at.OldLines - (i - from), NewStart: at.NewStart + at.NewLines - (i - from)}
		for _, l := range lines[from:end] {
			part.count(l)
		}
		for _, l := range lines[i:to] {
			at.count(l)
		}
		part.Text, part.By = strings.Join(texts[from:end], ""), h.By
		if n := len(parts); n < len(h.Runs) {
			part.Runs, part.By = h.Runs[n:n+1], slices.Clone(h.Runs[n])
		}
		if changed <= len(marks) {
			part.Marks, marks = marks[:changed:changed], marks[changed:]
		}
		parts = append(parts, part)
		i = to
	}
	if len(parts) <= 1 {
		return []Hunk{h}
	}
	return parts
}

func (h *Hunk) count(l Line) {
	if l.Op != '+' && l.Op != '\\' {
		h.OldLines++
	}
	if l.Op != '-' && l.Op != '\\' {
		h.NewLines++
	}
}
