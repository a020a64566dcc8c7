// Package registry has the actions of the command, and the commands that they run.
package registry

import (
	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/gocode"
)

// Decoder returns the decoder that knows the built-in actions, and those for Go code.
func Decoder() millrace.Decoder {
	return millrace.Decoder{Actions: actions.Builtin().With(gocode.Actions()...)}
}

// Command returns the command that a step runs, as a step of exec would have it, and the pattern that allows what such
// steps need. ok is false for an action that runs none.
func Command(a actions.Action) (run actions.Exec, pattern string, ok bool) {
	switch a := a.(type) {
	case actions.Exec:
		return a, command.Pattern(a.Command) + " *", true
	case interface{ Words() []string }: // of package gocode: the go command and a verb
		words := a.Words()
		return actions.Exec{Command: words[0], Args: words[1:]}, command.Pattern(words[:2]...) + " *", true
	}
	return actions.Exec{}, "", false
}

// Served returns the decoder of a server: without the actions for Go code whose command is not permitted. An action of
// exec stays, for the server judges it.
func Served(permits func(c command.Command) bool) millrace.Decoder {
	registry := actions.Builtin()
	for _, a := range gocode.Actions() {
		if run, _, ok := Command(a); !ok || permits(command.Command{Words: run.Words()}) {
			registry = registry.With(a)
		}
	}
	return millrace.Decoder{Actions: registry}
}
