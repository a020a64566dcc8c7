package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace"
)

// sourceError reports that a file of the user is invalid.
type sourceError struct {
	name string
	err  error
}

// Error returns a line for each problem: file:line:column: message.
func (e *sourceError) Error() string { return strings.Join(problemLines(e.name, e.err), "\n") }
func (e *sourceError) Unwrap() error { return e.err }

// problemLines returns the problems of a pipeline, one per line in the form for editors and CI.
func problemLines(name string, err error) []string {
	invalid, ok := errors.AsType[*millrace.ValidationError](err)
	if !ok {
		return []string{name + ": " + err.Error()}
	}
	lines := make([]string, len(invalid.Problems))
	for i, p := range invalid.Problems {
		lines[i] = problemLine(name, p)
	}
	return lines
}

func problemLine(name string, p millrace.Problem) string {
	text := p.Message
	if p.Hint != "" {
		text += ": " + p.Hint
	}
	if p.Line == 0 {
		return name + ": " + text
	}
	if isSyntax(p.Code) { // the message also has the place
		text = strings.Replace(text, fmt.Sprintf("line %d, column %d: ", p.Line, p.Column), "", 1)
	}
	return fmt.Sprintf("%s:%d:%d: %s", name, p.Line, p.Column, text)
}

// isSyntax reports whether a problem with that code is about a text that cannot be parsed.
func isSyntax(code string) bool {
	return code == "invalid_json" || code == "json_too_deep" || strings.HasPrefix(code, "yaml_")
}

// failure is an error in JSON.
type failure struct {
	Code     string             `json:"code"`
	Message  string             `json:"message"`
	Problems []millrace.Problem `json:"problems,omitempty"`
	Paths    []string           `json:"paths,omitempty"`
}

func failureOf(err error) *failure {
	f := &failure{Code: codeOf(err), Message: err.Error()}
	if invalid, ok := errors.AsType[*millrace.ValidationError](err); ok {
		f.Problems = invalid.Problems
	}
	if conflict, ok := errors.AsType[*millrace.ConflictError](err); ok {
		for _, c := range conflict.Conflicts {
			f.Paths = append(f.Paths, c.Path)
		}
	}
	return f
}
