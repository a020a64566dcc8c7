package page

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/highlight"
)

// Row is a change as a page shows it.
type Row struct {
	Change change.Change
	Kind   change.ChangeKind
	Difference
	// Open unfolds the lines.
	Open bool
	// Most is how many bytes the row may have.
	Most int64
	// Box returns HTML that stands first above the hunk of a number, and may be nil.
	Box func(hunk int) string
	// Side shows old and new lines in two columns.
	Side bool
	// More is HTML that stands in place of the hunks, "" for the hunks themselves.
	More string
}

// Row writes a change. It stops at Most bytes, and reports whether all of it was written.
func (p *Page) Row(r Row) bool {
	c, d, begin := r.Change, r.Difference, int64(p.Len())
	most := begin + r.Most
	p.WriteString(`<details class="` + string(r.Kind) + `"`)
	if r.Open {
		p.WriteString(` open="open"`)
	}
	p.WriteString(`><summary><b>` + string(r.Kind) + `</b> <span class="name">`)
	if c.From != "" {
		p.Name(c.From)
		p.WriteString(` → `)
	}
	p.Name(c.Path)
	p.WriteString(`</span>`)
	if d.Added+d.Removed > 0 {
		p.WriteString(` <span class="count">`)
		if d.Added > 0 {
			fmt.Fprintf(p, `<ins>+%d</ins> `, d.Added)
		}
		if d.Removed > 0 {
			fmt.Fprintf(p, `<del>−%d</del>`, d.Removed)
		}
		p.WriteString(`</span>`)
	}
	p.WriteString("</summary>\n")
	p.facts(c, d)
	if r.More != "" {
		p.WriteString(r.More)
	} else if !p.lines(r, most) {
		return false
	}
	p.WriteString("</details>\n")
	return int64(p.Len()) <= most
}

// Lines writes the lines of a change alone. It stops at Most bytes, and reports whether all of them were written.
func (p *Page) Lines(r Row) bool { return p.lines(r, int64(p.Len())+r.Most) }

// lines stops once the page has more bytes than most.
func (p *Page) lines(r Row, most int64) bool {
	switch {
	case len(r.Hunks) == 0:
		return true
	case r.bytes > r.Most:
		return false
	}
	if r.Side {
		p.WriteString(`<table class="side"><colgroup><col class="n"/><col/><col class="n"/><col/></colgroup>` + "\n")
	} else {
		p.WriteString(`<table class="diff"><colgroup><col class="n"/><col class="n"/><col class="s"/><col/></colgroup>` + "\n")
	}
	colours := coloursOf(r)
	for n, h := range r.Hunks {
		box := ""
		if r.Box != nil {
			box = r.Box(n)
		}
		if !p.hunk(h, colours, box, r.Side, most) {
			return false
		}
	}
	p.WriteString("</table>\n")
	return true
}

// hunk writes a hunk, with HTML first. It stops once the page has more bytes than most, and reports whether it has not.
func (p *Page) hunk(h millrace.Hunk, colours *highlight.Language, box string, side bool, most int64) bool {
	lines := coloured(h.Lines(), colours)
	returns := allReturns(lines)
	h.Text = "" // lines has it
	p.WriteString("<tbody>\n<tr class=\"at\"><td colspan=\"4\">" + box + strings.TrimSuffix(h.String(), "\n"))
	if returns {
		p.WriteString(" CRLF")
	}
	p.by(h.By)
	p.WriteString("</td></tr>\n")
	write := p.below
	if side {
		write = p.beside
	}
	if !write(lines, returns, most) {
		return false
	}
	p.WriteString("</tbody>\n")
	return true
}

// below writes the lines of a hunk in one column. It stops as hunk does.
func (p *Page) below(lines []line, returns bool, most int64) bool {
	for _, l := range lines {
		if int64(p.Len()) > most {
			return false
		}
		p.row(l, returns)
	}
	return true
}

// allReturns reports whether each line has a "\r" before its end; then it is not shown with each.
func allReturns(lines []line) bool {
	for _, l := range lines {
		if l.Op == '\\' || !strings.HasSuffix(l.Text, "\r") {
			return false
		}
	}
	return len(lines) > 0
}

func (p *Page) row(l line, returns bool) {
	number := func(n int) {
		p.WriteString("<td>")
		if n > 0 {
			p.WriteString(strconv.Itoa(n))
		}
		p.WriteString("</td>")
	}
	text := l.Text
	if returns {
		text = strings.TrimSuffix(text, "\r")
	}
	switch l.Op {
	case '+':
		p.WriteString(`<tr class="new">`)
	case '-':
		p.WriteString(`<tr class="old">`)
	case '\\':
		p.WriteString(`<tr class="end">`)
	default:
		p.WriteString(`<tr>`)
	}
	number(l.Old)
	number(l.New)
	switch l.Op {
	case '-':
		p.WriteString(`<td>−</td><td>`)
	case '+':
		p.WriteString(`<td>+</td><td>`)
	default:
		p.WriteString(`<td></td><td>`)
	}
	p.marked(text, l)
	p.WriteString("</td></tr>\n")
}
