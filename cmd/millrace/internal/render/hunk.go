package render

import (
	"strings"
	"unicode/utf8"

	"github.com/millrace-go/millrace"
)

// Hunk returns a hunk with its "@@" line: removed lines in red, added lines in green, and their changed bytes in
// reverse video. Without colours, to a pipe, it is [millrace.Hunk.String].
func (s Style) Hunk(h millrace.Hunk) string {
	if s == (Style{}) {
		return h.String()
	}
	return string(s.hunk(nil, h))
}

func (s Style) hunk(b []byte, h millrace.Hunk) []byte {
	bare := h
	bare.Text = "" // then it is only the head
	b = append(b, s.Paint(Cyan, strings.TrimSuffix(bare.String(), "\n"))...)
	b = append(b, '\n')
	return s.lines(b, h.Lines())
}

// lines appends the lines of a hunk.
func (s Style) lines(b []byte, lines []millrace.HunkLine) []byte {
	hide := s.Terminal && !returnsDiffer(lines)
	for _, l := range lines {
		b = s.line(b, l, hide)
	}
	return b
}

// returnsDiffer reports whether some lines of a hunk end in "\r\n" and others do not. Only then is the "\r" shown on a
// terminal.
func returnsDiffer(lines []millrace.HunkLine) bool {
	with, without := false, false
	for _, l := range lines {
		if l.Op == '\\' {
			continue
		}
		if strings.HasSuffix(l.Text, "\r") {
			with = true
		} else {
			without = true
		}
	}
	return with && without
}

// line appends a line of a hunk. hideReturn hides the "\r" at its end.
func (s Style) line(b []byte, l millrace.HunkLine, hideReturn bool) []byte {
	color := ""
	switch l.Op {
	case '-':
		color = Red
	case '+':
		color = Green
	}
	text := l.Text
	if hideReturn {
		text = strings.TrimSuffix(text, "\r")
	}
	if !s.Color || color == "" {
		b = append(b, l.Op)
		return append(s.text(b, text), '\n')
	}
	b = append(b, code(color)...)
	b = append(b, l.Op)
	at := 0
	for _, m := range marksIn(l, text) {
		b = s.text(b, text[at:m[0]])
		b = append(b, reversed...)
		b = s.text(b, text[m[0]:m[1]])
		b = append(b, notReversed...)
		at = m[1]
	}
	b = s.text(b, text[at:])
	b = append(b, plain...)
	return append(b, '\n')
}

func (s Style) text(b []byte, text string) []byte {
	if s.Terminal {
		return visible(b, text)
	}
	return append(b, text...)
}

// marksIn returns the useful marks of a line, widened to whole characters. A mark of the whole line adds nothing to its
// colour.
func marksIn(l millrace.HunkLine, text string) [][2]int {
	var marks [][2]int
	for _, m := range l.Marks {
		from, to := min(m[0], len(text)), min(m[1], len(text))
		for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) && from > m[0]-utf8.UTFMax {
			from--
		}
		for to < len(text) && !utf8.RuneStart(text[to]) && to < m[1]+utf8.UTFMax {
			to++
		}
		if n := len(marks); n > 0 && from <= marks[n-1][1] {
			marks[n-1][1] = max(to, marks[n-1][1])
			continue
		}
		if from < to {
			marks = append(marks, [2]int{from, to})
		}
	}
	if len(marks) == 1 && marks[0] == [2]int{0, len(text)} {
		return nil
	}
	return marks
}
