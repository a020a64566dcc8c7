package page

import (
	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/highlight"
)

// mostColoured is how many bytes the lines of a file have at most that are shown in colours.
const mostColoured = 512 << 10

// line is a line of a hunk with its colours.
type line struct {
	millrace.HunkLine
	spans []highlight.Span
}

// coloursOf returns the language of a change, nil for a change that is shown without colours.
func coloursOf(r Row) *highlight.Language {
	if r.bytes > mostColoured {
		return nil
	}
	return highlight.Of(r.Change.Path)
}

// coloured returns the lines of a hunk with their colours. The old and the new text are looked at one after the other,
// because a comment or a string can begin in a line that only the other text has.
func coloured(lines []millrace.HunkLine, language *highlight.Language) []line {
	all := make([]line, len(lines))
	for n, l := range lines {
		all[n].HunkLine = l
	}
	if language == nil {
		return all
	}
	for _, op := range "-+" {
		var side []string
		for _, l := range lines {
			if l.Op == ' ' || rune(l.Op) == op {
				side = append(side, l.Text)
			}
		}
		language.Begin(side)
		for n, l := range lines {
			if l.Op == ' ' || rune(l.Op) == op {
				all[n].spans = language.Line(l.Text)
			}
		}
	}
	return all
}

// spans writes a part of a text, from one byte to before another, with its colours.
func (p *Page) spans(text string, from, to int, spans []highlight.Span) {
	for _, s := range spans {
		begin, end := max(s.From, from), min(s.To, to)
		if begin >= end {
			continue
		}
		p.Text(text[from:begin])
		p.WriteString(`<span class="` + className(s.Kind) + `">`)
		p.Text(text[begin:end])
		p.WriteString(`</span>`)
		from = end
	}
	p.Text(text[from:max(from, to)])
}

// className returns the class of a colour.
func className(k highlight.Kind) string {
	switch k {
	case highlight.Comment:
		return "c"
	case highlight.String:
		return "t"
	case highlight.Number:
		return "u"
	default:
		return "k"
	}
}
