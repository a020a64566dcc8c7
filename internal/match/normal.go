package match

import (
	"bytes"
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// classes are sets of differences between texts that people do not see, or do not think of.
type classes uint16

const (
	lineEnds    classes = 1 << iota // \r\n and \n
	trailing                        // blanks at the end of a line
	blanks                          // tabs and the number of spaces
	oddSpaces                       // no-break space and similar
	invisible                       // zero-width characters, byte order marks
	typographic                     // quotes and dashes
	letterCase
	escapes // \n, \t, \r and \" written as two characters, only in the wanted text

	allClasses = escapes<<1 - 1
)

// String describes the difference.
func (c classes) String() string {
	texts := map[classes]string{
		lineEnds: `line ends (\r\n or \n)`, trailing: "spaces at the end of a line", blanks: "tabs or the number of spaces",
		oddSpaces: "an unusual space such as U+00A0", invisible: "an invisible character such as U+200B",
		typographic: "typographic quotes or dashes", letterCase: "upper and lower case",
		escapes: `a line end or tab written as \n or \t`,
	}
	return cmp.Or(texts[c], "white space")
}

// normal is a text without the differences of some classes.
type normal struct {
	text []byte
	from []int32 // for each byte of text, its offset in the original
}

// normalize removes the differences of the classes from data. data must have less than 2 GiB.
func normalize(data []byte, c classes) normal {
	n := normal{text: make([]byte, 0, len(data)), from: make([]int32, 0, len(data))}
	for i := 0; i < len(data); {
		r, width := utf8.DecodeRune(data[i:])
		if c&escapes != 0 && r == '\\' && i+1 < len(data) {
			if k := strings.IndexByte(`ntr"`, data[i+1]); k >= 0 {
				r, width = rune("\n\t\r\""[k]), 2
			}
		}
		if r == '\r' && c&lineEnds != 0 {
			i += width // a single "\r" is treated like a line end, which is close enough
			continue
		}
		if c&oddSpaces != 0 && r != '\n' && r != '\t' && r != '\r' && r != ' ' && unicode.IsSpace(r) {
			r = ' '
		}
		if c&typographic != 0 {
			r = plainPunctuation(r)
		}
		if c&letterCase != 0 {
			r = unicode.ToLower(r)
		}
		switch {
		case c&invisible != 0 && isInvisible(r):
		case r == utf8.RuneError && width == 1:
			n.add(data[i:i+1], i)
		case isBlank(r) && c&blanks != 0:
			if len(n.text) > 0 && n.text[len(n.text)-1] != '\n' && n.text[len(n.text)-1] != ' ' {
				n.add([]byte{' '}, i)
			}
		case r == '\n' && c&trailing != 0:
			n.trim()
			n.add([]byte{'\n'}, i)
		default:
			n.add(utf8.AppendRune(nil, r), i)
		}
		i += width
	}
	if c&trailing != 0 {
		n.trim()
	}
	return n
}

func (n *normal) add(text []byte, from int) {
	for _, b := range text {
		n.text = append(n.text, b)
		n.from = append(n.from, int32(from))
	}
}

func (n *normal) trim() {
	n.text = bytes.TrimRight(n.text, " \t")
	n.from = n.from[:len(n.text)]
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' }

func isInvisible(r rune) bool {
	return r >= 0x200b && r <= 0x200f || r == 0x2060 || r == 0xfeff || r == 0xad
}

// plainPunctuation returns the character on a keyboard for a typographic character.
func plainPunctuation(r rune) rune {
	switch r {
	case '‘', '’', '‚', '‛', '′', '´', '`':
		return '\''
	case '“', '”', '„', '‟', '″', '«', '»':
		return '"'
	case '‐', '‑', '‒', '–', '—', '―', '−':
		return '-'
	}
	return r
}
