// Package registry has the actions of the command, and finds the commands that they run.
package registry

import (
	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/gocode"
)

// Decoder returns a decoder with the built-in actions, and those for Go code.
func Decoder() millrace.Decoder {
	return millrace.Decoder{Actions: actions.Builtin().With(gocode.Actions()...)}
}

// Command returns the command that an action runs, in the form of a step exec, and the pattern that allows such
// commands. ok is false for an action that runs none.
func Command(a actions.Action) (run actions.Exec, pattern string, ok bool) {
	switch a := a.(type) {
	case actions.Exec:
		return a, command.Pattern(a.Command) + " *", true
	case interface{ Words() []string }: // from package gocode: the go command and a verb
		words := a.Words()
		return actions.Exec{Command: words[0], Args: words[1:]}, command.Pattern(words[:2]...) + " *", true
	}
	return actions.Exec{}, "", false
}

// Served returns the decoder of a server. It only has the actions for Go code if the go command may list packages,
// which shows that the host expects Go code: the schema of four more actions costs each model about a thousand tokens.
func Served(permits func(c command.Command) bool) millrace.Decoder {
	if permits(command.Command{Words: gocode.Fix{}.Words()}) {
		return Decoder()
	}
	return millrace.Decoder{Actions: actions.Builtin()}
}
