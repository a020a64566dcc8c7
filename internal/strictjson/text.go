package strictjson

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a string, starting at its opening quote.
func (p *parser) text() (string, error) {
	start := p.pos
	p.pos++
	from := p.pos
	var buf []byte // the text read so far; nil before the first escape
	for p.pos < len(p.data) {
		switch c := p.data[p.pos]; {
		case c == '"':
			part := p.data[from:p.pos]
			p.pos++
			if buf == nil {
				return string(part), nil
			}
			return string(append(buf, part...)), nil
		case c == '\\':
			buf = append(buf, p.data[from:p.pos]...)
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			buf = utf8.AppendRune(buf, r)
			from = p.pos
		case c < ' ':
			return "", p.control(c)
		default:
			p.pos++ // longer characters are read byte by byte: the whole text is known to be valid UTF-8
		}
	}
	return "", p.fail(start, "the string that starts here has no closing quote")
}

func (p *parser) control(c byte) error {
	switch c {
	case '\n', '\r':
		return p.fail(p.pos, `a line break in a string must be written as \n`)
	case '\t':
		return p.fail(p.pos, `a tab in a string must be written as \t`)
	default:
		return p.fail(p.pos, `a control character in a string must be written as \u%04x`, c)
	}
}

// escapes are the characters after a backslash for the bytes in escaped, in the same order.
const (
	escapes = "bfnrt"
	escaped = "\b\f\n\r\t"
)

// escape reads an escape sequence, starting at its backslash.
func (p *parser) escape() (rune, error) {
	start := p.pos
	p.pos++
	c := p.peek()
	p.pos++
	switch i := strings.IndexByte(escapes, c); {
	case i >= 0:
		return rune(escaped[i]), nil
	case c == '"' || c == '\\' || c == '/':
		return rune(c), nil
	case c != 'u':
		if p.pos--; p.pos >= len(p.data) {
			return 0, p.fail(start, "the text ends in the middle of a string")
		}
		return 0, p.fail(start, `a backslash before %s means nothing in JSON: write \\ for a backslash`, p.found())
	}
	r, ok := p.hex4()
	if !ok {
		return 0, p.fail(start, `\u needs four hexadecimal digits`)
	}
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	if p.peek() == '\\' && p.pos+1 < len(p.data) && p.data[p.pos+1] == 'u' {
		p.pos += 2
		low, ok := p.hex4()
		if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
			return pair, nil
		}
	}
	return 0, p.fail(start, `\u%04x is one half of a surrogate pair without the other`, r)
}

func (p *parser) hex4() (rune, bool) {
	digits := p.data[p.pos:min(p.pos+4, len(p.data))]
	n, err := strconv.ParseUint(string(digits), 16, 16)
	if err != nil || len(digits) < 4 {
		return 0, false
	}
	p.pos += 4
	return rune(n), true
}

// AppendQuoted appends s as a JSON string. It escapes only the characters that JSON requires, so that patterns stay
// readable. If s is not valid UTF-8, neither is the result.
func AppendQuoted(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch i := strings.IndexByte(escaped, c); {
		case i >= 0:
			dst = append(dst, '\\', escapes[i])
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		default:
			dst = append(append(dst, `\u00`...), digits[c>>4], digits[c&15])
		}
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}
