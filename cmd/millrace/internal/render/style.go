// Package render shows plans: as a unified diff with colours, and as a list of files with counts.
package render

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/millrace-go/millrace/fsutil"
)

// Style is the style of text. The zero Style is for a pipe: unchanged bytes.
type Style struct {
	// Color enables colours, from the sixteen of every terminal.
	Color bool
	// Terminal means that the text goes to a terminal: invisible and control characters are escaped by [fsutil.Visible],
	// and binary content is left out.
	Terminal bool
}

// Codes for the style of a text, see [Style.Paint].
const (
	Bold   = "1"
	Dim    = "2"
	Red    = "31"
	Green  = "32"
	Yellow = "33"
	Cyan   = "36"
)

// The codes that begin and end marks, and that reset everything.
const (
	reversed    = "\x1b[7m"
	notReversed = "\x1b[27m"
	plain       = "\x1b[m"
)

func code(name string) string { return "\x1b[" + name + "m" }

// Paint returns the text in a colour, if colours are enabled. The text is not escaped.
func (s Style) Paint(name, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return code(name) + text + plain
}

// Text returns a name or a line of text for display. Tabs stay.
func (s Style) Text(text string) string {
	if !s.Terminal {
		return text
	}
	return string(visible(nil, text))
}

// visible appends a line with invisible characters escaped, except tabs.
func visible(b []byte, text string) []byte {
	for len(text) > 0 {
		n := 0
		for n < len(text) && (text[n] >= ' ' && text[n] < 0x7f || text[n] == '\t') {
			n++
		}
		b, text = append(b, text[:n]...), text[n:]
		// The rest up to a tab needs Visible, which is slower.
		if n = strings.IndexByte(text, '\t'); n < 0 {
			n = len(text)
		}
		if n > 0 {
			b, text = append(b, fsutil.Visible(text[:n])...), text[n:]
		}
	}
	return b
}

// Width returns the number of terminal columns of a text without control characters.
func Width(text string) int {
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Me, r), unicode.Is(unicode.Cf, r):
		return 0
	}
	for _, wide := range wideRunes {
		if r >= wide[0] && r <= wide[1] {
			return 2
		}
	}
	return 1
}

// wideRunes are the approximate ranges of characters with two columns: East Asian characters and emoji.
var wideRunes = [...][2]rune{
	{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xa960, 0xa97c}, {0xac00, 0xd7a3}, {0xf900, 0xfaff},
	{0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff},
	{0x20000, 0x3fffd},
}

// shorten returns the end of a name in at most that many columns, after an ellipsis if something is cut off.
func shorten(name string, columns int) string {
	if Width(name) <= columns {
		return name
	}
	for len(name) > 0 && Width(name) > columns-1 {
		_, n := utf8.DecodeRuneInString(name)
		name = name[n:]
	}
	return "…" + name
}

// plainName reports whether git writes a name without quotes in the headers of a patch.
func plainName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// lineOf cuts the first line off a text, with its line end.
func lineOf(text []byte) (line, rest []byte) {
	if n := bytes.IndexByte(text, '\n'); n >= 0 {
		return text[:n+1], text[n+1:]
	}
	return text, nil
}
