package sed

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"
)

// eof is the result of next at the end of a script.
const eof = -1

// next returns the next byte of the current script. A script ends at its first error.
func (p *parser) next() int {
	if p.err != nil || p.at >= len(p.text) && !p.more() {
		p.ended = true
		return eof
	}
	p.at++
	return int(p.text[p.at-1])
}

func (p *parser) back(c int) {
	if c != eof {
		p.at--
	}
}

func (p *parser) nonblank() int {
	for {
		if c := p.next(); c != ' ' && c != '\t' {
			return c
		}
	}
}

func isDigit(c int) bool { return '0' <= c && c <= '9' }

// integer reads the number that begins with c. A number that is too large becomes the largest number.
func (p *parser) integer(c int) int {
	const most = math.MaxInt / 16
	n := 0
	for ; isDigit(c); c = p.next() {
		n = min(most, n*10+c-'0')
	}
	p.back(c)
	return n
}

func (p *parser) endOfCommand() {
	switch c := p.nonblank(); c {
	case '}', '#':
		p.back(c)
	case eof, '\n', ';':
	default:
		p.fail("extra characters after command")
	}
}

// delimiter reads the delimiter of s, y and \cREc.
func (p *parser) delimiter() int {
	c := p.next()
	if c >= 0x80 {
		if _, n := utf8.DecodeRuneInString(p.text[p.at-1:]); n > 1 {
			p.fail("delimiter character is not a single-byte character")
		}
	}
	return c
}

// until reads up to a delimiter that is not escaped or, in a pattern, within brackets. missing is the error without a
// delimiter.
func (p *parser) until(delimiter int, pattern bool, missing string) []byte {
	var out []byte
	p.place = Place{InReplacement, byte(delimiter)}
	if pattern {
		p.place.Kind = InPattern
	}
	defer func() { p.place = Place{} }()
	for {
		c := p.next()
		switch {
		case c == '\n':
			p.back(c)
			fallthrough
		case c == eof:
			p.fail(missing)
			return nil
		case c == delimiter:
			return out
		case c == '\\':
			if c = p.next(); c == eof {
				continue
			}
			if c != '\n' && (c != delimiter || !pattern && c == '&') {
				out = append(out, '\\')
			}
		case c == '[' && pattern:
			out = append(out, '[')
			p.place.Kind = InBrackets
			if out, c = p.brackets(out); c != ']' {
				p.fail(missing)
				return nil
			}
			p.place.Kind = InPattern
		}
		out = append(out, byte(c))
	}
}

// brackets copies a bracket expression up to its ], and returns the last byte read: ] unless there is an error.
func (p *parser) brackets(out []byte) ([]byte, int) {
	c := p.next()
	if c == '^' {
		out = append(out, '^')
		c = p.next()
	}
	if c == ']' {
		out = append(out, ']')
		c = p.next()
	}
	kind := 0       // the . : or = that opened a name
	opened := false // the last byte was a [
	closing := false
	for ; ; c = p.next() {
		wasOpened, wasClosing := opened, closing
		opened, closing = false, false
		switch {
		case c == eof:
			return out, c
		case c == '\n':
			p.back(c)
			return out, c
		case c == '.' || c == ':' || c == '=':
			switch {
			case wasOpened:
				kind = c
			case kind == c:
				closing = !wasClosing
			}
		case c == '[':
			opened, closing = kind == 0, wasClosing
		case c == ']':
			if kind == 0 {
				return out, c
			}
			if wasClosing {
				kind = 0
			}
		}
		out = append(out, byte(c))
	}
}

// textKind is the kind of text in which escapes are.
type textKind int

const (
	patternText textKind = iota
	replacementText
	plainText // of y
)

// unescape replaces the escapes for single characters. Other escapes are kept, except in plain text.
func (p *parser) unescape(text []byte, kind textKind) []byte {
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		if _, n := utf8.DecodeRune(text[i:]); text[i] != '\\' || i+1 == len(text) {
			out = append(out, text[i:i+n]...)
			i += n
			continue
		}
		c := text[i+1]
		i += 2
		if k := bytes.IndexByte([]byte("afnrtv\n"), c); k >= 0 {
			out = append(out, "\a\f\n\r\t\v\n"[k])
			continue
		}
		switch c {
		case 'd', 'o', 'x':
			var b byte
			b, i = number(text, i, c)
			if kind == replacementText && (b == '&' || b == '\\') {
				out = append(out, '\\')
			}
			out = append(out, b)
		case 'c':
			if i == len(text) {
				if kind != plainText {
					out = append(out, '\\')
				}
				continue
			}
			b := text[i]
			i++
			if b == '\\' {
				if i == len(text) || text[i] != '\\' {
					p.fail("recursive escaping after \\c not allowed")
					return nil
				}
				i++
			}
			if 'a' <= b && b <= 'z' {
				b -= 'a' - 'A'
			}
			out = append(out, b^0x40)
		default:
			if kind != plainText {
				out = append(out, '\\')
			}
			_, n := utf8.DecodeRune(text[i-1:])
			out = append(out, text[i-1:i-1+n]...)
			i += n - 1
		}
	}
	return out
}

// number reads the digits of \d, \o or \x at text[i:], as many as a byte has. Without digits the result is the letter
// itself.
func number(text []byte, i int, letter byte) (byte, int) {
	base, most := 10, 3
	switch letter {
	case 'o':
		base = 8
	case 'x':
		base, most = 16, 2
	}
	for end := min(i+most, len(text)); end > i; end-- {
		if n, err := strconv.ParseUint(string(text[i:end]), base, 16); err == nil {
			return byte(n), end
		}
	}
	return letter, i
}
