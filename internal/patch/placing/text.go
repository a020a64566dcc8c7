package placing

import (
	"bytes"
	"strings"

	"github.com/millrace-go/millrace/internal/patch"
)

const bom = "\xef\xbb\xbf"

// Text is the text of a file in which hunks are placed. It is not safe for concurrent use.
type Text struct {
	data   []byte
	starts []int32 // the offset of each line, and finally the size
	bom    bool
	marked bool      // a later line begins with a byte order mark
	ended  bool      // the last line has a line end
	only   patch.End // the line end of all lines that have one, if there is only one kind
	exact  bool      // line ends are compared
	taken  []uint8
	levels [levelCount]*index
}

// NewText divides a text into lines. The error is a *[LimitError].
func NewText(data []byte) (*Text, error) {
	n := bytes.Count(data, newline)
	if n >= patch.MaxLines {
		return nil, &patch.LimitError{What: patch.WhatLines, Limit: patch.MaxLines}
	}
	t := &Text{data: data, bom: bytes.HasPrefix(data, []byte(bom)), starts: make([]int32, 0, n+2)}
	t.marked = bytes.Contains(data, []byte("\n"+bom))
	lf, crlf := 0, 0
	for pos := 0; pos < len(data); {
		t.starts = append(t.starts, int32(pos))
		i := bytes.IndexByte(data[pos:], '\n')
		if i < 0 {
			break
		}
		if i > 0 && data[pos+i-1] == '\r' {
			crlf++
		} else {
			lf++
		}
		pos += i + 1
	}
	t.ended = len(data) == 0 || data[len(data)-1] == '\n'
	switch {
	case lf > 0 && crlf == 0:
		t.only = patch.LF
	case crlf > 0 && lf == 0:
		t.only = patch.CRLF
	}
	t.starts = append(t.starts, int32(len(data)))
	return t, nil
}

// Forget resets the text, so that line ends may be compared or ignored.
func (t *Text) Forget() { t.levels, t.taken = [levelCount]*index{}, nil }

var newline = []byte{'\n'}

// lines returns the number of lines.
func (t *Text) lines() int { return len(t.starts) - 1 }

// line returns a line without its line end, and its line end.
func (t *Text) line(i int) ([]byte, patch.End) {
	line, ended := bytes.CutSuffix(t.data[t.starts[i]:t.starts[i+1]], newline)
	if !ended {
		return line, patch.NoEnd
	}
	if line, ok := bytes.CutSuffix(line, []byte{'\r'}); ok {
		return line, patch.CRLF
	}
	return line, patch.LF
}

// compared returns a line in the form for comparing with the lines of a hunk: without a byte order mark, and with the
// carriage return of its line end only if line ends are compared.
func (t *Text) compared(i int) []byte {
	line, end := t.line(i)
	if t.exact && end == patch.CRLF {
		line = line[:len(line)+1]
	}
	return bytes.TrimPrefix(line, []byte(bom))
}

// wanted returns a line of a hunk in the form for comparing.
func (t *Text) wanted(l patch.Line) string {
	text := strings.TrimPrefix(l.Text, bom)
	if t.exact && l.End == patch.CRLF {
		text += "\r"
	}
	return text
}

// Level is the largest difference between lines that are taken for equal.
type Level uint8

// The levels. Each includes the levels before it.
const (
	None          Level = iota // nothing
	TrailingSpace              // white space at the end
	Indent                     // white space at the beginning, the same on every line
	Typography                 // typographic quotes, dashes and spaces in place of ASCII
	levelCount
)

// key appends the form of a line that is compared at this level.
func (l Level) key(dst []byte, line []byte) []byte {
	if l == Typography {
		begin := len(dst)
		dst = plain(dst, line)
		trimmed := bytes.TrimSpace(dst[begin:])
		return append(dst[:begin], trimmed...)
	}
	switch l {
	case TrailingSpace:
		line = bytes.TrimRight(line, " \t\r\v\f")
	case Indent:
		line = bytes.TrimSpace(line)
	}
	return append(dst, line...)
}

// plain appends a text with ASCII characters in place of typographic characters.
func plain(dst, text []byte) []byte {
	for len(text) > 0 {
		i := bytes.IndexFunc(text, func(r rune) bool { return r > 0x7f })
		if i < 0 {
			break
		}
		dst = append(dst, text[:i]...)
		text = text[i:]
		r, size := decode(text)
		switch {
		case r >= 0x2010 && r <= 0x2015 || r == 0x2212:
			dst = append(dst, '-')
		case r >= 0x2018 && r <= 0x201b:
			dst = append(dst, '\'')
		case r >= 0x201c && r <= 0x201f:
			dst = append(dst, '"')
		case r == 0xa0 || r >= 0x2002 && r <= 0x200a || r == 0x202f || r == 0x205f || r == 0x3000:
			dst = append(dst, ' ')
		case r == 0x2026:
			dst = append(dst, "..."...)
		default:
			dst = append(dst, text[:size]...)
		}
		text = text[size:]
	}
	return append(dst, text...)
}

// String describes the differences that this level allows.
func (l Level) String() string {
	return [...]string{"nothing", "white space at the end", "white space", "white space or typography"}[l]
}
