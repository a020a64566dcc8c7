package cli_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The picture has cells of a fixed size, so that it looks the same with every font.
const (
	cellWidth, cellHeight, margin = 8.4, 18, 12
	svgHead                       = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.1f %d" role="img"
  aria-label="A review in a terminal: two hunks, of which one is taken">
<style>
  .page { fill: #ffffff; stroke: #d0d7de } text { fill: #1f2328; font: 14px ui-monospace, Menlo, Consolas, monospace }
  text.bold { font-weight: bold } text.dim { fill: #59636e } text.red { fill: #a40e26 } text.green { fill: #116329 }
  text.cyan { fill: #0550ae } rect.red { fill: #ffcecb } rect.green { fill: #aceebb }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; stroke: #3d444d } text { fill: #f0f6fc } text.dim { fill: #9198a1 } text.red { fill: #ffa198 }
    text.green { fill: #7ee787 } text.cyan { fill: #79c0ff } rect.red { fill: #67060c } rect.green { fill: #04260f }
  }
</style>
<rect class="page" x="0.5" y="0.5" width="%.1f" height="%d" rx="6"/>
`
)

var attribute = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// svg returns a picture of a terminal's content: lines with the attributes bold, dim, inverse and a color.
func svg(shown string) string {
	lines := strings.Split(strings.TrimRight(shown, "\n"), "\n")
	width := 0
	for _, line := range lines {
		width = max(width, utf8.RuneCountInString(attribute.ReplaceAllString(line, "")))
	}
	w, h := float64(width)*cellWidth+2*margin, len(lines)*cellHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, svgHead, w, h, w-1, h-1)
	for i, line := range lines {
		column, class, marked, rest := 0, "", false, line
		for rest != "" {
			text, after := rest, ""
			at := attribute.FindStringSubmatchIndex(rest)
			if at != nil {
				text, after = rest[:at[0]], rest[at[1]:]
			}
			cell(&b, i, column, text, class, marked)
			column += utf8.RuneCountInString(text)
			if at != nil {
				class, marked = attributes(rest[at[2]:at[3]], class, marked)
			}
			rest = after
		}
	}
	return b.String() + "</svg>\n"
}

// cell writes a piece of a line, with a rectangle below it if it is marked.
func cell(b *strings.Builder, line, column int, text, class string, marked bool) {
	if text == "" {
		return
	}
	x, y := margin+float64(column)*cellWidth, margin+line*cellHeight
	wide := float64(utf8.RuneCountInString(text)) * cellWidth
	if marked {
		fmt.Fprintf(b, "<rect class=%q x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n", class, x, y+1, wide, cellHeight)
	}
	if strings.TrimSpace(text) != "" {
		fmt.Fprintf(b, "<text class=%q x=\"%.1f\" y=\"%d\" textLength=\"%.1f\" xml:space=\"preserve\">%s</text>\n",
			class, x, y+14, wide, html.EscapeString(text))
	}
}

// attributes returns the class and the mark after an attribute of SGR, of which the review uses few.
func attributes(code, class string, marked bool) (string, bool) {
	switch code {
	case "1":
		return "bold", marked
	case "2":
		return "dim", marked
	case "7":
		return class, true
	case "27":
		return class, false
	case "31":
		return "red", marked
	case "32":
		return "green", marked
	case "36":
		return "cyan", marked
	default:
		return "", false
	}
}
