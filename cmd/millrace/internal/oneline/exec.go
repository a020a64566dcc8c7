package oneline

import (
	"path"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// Exec are the arguments of `millrace exec COMMAND [ARG…]`.
type Exec struct {
	Common
	// Words are the command and its arguments, empty if there is a script.
	Words []string
	// Shell is a script for /bin/sh, "" for none.
	Shell string
	// KeepFailed keeps the changes of the command even if it fails; Discard keeps none.
	KeepFailed, Discard bool
}

// Exec returns the pipeline: one step that runs the command in the working directory.
func (w Where) Exec(e Exec) (millrace.Pipeline, error) {
	var none millrace.Pipeline
	expect, err := e.files()
	if err != nil {
		return none, err
	}
	a := actions.Exec{Shell: e.Shell, Discard: e.Discard}
	if e.KeepFailed {
		for code := range 256 {
			a.OKCodes = append(a.OKCodes, code)
		}
	}
	title := e.Shell
	if e.Shell == "" {
		if len(e.Words) == 0 {
			return none, usage("", "a command is missing")
		}
		title = strings.Join(e.Words, " ")
		a.Command, a.Args = e.Words[0], e.Words[1:]
		if name := w.slashes(a.Command); strings.Contains(name, "/") && !absolute(name) {
			place, err := w.place(name)
			if err != nil {
				return none, err
			}
			a.Command = "./" + path.Clean(place)
		}
	}
	if w.dir() != "." {
		a.Dir = w.dir()
	}
	p, err := millrace.New(e.name("exec", title)).Step("exec", a).Raw().Expect(expect).Build()
	return p, explained(err)
}
