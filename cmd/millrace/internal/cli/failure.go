package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/tty"
	"github.com/millrace-go/millrace/fsutil"
)

// sourceError says which file of the user is wrong.
type sourceError struct {
	name string
	err  error
}

// Error has a line for each problem: file:line:column: message.
func (e *sourceError) Error() string { return strings.Join(problemLines(e.name, e.err), "\n") }
func (e *sourceError) Unwrap() error { return e.err }

// problemLines returns what is wrong with a pipeline, a line each in the form that editors and CI read.
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
	// The message of a text that cannot be parsed names the place as well.
	text = strings.Replace(text, fmt.Sprintf("line %d, column %d: ", p.Line, p.Column), "", 1)
	return fmt.Sprintf("%s:%d:%d: %s", name, p.Line, p.Column, text)
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

// report tells the user of an error: on stdout if the format is JSON, else on stderr.
func (a *App) report(err error) {
	if err == nil || isType[*saidError](err) {
		return
	}
	if a.flags.format == formatJSON || a.flags.format == formatJSONL {
		object := map[string]any{"error": failureOf(err)}
		if a.failed != nil {
			object["result"] = a.failed
		}
		if a.writeJSON(object) == nil {
			return
		}
	}
	prefix := "millrace: "
	if isType[*sourceError](err) || isType[*configError](err) {
		prefix = ""
	}
	a.complain(prefix + a.words(err))
	if hint := a.hintOf(err); hint != "" {
		a.complain(hint)
	}
}

// hintOf says what to do next.
func (a *App) hintOf(err error) string {
	if hint := a.refusalHint(err); hint != "" {
		return hint
	}
	blocked, isBlocked := errors.AsType[*millrace.BlockedError](err)
	conflict, isConflict := errors.AsType[*millrace.ConflictError](err)
	switch {
	case isBlocked && !blocked.Host:
		return "look at it with --dry-run, then pass --force; 'risk' and 'max_files' in your configuration set where that begins"
	case isConflict && conflict.Restores != "":
		return "leave them out with: --except PATH"
	case statusOf(err) == exitRecovery:
		return "run: millrace recover; of what it refuses, recover --trust ID or --discard ID decides"
	case a.usage == "millrace" || a.usage == "millrace [flags]":
		return "see: millrace help"
	case a.usage != "":
		return "usage: " + a.usage
	}
	return ""
}

// complain writes lines to stderr. On a terminal nothing in them is taken for a command to it.
func (a *App) complain(text string) {
	a.progress.Clear()
	_, _ = io.WriteString(a.Stderr, shown(a.Stderr, text)+"\n") // there is no other place to say that it failed
}

// writeShown writes lines to stdout as complain does to stderr.
func (a *App) writeShown(text string) error { return a.write(shown(a.Stdout, text) + "\n") }

// shown makes visible what a terminal would act on, if w is one. To anything else the bytes go as they are.
func shown(w io.Writer, text string) string {
	if !tty.IsTerminal(w) {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = fsutil.Visible(line)
	}
	return strings.Join(lines, "\n")
}
