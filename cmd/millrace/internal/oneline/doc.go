// Package oneline makes pipelines from the arguments of a command line: replace, sed, mv, cp, rm, patch and do.
//
// It changes nothing, and reads only what the arguments name: text in a file, and what kind of thing a name stands for.
// All that a command does is in the pipeline that comes out, which can be written as JSON and run from there.
//
// Names of arguments count from the working directory, and become paths from the root of the tree.
package oneline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
)

// UsageError reports that the arguments do not form a pipeline. Nothing was done.
type UsageError struct {
	Message string // what is wrong
	Hint    string // what to write instead, "" if that is not known
	Err     error  // what the library says of the pipeline, a *millrace.ValidationError, or nil
}

// Error has the message, and the hint if there is one.
func (e *UsageError) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// Unwrap returns Err.
func (e *UsageError) Unwrap() error { return e.Err }

// usage returns a UsageError with a hint, which may be "".
func usage(hint, format string, args ...any) error {
	return &UsageError{Message: fmt.Sprintf(format, args...), Hint: hint}
}

// Common is what all commands have.
type Common struct {
	// Name is the name of the pipeline. "" stands for the command and its first argument.
	Name string
	// Expect is how many edits there have to be, or files of mv, cp and rm: "3", "1..", "..9", "1..9". "" is any
	// number.
	Expect string
}

// maxName is how many characters of an argument are in the name of a pipeline.
const maxName = 60

// build returns the pipeline of steps, named after the command and an argument unless the user gave it a name.
func (c Common) build(command, argument string, steps ...millrace.Step) (millrace.Pipeline, error) {
	b := millrace.New(c.name(command, argument))
	for _, s := range steps {
		b = b.Add(s).Builder
	}
	p, err := b.Build()
	return p, explained(err)
}

// explained turns what is wrong with a pipeline into what is wrong with the arguments: places in a pipeline that the
// user has not written are left out, and what is wrong with several steps for one reason is said once.
func explained(err error) error {
	invalid, ok := errors.AsType[*millrace.ValidationError](err)
	if !ok {
		return err
	}
	var lines []string
	for _, p := range invalid.Problems {
		line := p.Message
		if p.Hint != "" {
			line += ": " + p.Hint
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return &UsageError{Message: strings.Join(lines, "\n"), Err: err}
}

func (c Common) name(command, argument string) string {
	if c.Name != "" {
		return c.Name
	}
	text := []rune(fsutil.Visible(argument))
	if len(text) > maxName {
		text = append(text[:maxName], '…')
	}
	return strings.TrimSpace(command + " " + string(text))
}

// braced reports whether one of the texts could be taken for a template, which no argument of these commands is.
func braced(texts ...string) bool {
	for _, text := range texts {
		if strings.Contains(text, "{{") {
			return true
		}
	}
	return false
}
