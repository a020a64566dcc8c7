package lineedit

import (
	"bytes"
	"strings"

	"github.com/millrace-go/millrace/fsutil"
)

const bom = "\xef\xbb\xbf"

// Form is what new text has to fit in with.
type Form struct {
	bom  int    // length of the byte order mark
	eol  string // the line end that is most frequent; "" if there is none
	only bool   // there is no other one
}

// formOf returns the form of a file. One without line ends has none that text could be fitted to.
func formOf(facts fsutil.Facts) Form {
	f := Form{bom: facts.BOM}
	if facts.LF+facts.CRLF+facts.CR > 0 {
		f.eol, f.only = facts.EOL(), !facts.Mixed()
	}
	return f
}

// Fit returns the text with the line ends of the file, if that has only one kind; else the text as it is. A "\r" that
// is no part of a line end stays, unless it is the line end of the file.
func (f Form) Fit(text string) string {
	if !f.only || strings.IndexByte(text, '\n') < 0 {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if f.eol != "\n" {
		text = strings.ReplaceAll(text, "\n", f.eol)
	}
	return text
}

// open reports whether text that follows that byte would be in the same line.
func (f Form) open(last byte) bool {
	return last != '\n' && !(f.only && f.eol == "\r" && last == '\r')
}

// end returns the line end to put between two texts, the first of which is new or the second of which is.
func (f Form) end(text []byte) string {
	if f.eol != "" {
		return f.eol
	}
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
