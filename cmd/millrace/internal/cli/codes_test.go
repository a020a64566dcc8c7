package cli_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// mistakes are commands with a mistake of the user, in addition to those in messages.
var mistakes = []string{
	"replace one x --max 0", "mv nofile x", "mv a.txt d/../../x", "cp a.txt c.txt", "rm d", "patch none.patch",
	"patch a.txt", "run none.json", "run a.txt", "undo none", "redo", "log prune --keep -1", "runs show 99",
	"runs approve 99", "runs reject 99",
	"apply none.plan", "apply a.txt", "do nosuch", "do edit files=a.txt", "fleet run none.json d", "exec -- nosuchtool",
}

// Each mistake of a user has its own code in JSON: "internal" is for mistakes of millrace.
func TestCodesOfMistakes(t *testing.T) {
	t.Parallel()
	commands := slices.Clone(mistakes)
	for _, m := range messages {
		commands = append(commands, m.command)
	}
	var failed atomic.Int32
	t.Run("commands", func(t *testing.T) {
		for _, command := range commands {
			t.Run(command[:min(len(command), 40)], func(t *testing.T) {
				t.Parallel()
				if strings.Contains(command, "--format") || strings.Contains(command, " --json") {
					return // shown differently
				}
				stdout, stderr := outputOf(t, command, "--format", "json", "-y")
				var answer struct {
					Error *struct{ Code string }
				}
				if json.Unmarshal([]byte(stdout), &answer) != nil || answer.Error == nil {
					return // the command succeeds with a warning, or has no JSON
				}
				failed.Add(1)
				if code := answer.Error.Code; code == "" || code == "internal" {
					t.Errorf("the code is %q: %s%s", code, stdout, stderr)
				}
			})
		}
	})
	if n := failed.Load(); n < 60 {
		t.Errorf("only %d commands failed with JSON", n)
	}
}
