package config

import (
	"fmt"
	"strings"
)

// Problem is one thing that is wrong in a file.
type Problem struct {
	// File is the name of the file, Line and Column where in it, from 1; both are zero if it is about the whole file.
	File         string
	Line, Column int
	// Message describes what is wrong, Hint what to write instead, "" if that is plain.
	Message, Hint string
}

// String has all of it, as programs that collect messages read it.
func (p Problem) String() string {
	at := p.File
	if p.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
	if p.Hint == "" {
		return at + ": " + p.Message
	}
	return at + ": " + p.Message + ": " + p.Hint
}

// Error reports that a file could not be understood, or asks for what it must not. It has at least one problem.
type Error struct{ Problems []Problem }

// Error has each problem in a line of its own.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}
