package cli

import (
	"errors"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/capability"
)

// words returns the message of an error in the words of the prompt. A command of one line has no steps that its user
// knows, and what a parameter does is done by a flag.
func (a *App) words(err error) string {
	text := err.Error()
	put := func(old, own string) { text = strings.Replace(text, old, own, 1) }
	if blocked, ok := errors.AsType[*millrace.BlockedError](err); ok && !blocked.Host && blocked.Why != "" {
		put(blocked.Reason, blocked.Why)
	}
	if errors.Is(err, capability.ErrMountPoint) && !a.flags.inPlace {
		text += "; --in-place overwrites the bytes of such a file"
	}
	if failed, ok := errors.AsType[*actions.CommandError](err); ok && failed.Refused != nil {
		_, host, _ := strings.Cut(failed.Refused.String(), ": the host")
		put(": the host"+host, "")
	}
	if a.oneLiner == nil {
		return text
	}
	if step, ok := errors.AsType[*millrace.StepError](err); ok {
		put(step.Error(), step.Action+" failed: "+step.Err.Error())
	}
	if errors.Is(err, actions.ErrBinary) {
		advice := "is a binary file; millrace do edit … binary=true edits it"
		if a.oneLiner.Flags().Lookup("binary") != nil {
			advice = "is a binary file; --binary takes it"
		}
		put(actions.ErrBinary.Error(), advice)
	}
	if _, ok := errors.AsType[*actions.CollisionError](err); ok {
		text += "; --overwrite replaces what is there"
	}
	return text
}
