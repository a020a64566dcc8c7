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

// Served returns the decoder of a server. It has the actions for Go code only where the go command may list packages,
// which shows that the host expects Go code: the schema of four more actions costs each model some thousand tokens.
func Served(permits func(c command.Command) bool) millrace.Decoder {
	if permits(command.Command{Words: gocode.Fix{}.Words()}) {
		return Decoder()
	}
	return millrace.Decoder{Actions: actions.Builtin()}
}
