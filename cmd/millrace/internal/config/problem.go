package config

import (
	"fmt"
	"strings"
)

// Problem is a mistake in a file.
type Problem struct {
	// File is the name of the file; Line and Column are the place in it, from 1, or zero if the whole file is meant.
	File         string
	Line, Column int
	// Message describes the mistake, Hint what to write instead, "" if that is obvious.
	Message, Hint string
}

// String returns the whole problem in the format that programs that collect messages expect.
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

// Error reports that a file is invalid, or requests something forbidden. It has at least one problem.
type Error struct{ Problems []Problem }

// Error returns each problem on a separate line.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}
