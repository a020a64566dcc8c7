package cli

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
)

// TestRefusal checks that the prompt uses the engine's words for a refusal by the sandbox, without the host's setting.
func TestRefusal(t *testing.T) {
	t.Parallel()
	app := &App{}
	for _, r := range []command.Refusal{
		{Network: true}, {Path: "/home/u/.npmrc", Home: true}, {Path: "/opt/x", Write: true}, {Path: "/opt/x"},
	} {
		own, advice, found := strings.Cut(r.String(), ": the host ")
		if !found || own != refusal(r) {
			t.Errorf("the engine has %q, the prompt %q", r, refusal(r))
		}
		err := &millrace.StepError{Err: &actions.CommandError{Status: 1, Line: "no: the host is down", Refused: &r}}
		text := app.words(err)
		if !strings.Contains(text, "exit status 1: no: the host is down; "+own) || strings.Contains(text, advice) {
			t.Errorf("the message is %q", text)
		}
	}
}
