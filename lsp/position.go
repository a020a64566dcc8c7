package lsp

import (
	"fmt"
	"unicode/utf8"
)

// Encoding is the unit in which positions count the characters of a line. The zero value is UTF16.
type Encoding string

// The encodings, with their names in general.positionEncodings of a client.
const (
	UTF16 Encoding = "utf-16"
	UTF8  Encoding = "utf-8"
	UTF32 Encoding = "utf-32"
)

func (e Encoding) check() error {
	switch e {
	case "", UTF16, UTF8, UTF32:
		return nil
	}
	return fmt.Errorf("unknown position encoding %q: want %q, %q or %q", string(e), UTF16, UTF8, UTF32)
}

// units returns the length of a character.
func (e Encoding) units(r rune, size int) int {
	switch {
	case e == UTF8:
		return size
	case e != UTF32 && r > 0xffff:
		return 2
	default:
		return 1
	}
}

// cursor moves through a text once, from start to end.
type cursor struct {
	text     []byte
	encoding Encoding
	off      int
	at       Position
}

// to moves the cursor forward to an offset, which must not be within a character or a "\r\n".
func (c *cursor) to(off int) Position {
	for c.off < off {
		switch b := c.text[c.off]; {
		case b == '\n' || b == '\r':
			if b == '\r' && c.off+1 < len(c.text) && c.text[c.off+1] == '\n' {
				c.off++
			}
			c.off++
			c.at.Line, c.at.Character = c.at.Line+1, 0
		case b < utf8.RuneSelf:
			c.off++
			c.at.Character++
		default:
			r, size := utf8.DecodeRune(c.text[c.off:])
			c.off += size
			c.at.Character += c.encoding.units(r, size)
		}
	}
	return c.at
}
