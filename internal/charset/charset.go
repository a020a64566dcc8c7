// Package charset reads and writes texts that are not UTF-8: UTF-16 in both byte orders, and ISO 8859-1.
//
// [Decode] converts a text to UTF-8 and allows the way back: [Text.Splices] converts changes of the UTF-8 to changes of
// the bytes. A text that could not be restored byte for byte is refused.
package charset

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/millrace-go/millrace/change"
)

// Encoding is the encoding of a stored text. The zero value is UTF-8, and also stands for unknown encodings: such bytes
// are used unchanged.
type Encoding uint8

// The encodings. Auto is UTF-16 if there is a byte order mark for it, otherwise UTF-8.
const (
	UTF8 Encoding = iota
	Auto
	UTF16LE
	UTF16BE
	Latin1
)

// Parse returns the encoding with a name, and whether it exists. "" is UTF-8.
func Parse(name string) (Encoding, bool) {
	if name == "" {
		return UTF8, true
	}
	for e := UTF8; e <= Latin1; e++ {
		if e.String() == name {
			return e, true
		}
	}
	return UTF8, false
}

// String returns the name, which Parse accepts.
func (e Encoding) String() string {
	return [...]string{"utf-8", "auto", "utf-16le", "utf-16be", "latin1"}[e]
}

// The byte order marks. The little-endian mark of UTF-32 begins with that of UTF-16.
var (
	markLE   = []byte{0xff, 0xfe}
	markBE   = []byte{0xfe, 0xff}
	markLE32 = []byte{0xff, 0xfe, 0, 0}
)

// Marked returns the UTF-16 encoding given by the byte order mark at the beginning of a file, UTF8 without such a
// mark.
func Marked(head []byte) Encoding {
	switch {
	case bytes.HasPrefix(head, markLE) && !bytes.HasPrefix(head, markLE32):
		return UTF16LE
	case bytes.HasPrefix(head, markBE):
		return UTF16BE
	}
	return UTF8
}

// Of returns the encoding of a file that begins with head: for Auto the encoding given by the mark, otherwise e.
func (e Encoding) Of(head []byte) Encoding {
	if e == Auto {
		return Marked(head)
	}
	return e
}

// ErrNotText is the error for a file that is not a text in the encoding.
var ErrNotText = errors.New("is not a text in that encoding")

// Text is a decoded text.
type Text struct {
	// UTF8 is the text without its byte order mark. It must not change.
	UTF8 []byte
	from Encoding
	mark int // bytes before the text
}

// Decode decodes data, which is a whole file. For Auto, the mark selects the encoding. The error is ErrNotText.
func (e Encoding) Decode(data []byte) (*Text, error) {
	t := &Text{from: e.Of(data)}
	switch t.from {
	case UTF16LE, UTF16BE:
		if Marked(data) == t.from {
			t.mark = len(markLE)
		}
		return t, t.utf16(data[t.mark:])
	case Latin1:
		t.UTF8 = make([]byte, 0, len(data)+len(data)/8)
		for _, b := range data {
			t.UTF8 = utf8.AppendRune(t.UTF8, rune(b))
		}
	default:
		t.UTF8 = data
	}
	return t, nil
}

func (t *Text) utf16(data []byte) error {
	if len(data)%2 != 0 {
		return fmt.Errorf("%w: %s has an odd number of bytes", ErrNotText, t.from)
	}
	t.UTF8 = make([]byte, 0, len(data))
	unit := func(i int) uint16 {
		if t.from == UTF16BE {
			return uint16(data[i])<<8 | uint16(data[i+1])
		}
		return uint16(data[i]) | uint16(data[i+1])<<8
	}
	for i := 0; i < len(data); i += 2 {
		r := rune(unit(i))
		if utf16.IsSurrogate(r) {
			second := rune(0)
			if i+3 < len(data) {
				second = rune(unit(i + 2))
			}
			if r = utf16.DecodeRune(r, second); r == utf8.RuneError {
				return fmt.Errorf("%w: half a surrogate pair at byte %d", ErrNotText, t.mark+i)
			}
			i += 2
		}
		t.UTF8 = utf8.AppendRune(t.UTF8, r)
	}
	return nil
}

// Splices converts changes of the UTF-8, which are in order and do not overlap, to changes of the bytes of the file.
// The error names a character that the encoding does not have.
func (t *Text) Splices(list []change.Splice) ([]change.Splice, error) {
	if t.from == UTF8 {
		return list, nil
	}
	out := make([]change.Splice, len(list))
	at, off := int64(0), int64(t.mark)
	for i, s := range list {
		off += t.size(t.UTF8[at:s.Off])
		length := t.size(t.UTF8[s.Off : s.Off+s.Len])
		text, err := t.encode(s.Text)
		if err != nil {
			return nil, err
		}
		out[i] = s
		out[i].Off, out[i].Len, out[i].Text = off, length, text
		at, off = s.Off+s.Len, off+length
	}
	return out, nil
}

// size returns the size of a part of the text in the file, in bytes.
func (t *Text) size(part []byte) (n int64) {
	if t.from == Latin1 {
		return int64(utf8.RuneCount(part))
	}
	for len(part) > 0 {
		r, width := utf8.DecodeRune(part)
		n += int64(2 * utf16.RuneLen(r))
		part = part[width:]
	}
	return n
}

func (t *Text) encode(text []byte) ([]byte, error) {
	var out []byte
	for rest := text; len(rest) > 0; {
		r, width := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && width == 1:
			return nil, fmt.Errorf("the new text is not UTF-8, so it cannot be written in %s", t.from)
		case t.from == Latin1 && r > 0xff:
			return nil, fmt.Errorf("the character %q (U+%04X) cannot be written in %s", r, r, t.from)
		case t.from == Latin1:
			out = append(out, byte(r))
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				if t.from == UTF16BE {
					unit = unit<<8 | unit>>8
				}
				out = append(out, byte(unit), byte(unit>>8))
			}
		}
		rest = rest[width:]
	}
	return out, nil
}
