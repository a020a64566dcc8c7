package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Errors wrapped by a [*SyntaxError] if the text exceeds a limit.
var (
	ErrTooLarge = errors.New("JSON text is too large")
	ErrTooDeep  = errors.New("JSON text is nested too deeply")
)

// SyntaxError reports a mistake in a JSON text and its place.
type SyntaxError struct {
	// Offset counts bytes from 0.
	Offset int
	// Line and Column count from 1, columns in characters. Both are 0 if the text as a whole is refused.
	Line, Column int
	// Msg describes the mistake, and what to write instead if that is known.
	Msg string
	// Err is [ErrTooLarge] or [ErrTooDeep] for a limit, else nil.
	Err error
}

// Error returns the message after the place: `line 3, column 14: name "id" appears twice in one object`.
func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.Msg
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

// Unwrap returns Err.
func (e *SyntaxError) Unwrap() error { return e.Err }

// LineColumn returns the line and the column, both from 1, of a byte offset in data. Lines end with "\n"; columns count
// characters, a tab as one. An offset outside of data is moved to its nearest end.
func LineColumn(data []byte, offset int) (line, column int) {
	return NewLocator(data).LineColumn(offset)
}

// Locator turns offsets into lines and columns. For ascending offsets it reads the text only once. It is not safe for
// concurrent use.
type Locator struct {
	data         []byte
	at           int
	line, column int
}

// NewLocator returns a Locator for data, which must not change.
func NewLocator(data []byte) *Locator { return &Locator{data: data, line: 1, column: 1} }

// LineColumn is the function [LineColumn] for the Locator's text.
func (l *Locator) LineColumn(offset int) (line, column int) {
	offset = min(max(offset, 0), len(l.data))
	if offset < l.at {
		l.at, l.line, l.column = 0, 1, 1
	}
	part := l.data[l.at:offset]
	if n := bytes.Count(part, []byte{'\n'}); n > 0 {
		l.line += n
		l.column = 1
		part = part[bytes.LastIndexByte(part, '\n')+1:]
	}
	l.column += utf8.RuneCount(part)
	l.at = offset
	return l.line, l.column
}

// quoted returns text for a message: in quotes, control characters escaped, and not too long.
func quoted(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return strconv.Quote(s)
	}
	return strconv.Quote(string([]rune(s[:min(len(s), most*utf8.UTFMax)])[:most])) + "..."
}
