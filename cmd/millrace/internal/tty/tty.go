// Package tty is the user's terminal: questions are asked and answered there, regardless of the standard streams. It
// also decides on colours, and starts the pager and the editor.
package tty

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/term"
)

// ErrNone reports that the program has no terminal to ask at.
var ErrNone = errors.New("no terminal to ask at")

// Terminal is the controlling terminal of the process. Its methods are not safe for concurrent use.
type Terminal interface {
	// Write shows text.
	io.Writer
	// Ask shows a question and returns the line that the user answers, without its end. The error is io.EOF if the user
	// ends the input instead, and the cause of ctx when it is done.
	Ask(ctx context.Context, question string) (string, error)
	// Key returns the next key, without waiting for a line end, and shows it. A key without a character is utf8.RuneError.
	// Control characters are returned without any effect.
	Key(ctx context.Context) (rune, error)
}

// None is a missing terminal: questions fail, and output is dropped.
var None Terminal = none{}

type none struct{}

func (none) Write(p []byte) (int, error)                 { return len(p), nil }
func (none) Ask(context.Context, string) (string, error) { return "", ErrNone }
func (none) Key(context.Context) (rune, error)           { return 0, ErrNone }

// IsTerminal reports whether a stream is connected to a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
