package match

import (
	"unicode"
	"unicode/utf8"
)

// Case is a change of the case of letters, as by \U, \L, \u and \l of GNU sed. Zero changes nothing.
type Case uint8

// The changes. The first letter may have another case than the rest.
const (
	Upper Case = 1 << iota
	Lower
	UpperFirst
	LowerFirst

	caseFirst = UpperFirst | LowerFirst
)

// First returns the change of the first character.
func (c Case) First() Case { return c & caseFirst }

// Append appends a text in that case. Bytes that are not UTF-8 do not change.
func (c Case) Append(out, text []byte) []byte {
	for len(text) > 0 && c != 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			out = append(out, text[0])
		case c&UpperFirst != 0, c&(LowerFirst|Upper) == Upper:
			out = utf8.AppendRune(out, unicode.ToUpper(r))
		default:
			out = utf8.AppendRune(out, unicode.ToLower(r))
		}
		c &^= caseFirst
		text = text[n:]
	}
	return append(out, text...)
}

func (c Case) text(text string) string {
	if c == 0 {
		return text
	}
	return string(c.Append(nil, []byte(text)))
}
