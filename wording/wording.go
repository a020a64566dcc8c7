// Package wording has messages that each door words in its own way. A message names parameters and advises to set them,
// and the user of a command of one line has only seen its flags. So such parts of a message are values with a kind.
package wording

import (
	"errors"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/internal/errorform"
)

// Kind is the kind of a part of a message, such as "set_overwrite" for the advice to set overwrite. docs/embedding.md
// lists the kinds.
type Kind string

// Part is a part of a message that doors word differently.
type Part struct {
	Kind Kind
	// Text is the part in the words of the engine, for users who have written a pipeline.
	Text string
	// Value is what the part is about, such as a text of the user, "" if the kind is all.
	Value string
}

// String returns the part in the words of the engine.
func (p Part) String() string { return p.Text }

// Words returns a part in the words of a door. Nil returns it in the words of the engine.
type Words func(Part) string

// Error is a message with parts. Errorf makes it. The zero Error has no text.
type Error struct {
	format string
	args   []any
	err    error // in the words of the engine
}

// Errorf is fmt.Errorf for a message with parts: arguments that are a Part, or an error with parts. It takes at most one
// %w.
func Errorf(format string, args ...any) *Error {
	return &Error{format, args, fmt.Errorf(format, args...)}
}

// Error returns the message in the words of the engine.
func (e *Error) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

// Unwrap returns the error of %w, nil for none.
func (e *Error) Unwrap() error { return errors.Unwrap(e.err) }

// MarshalJSON gives the code and the message.
func (e *Error) MarshalJSON() ([]byte, error) { return errorform.Marshal(errorform.StepFailed, e) }

// in returns the message in the words of a door.
func (e *Error) in(words Words) string {
	args := make([]any, len(e.args))
	for i, arg := range e.args {
		switch arg := arg.(type) {
		case Part:
			args[i] = words(arg)
		case error:
			args[i] = errors.New(Of(arg, words))
		default:
			args[i] = arg
		}
	}
	return fmt.Errorf(e.format, args...).Error()
}

// Of returns the message of an error in the words of a door. An error of another type has its message in parts if its
// method As gives an *Error; of all others the messages that they wrap are worded.
func Of(err error, words Words) string {
	if words == nil {
		return err.Error()
	}
	if within, ok := err.(*inside); ok {
		return reword(within.text, within.err, words)
	}
	if message := messageOf(err); message != nil {
		return message.in(words)
	}
	text := err.Error()
	for _, inner := range wrapped(err) {
		text = reword(text, inner, words)
	}
	return text
}

// reword returns a text that has the message of an error in it, with that message in the words of a door.
func reword(text string, err error, words Words) string {
	if own := err.Error(); own != "" && strings.Contains(text, own) {
		return strings.Replace(text, own, Of(err, words), 1)
	}
	for _, inner := range wrapped(err) {
		text = reword(text, inner, words)
	}
	return text
}

// Parts returns the parts of the message of an error.
func Parts(err error) []Part {
	var parts []Part
	Of(err, func(p Part) string {
		parts = append(parts, p)
		return p.Text
	})
	return parts
}

// Join returns a message of several, with a separator between them.
func Join(messages []error, separator string) *Error {
	args := make([]any, 0, 2*len(messages))
	for i, m := range messages {
		if i > 0 {
			args = append(args, separator)
		}
		args = append(args, m)
	}
	return Errorf(strings.Repeat("%v", len(args)), args...)
}

// Within returns a message that has that text, in which the message of err may stand.
func Within(text string, err error) error { return &inside{text, err} }

type inside struct {
	text string
	err  error
}

func (e *inside) Error() string { return e.text }

// Give sets the target of [errors.As] to the message, if it is one for an *Error. The method As of an error calls it.
func (e *Error) Give(target any) bool {
	to, ok := target.(**Error)
	if ok {
		*to = e
	}
	return ok
}

// messageOf returns the message of this error, nil if it has no parts itself.
func messageOf(err error) *Error {
	if message, ok := err.(*Error); ok {
		return message
	}
	var message *Error
	if has, ok := err.(interface{ As(target any) bool }); ok && has.As(&message) {
		return message
	}
	return nil
}

// wrapped returns the errors that an error wraps.
func wrapped(err error) []error {
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		if inner := err.Unwrap(); inner != nil {
			return []error{inner}
		}
	case interface{ Unwrap() []error }:
		return err.Unwrap()
	}
	return nil
}
