package millrace_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// brokenFs fails to rename to some names, as often as it is told to.
type brokenFs struct {
	afero.Fs
	name  string
	times int
}

func (b *brokenFs) Rename(from, to string) error {
	if b.times != 0 && strings.HasSuffix(to, b.name) {
		b.times--
		return syscall.EIO
	}
	return b.Fs.Rename(from, to)
}

func threeFiles(t *testing.T, fsys afero.Fs) []txtarfs.File {
	t.Helper()
	files := []txtarfs.File{{Name: "a.txt", Data: []byte("x\n")}, {Name: "b.txt", Data: []byte("x\n")}, {Name: "c.txt", Data: []byte("x\n")}}
	if err := txtarfs.Write(fsys, files); err != nil {
		t.Fatal(err)
	}
	return files
}

// TestCommitFailureIsRolledBack: a file system that fails in the middle of the commit leaves the old tree.
func TestCommitFailureIsRolledBack(t *testing.T) {
	fsys := &brokenFs{Fs: afero.NewMemMapFs(), name: "b.txt", times: 1}
	files := threeFiles(t, fsys)
	res, err := millrace.Run(t.Context(), fsys, edit("a.txt", "b.txt", "c.txt"))
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
	checkTree(t, "after the failure", fsys, files)
	if _, err := fsys.Stat(".millrace"); err == nil {
		t.Error("the state directory is left although there is nothing in it")
	}
}

// TestRollbackFailureIsRecovered: where the rollback fails too, the error says what to do, and Recover does it. Until then
// nothing else is written.
func TestRollbackFailureIsRecovered(t *testing.T) {
	fsys := &brokenFs{Fs: afero.NewMemMapFs(), name: ".txt", times: 0}
	files := threeFiles(t, fsys)
	// The first file is renamed into place, then all renames of such names fail for good, those of the rollback too.
	armed := &armedFs{brokenFs: fsys}
	res, err := millrace.Run(t.Context(), armed, edit("a.txt", "b.txt", "c.txt"))
	failed, ok := errors.AsType[*millrace.CommitError](err)
	if !ok || failed.State != millrace.CommitPending || res.Commit.State != millrace.CommitPending {
		t.Fatalf("error %v, result %v", err, res)
	}
	if !strings.HasPrefix(err.Error(), "pipeline failed at step 1, rollback failed: ") || !strings.HasSuffix(err.Error(), "Run Recover on this tree before anything else") {
		t.Errorf("error %q", err)
	}
	if _, err := millrace.Run(t.Context(), armed, edit("c.txt")); err == nil {
		t.Error("another run has written to a tree that has to be recovered")
	}
	if plan, err := (millrace.Executor{}).Plan(t.Context(), armed, edit("c.txt")); err != nil || plan.Result().TotalEdits != 1 {
		t.Errorf("a dry run does not go on: %v", err)
	}
	fsys.times = 0 // the disk is well again
	done, err := millrace.Executor{}.Recover(t.Context(), fsys)
	if err != nil || len(done.RolledBack) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	checkTree(t, "after the recovery", fsys, files)
}

// armedFs breaks for good when the first file has been renamed into place.
type armedFs struct {
	*brokenFs
	done bool
}

func (a *armedFs) Rename(from, to string) error {
	err := a.brokenFs.Rename(from, to)
	if err == nil && !a.done && strings.HasSuffix(to, "a.txt") {
		a.done, a.times = true, -1
	}
	return err
}
