// Package worded makes messages with parts, which package wording words for a door.
package worded

import (
	"errors"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/wording"
)

// Error is a message with parts. Errorf makes it. The zero Error has no text.
type Error struct {
	format string
	args   []any
	err    error // in the words of the engine
}

// Errorf is fmt.Errorf for a message with parts: arguments that are a [wording.Part], or an error with parts. It allows
// at most one %w.
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

// Worded returns the message in the words of a door. [wording.Of] calls it.
func (e *Error) Worded(words wording.Words) string {
	args := make([]any, len(e.args))
	for i, arg := range e.args {
		switch arg := arg.(type) {
		case wording.Part:
			args[i] = words(arg)
		case error:
			args[i] = errors.New(wording.Of(arg, words))
		default:
			args[i] = arg
		}
	}
	return fmt.Errorf(e.format, args...).Error()
}

// Give sets the target of [errors.As] to the message, if [wording.Of] asks for it. The method As of an error calls it.
func (e *Error) Give(target any) bool {
	to, ok := target.(*interface {
		Worded(words wording.Words) string
	})
	if ok {
		*to = e
	}
	return ok
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

// Within returns a message that has that text, which may contain the message of err.
func Within(text string, err error) error { return &inside{text, err} }

type inside struct {
	text string
	err  error
}

func (e *inside) Error() string { return e.text }

// Unwrap returns the error whose message the text may contain.
func (e *inside) Unwrap() error { return e.err }
