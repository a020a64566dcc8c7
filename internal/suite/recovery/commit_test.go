package recovery_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestCommitFailureIsRolledBack: a file system that fails in the middle of the commit leaves the old tree.
func TestCommitFailureIsRolledBack(t *testing.T) {
	once := true
	fsys := errorfs.Wrap(afero.NewMemMapFs(), errorfs.Failing(syscall.EIO, func(op *errorfs.Op) bool {
		now := once && op.Kind == "rename" && strings.HasSuffix(op.Name, "b.txt")
		once = once && !now
		return now
	}))
	files := suite.ThreeFiles(t, fsys)
	res, err := millrace.Run(t.Context(), fsys, suite.Edit("a.txt", "b.txt", "c.txt"))
	failed, ok := errors.AsType[*millrace.CommitError](err)
	if !ok || failed.State != millrace.CommitRolledBack || !errors.Is(err, syscall.EIO) {
		t.Fatalf("error %#v", err)
	}
	if !strings.HasPrefix(err.Error(), "pipeline failed at step 1, rolled back: commit failed: ") || !strings.Contains(err.Error(), "b.txt") {
		t.Errorf("error %q", err)
	}
	if res.Success || !res.RollbackPerformed || res.Commit.State != millrace.CommitRolledBack || res.BackupID != "" {
		t.Errorf("result %+v", res)
	}
	suite.CheckTree(t, "after the failure", fsys, files)
	if _, err := fsys.Stat(".millrace"); err == nil {
		t.Error("the state directory is left although it is empty")
	}
}

// TestRollbackFailureIsRecovered: if the rollback fails too, the error states what to do, and Recover does it. Before
// the recovery nothing else is written.
func TestRollbackFailureIsRecovered(t *testing.T) {
	fsys := errorfs.Wrap(afero.NewMemMapFs(), nil)
	files := suite.ThreeFiles(t, fsys)
	// The first file is renamed into place, then all renames of such names fail permanently, in the rollback too.
	armed := suite.BreakAfter(fsys, ".txt")
	res, err := millrace.Run(t.Context(), armed, suite.Edit("a.txt", "b.txt", "c.txt"))
	failed, ok := errors.AsType[*millrace.CommitError](err)
	if !ok || failed.State != millrace.CommitPending || res.Commit.State != millrace.CommitPending {
		t.Fatalf("error %v, result %v", err, res)
	}
	if !strings.HasPrefix(err.Error(), "pipeline failed at step 1, rollback failed: ") || !strings.HasSuffix(err.Error(), "Run Recover on this tree before anything else") {
		t.Errorf("error %q", err)
	}
	if _, err := millrace.Run(t.Context(), armed, suite.Edit("c.txt")); err == nil {
		t.Error("another run has written to a tree that needs a recovery")
	}
	if plan, err := (millrace.Executor{}).Plan(t.Context(), armed, suite.Edit("c.txt")); err != nil || plan.Result().TotalEdits != 1 {
		t.Errorf("a dry run fails: %v", err)
	}
	done, err := millrace.Executor{}.Recover(t.Context(), fsys)
	if err != nil || len(done.RolledBack) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	suite.CheckTree(t, "after the recovery", fsys, files)
}
