package fsutil

import "bytes"

// binaryBlock is the number of bytes of a file that decide whether it is binary: the same as in git, so that git
// agrees.
const binaryBlock = 8000

const utf8BOM = "\xef\xbb\xbf"

// IsBinary reports whether a file counts as binary, from its first block: it has a NUL in its first 8,000 bytes, as in
// git. Later bytes of the block are ignored, so that the result does not depend on the size of the block.
func IsBinary(firstBlock []byte) bool {
	return bytes.IndexByte(firstBlock[:min(len(firstBlock), binaryBlock)], 0) >= 0
}

// Facts describe the form of a text. The zero value describes an empty file.
type Facts struct {
	// BOM is the length in bytes of the UTF-8 byte order mark at the beginning: 3, or 0 for none.
	BOM int
	// CRLF, LF and CR count the line endings: "\r\n", "\n" without a "\r" before it, "\r" without a "\n" after it.
	CRLF, LF, CR int
	// FinalNewline means that the last line is complete: it ends in "\n", or in "\r" if the text has no "\n".
	FinalNewline bool
	// Binary is the result of [IsBinary].
	Binary bool
}

// TextFacts examines the whole content of a file.
func TextFacts(data []byte) Facts {
	f := Facts{Binary: IsBinary(data)}
	if bytes.HasPrefix(data, []byte(utf8BOM)) {
		f.BOM = len(utf8BOM)
	}
	f.LF = bytes.Count(data, []byte{'\n'})
	if first := bytes.IndexByte(data, '\r'); first >= 0 {
		returns := bytes.Count(data[first:], []byte{'\r'})
		f.CRLF = bytes.Count(data[first:], []byte("\r\n"))
		f.LF -= f.CRLF
		f.CR = returns - f.CRLF
	}
	if len(data) > 0 {
		end := data[len(data)-1]
		f.FinalNewline = end == '\n' || end == '\r' && f.LF+f.CRLF == 0
	}
	return f
}

// EOL returns the most frequent line ending: "\n", "\r\n" or "\r". Between equals, and for a text without line
// endings, it returns the first of these.
func (f Facts) EOL() string {
	switch {
	case f.LF >= f.CRLF && f.LF >= f.CR:
		return "\n"
	case f.CRLF >= f.CR:
		return "\r\n"
	default:
		return "\r"
	}
}

// Mixed reports whether there is more than one kind of line ending.
func (f Facts) Mixed() bool {
	return f.LF > 0 && f.CRLF+f.CR > 0 || f.CRLF > 0 && f.CR > 0
}
