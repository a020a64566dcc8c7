package foreign_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestForeign_stragglers: a process that has left its session and its environment goes on writing into the copy. Its
// writes become part neither of a later step, nor of a later run on a kept copy.
func TestForeign_stragglers(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not installed")
	}
	policy := command.Policy{Allow: []string{"*"}, Shell: true, Scratch: t.TempDir(), KeepScratch: true}
	if err := policy.Supported(); err != nil {
		t.Skipf("commands cannot be confined here: %v", err)
	}
	const leave = `setsid -f env -i /bin/sh -c 'cd /; i=0; while [ $i -lt 200 ]; do
		echo late >> "$0/a"; echo late > "$0/new"; echo late > "$0/d/new"; /bin/sleep 0.01; i=$((i+1)); done' "$PWD" </dev/null >/dev/null 2>&1; sleep 0.3`
	const work = "sleep 0.3; echo ours > n; rm -f gone"
	for name, x := range map[string]millrace.Executor{"run": {}, "dry run": {DryRun: true}} {
		t.Run(name, func(t *testing.T) {
			dir, root := suite.Rooted(t, "a", "text\n", "d/f", "text\n", "gone", "text\n")
			x.State.NoSync, x.Commands = true, policy
			first := millrace.New("p").Step("leave", actions.Exec{Shell: leave, Discard: true}).Step("work", actions.Exec{Shell: work}).MustBuild()
			if _, err := x.Run(t.Context(), root, first); err != nil {
				t.Fatal(err)
			}
			x.DryRun = false
			for range 2 {
				if _, err := x.Run(t.Context(), root, millrace.New("p").Step("work", actions.Exec{Shell: work}).MustBuild()); err != nil {
					t.Fatal(err)
				}
			}
			states := statesOf(t, afero.NewBasePathFs(afero.NewOsFs(), dir))
			if len(states) != 3 || !strings.HasSuffix(states["a"], " text\n") || !strings.HasSuffix(states["n"], " ours\n") {
				t.Errorf("the tree has %q", states)
			}
			kept, err := filepath.Glob(filepath.Join(policy.Scratch, "millrace", "*", filepath.Base(dir), "new"))
			if err != nil || len(kept) > 0 {
				t.Errorf("the kept copy has %q, %v", kept, err)
			}
		})
	}
}
