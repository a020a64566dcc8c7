package page

import (
	"strconv"
	"strings"
)

// half is a side of a row: a line of the old or of the new text, with the note that its line has no end.
type half struct {
	number int
	line   line
	noEnd  string
}

// beside writes the lines of a hunk in two columns, the old text on the left. A run of removed lines is next to the
// run of added lines that follows it. If the page gets larger than most bytes, beside stops and returns false.
func (p *Page) beside(lines []line, returns bool, most int64) bool {
	var left, right []half
	var last *half // to which a note about the end of the text belongs
	flush := func() bool {
		for n := range max(len(left), len(right)) {
			if int64(p.Len()) > most {
				return false
			}
			p.WriteString("<tr>")
			p.half(left, n, "old", returns)
			p.half(right, n, "new", returns)
			p.WriteString("</tr>\n")
		}
		left, right, last = left[:0], right[:0], nil
		return true
	}
	for at, l := range lines {
		fits := true
		switch {
		case l.Op == '\\' && last != nil:
			last.noEnd = l.Text
			if lines[at-1].Op == ' ' {
				left[len(left)-1].noEnd = l.Text
			}
			continue
		case l.Op == ' ':
			fits = flush()
			left = append(left, half{number: l.Old, line: l})
			right = append(right, half{number: l.New, line: l})
			last = &right[len(right)-1]
		case l.Op == '-':
			if len(right) > 0 {
				fits = flush()
			}
			left = append(left, half{number: l.Old, line: l})
			last = &left[len(left)-1]
		case l.Op == '+':
			if len(left) > 0 && left[len(left)-1].line.Op == ' ' {
				fits = flush()
			}
			right = append(right, half{number: l.New, line: l})
			last = &right[len(right)-1]
		}
		if !fits {
			return false
		}
	}
	return flush()
}

// half writes the cells of a column for its n-th line, or empty cells if the column is shorter.
func (p *Page) half(side []half, n int, class string, returns bool) {
	if n >= len(side) {
		p.WriteString(`<td></td><td class="none"></td>`)
		return
	}
	h := side[n]
	p.WriteString("<td>" + strconv.Itoa(h.number) + "</td><td")
	if h.line.Op != ' ' {
		p.WriteString(` class="` + class + `"`)
	}
	p.WriteString(">")
	text := h.line.Text
	if returns {
		text = strings.TrimSuffix(text, "\r")
	}
	p.marked(text, h.line)
	if h.noEnd != "" {
		p.WriteString(`<small class="end">`)
		p.Text(h.noEnd)
		p.WriteString(`</small>`)
	}
	p.WriteString("</td>")
}
