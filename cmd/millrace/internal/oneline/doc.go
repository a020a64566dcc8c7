// Package oneline builds pipelines from the arguments of a command line: replace, sed, mv, cp, rm, patch and do.
//
// It changes nothing, and reads only the arguments: text in a named file, and the kind of file at a name. The resulting
// pipeline is all that a command does; it can be written as JSON and run from there.
//
// Names in arguments are relative to the working directory, and become paths relative to the root of the tree.
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
	Message string // the mistake
	Hint    string // what to write instead, "" if unknown
	Err     error  // the library's error about the pipeline, a *millrace.ValidationError, or nil
}

// Error returns the message, and the hint, if any.
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

// Common are the arguments that all commands have.
type Common struct {
	// Name is the name of the pipeline. "" means a name made from the command and its first argument.
	Name string
	// Expect is the required number of edits, or of files for mv, cp and rm: "3", "1..", "..9", "1..9". "" means any
	// number.
	Expect string
}

// maxName is the maximum number of characters of an argument in the name of a pipeline.
const maxName = 60

// build returns the pipeline of steps, named after the command and an argument unless the user has named it.
func (c Common) build(command, argument string, steps ...millrace.Step) (millrace.Pipeline, error) {
	b := millrace.New(c.name(command, argument))
	for _, s := range steps {
		b = b.Add(s).Builder
	}
	p, err := b.Build()
	return p, explained(err)
}

// explained converts errors of a pipeline to errors of the arguments: it removes places in a pipeline that the user has
// not written, and reports a mistake of several steps once.
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

// braced reports whether one of the texts could be read as a template. Arguments of these commands are never templates.
func braced(texts ...string) bool {
	for _, text := range texts {
		if strings.Contains(text, "{{") {
			return true
		}
	}
	return false
}
