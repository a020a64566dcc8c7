package cli

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/millrace-go/millrace/fsutil"
)

// visibleJSON escapes characters in JSON that would control a terminal or be invisible; the JSON keeps its meaning.
// Control characters below the space are always escaped in JSON.
func visibleJSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, hidden) {
		return text
	}
	var b bytes.Buffer
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case !hidden(r):
			b.Write(text[:n])
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
		text = text[n:]
	}
	return b.Bytes()
}

// hidden reports whether a character in JSON text must be escaped.
func hidden(r rune) bool {
	return r >= 0x7f && r != utf8.RuneError && fsutil.Visible(string(r)) != string(r)
}
