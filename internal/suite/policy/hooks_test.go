package policy_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestHooksInTheTree: git runs a file of the tree that a link among its hooks leads to. If the policy denies .git, this
// file is read-only too.
func TestHooksInTheTree(t *testing.T) {
	t.Parallel()
	dir, root := suite.Rooted(t, ".git/HEAD", "ref: x\n", ".git/hooks/other", "", "tools/hook", "x\n", "tools/a.txt", "x\n")
	suite.Link(t, "../../tools/hook", filepath.Join(dir, ".git/hooks/pre-commit"))
	x := millrace.Executor{State: millrace.State{NoSync: true}, DeniedPaths: []string{".git"}}
	if _, err := x.Run(t.Context(), root, suite.Edit("tools/hook")); !errors.Is(err, names.ErrReadOnlyPath) {
		t.Errorf("error = %v, want ErrReadOnlyPath", err)
	}
	if text := suite.Read(t, root, "tools/hook"); text != "x\n" {
		t.Errorf("tools/hook is %q", text)
	}
	_, err := x.Run(t.Context(), root, suite.Edit("tools/a.txt"))
	fstest.Must(t, err)
}
