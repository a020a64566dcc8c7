package runs_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestGoexitLeavesNothing: what an action has staged before it ends its goroutine is taken back when the run goes on.
func TestGoexitLeavesNothing(t *testing.T) {
	t.Parallel()
	fsys := suite.Tree("a.txt", "x\n")
	exit := suite.Action{Do: func(_ context.Context, c *actions.Call) (actions.Outcome, error) {
		if err := afero.WriteFile(c.FS, "half.txt", []byte("half"), 0o600); err != nil {
			return actions.Outcome{}, err
		}
		runtime.Goexit()
		panic("unreachable")
	}}
	p := millrace.New("exits").Options(millrace.Options{ContinueOnError: true}).
		Step("exit", exit).
		Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).
		MustBuild()
	if _, err := millrace.Run(t.Context(), fsys, p); err == nil {
		t.Error("no error")
	}
	if there, err := afero.Exists(fsys, "half.txt"); err != nil || there {
		t.Errorf("half.txt is there: %v, %v", there, err)
	}
	if got := suite.Read(t, fsys, "a.txt"); got != "y\n" {
		t.Errorf("a.txt is %q", got)
	}
}
