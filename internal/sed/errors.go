package sed

import (
	"fmt"
	"strings"
)

// Error is what is wrong with a script: what GNU sed would refuse, what this package does not do, or an empty pattern
// that had nothing to stand for while the script ran.
type Error struct {
	Script int    // which script, from 0
	Offset int    // the byte at which it was noticed, from 0
	Line   int    // the line of the script, from 1
	Column int    // the byte of the line, from 1
	Text   string // in the words of GNU sed where it has some
	Hint   string // what to do about it, or ""
	// Unsupported says that GNU sed would take it and this package does not, on purpose.
	Unsupported bool
}

// Error says where it is and what it is.
func (e *Error) Error() string {
	s := fmt.Sprintf("script %d, line %d, column %d: %s", e.Script+1, e.Line, e.Column, e.Text)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// place is a byte of a script.
type place struct{ script, offset int }

// at makes an error for a place.
func (p place) at(scripts []string, text, hint string) *Error {
	s := scripts[p.script]
	e := &Error{Script: p.script, Offset: min(p.offset, len(s)), Line: 1, Column: 1, Text: text, Hint: hint}
	for i := range e.Offset {
		e.Column++
		if s[i] == '\n' {
			e.Line, e.Column = e.Line+1, 1
		}
	}
	return e
}

// refused says of each command and flag that is not done what it would do.
func refused(c byte) string {
	for _, of := range [...]struct{ names, why string }{
		{"wW", "it writes files"},
		{"rR", "it reads other files"},
		{"e", "it runs programs"},
		{"qQ", "it ends the run"},
		{"btT:", "scripts do not branch"},
		{"aic", "use s with a newline in the replacement"},
		{"DNnP", "a script sees one line at a time"},
		{"gGhHx", "there is no hold space"},
		{"FLl=zv", "only s, y, d, p and {...} are done"},
	} {
		if strings.IndexByte(of.names, c) >= 0 {
			return of.why
		}
	}
	return ""
}
