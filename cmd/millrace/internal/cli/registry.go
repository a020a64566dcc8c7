package cli

import (
	"context"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/gocode"
)

// decoder knows the actions of the command: the built-in ones, and those for Go code.
func decoder() millrace.Decoder {
	return millrace.Decoder{Actions: actions.Builtin().With(gocode.Actions()...)}
}

// commandOf returns the command that a step runs, as a step of exec would have it, and the pattern that allows it and no more
// than it needs.
func commandOf(a actions.Action) (exec actions.Exec, pattern string, ok bool) {
	switch a := a.(type) {
	case actions.Exec:
		return a, command.Pattern(a.Command) + " *", true
	case interface{ Words() []string }: // of package gocode: the go command and a verb
		words := a.Words()
		return actions.Exec{Command: words[0], Args: words[1:]}, command.Pattern(words[:2]...) + " *", true
	}
	return actions.Exec{}, "", false
}

// servedBy returns the decoder of a server: without the actions for Go code whose command the policy does not allow.
func servedBy(ctx context.Context, policy command.Policy) millrace.Decoder {
	registry := actions.Builtin()
	for _, a := range gocode.Actions() {
		if exec, _, ok := commandOf(a); !ok || permits(ctx, policy, command.Command{Words: exec.Words()}) {
			registry = registry.With(a)
		}
	}
	return millrace.Decoder{Actions: registry}
}
