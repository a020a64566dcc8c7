//go:build linux

package hostile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
)

// nobody is a user without any permissions.
const nobody = 65534

// forNobody returns a tree of that user, below a directory that the user can reach.
func forNobody(t *testing.T, plant func(t testing.TB, dir string)) string {
	t.Helper()
	needRoot(t)
	dir := filepath.Join(openTemp(t), "tree")
	must(t, os.Mkdir(dir, 0o755))
	plant(t, dir)
	must(t, filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(name, nobody, nobody))
	}))
	return dir
}

// TestHostile_what_a_user_may_not_write has a read-only entry, and a user who is not root.
func TestHostile_what_a_user_may_not_write(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lock  func(t *testing.T, dir string) // makes something read-only
		errno syscall.Errno
		path  string // in the error
		early bool   // the step fails, before the commit
	}{
		"directory below": {func(t *testing.T, dir string) { must(t, os.Chmod(filepath.Join(dir, "swap"), 0o555)) }, syscall.EACCES, "swap/", true},
		"directory of somebody else": {func(t *testing.T, dir string) {
			must(t, os.Chown(filepath.Join(dir, "kind"), 0, 0))
		}, syscall.EACCES, "kind/x", true},
		"whole tree": {func(t *testing.T, dir string) { must(t, os.Chown(dir, 0, 0)) }, syscall.EACCES, "edit", true},
		"state directory of somebody else": {func(t *testing.T, dir string) {
			must(t, os.Mkdir(filepath.Join(dir, stateName), 0o755), os.WriteFile(filepath.Join(dir, stateName, "theirs"), nil, 0o600))
		}, syscall.EACCES, stateName, false},
		"unreadable file": {func(t *testing.T, dir string) {
			must(t, os.Chown(filepath.Join(dir, "from"), 0, 0), os.Chmod(filepath.Join(dir, "from"), 0o600))
		}, syscall.EACCES, "from", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := forNobody(t, everything)
			tt.lock(t, dir)
			before := treeOf(t, dir, exact|private)
			r := diskJob{Dir: dir, Pipeline: "everything"}.start(t, as(t, nobody))
			if !r.is(tt.errno) || !r.Typed || !strings.Contains(r.Error, tt.path) || r.State != millrace.CommitNone && r.State != millrace.CommitRolledBack {
				t.Errorf("report %+v", r)
			}
			if tt.early && r.State != millrace.CommitNone {
				t.Errorf("only the commit fails: %+v", r)
			}
			sameTree(t, r.Error, dir, before, exact|private)
		})
	}
}

// TestHostile_a_read_only_file: a file that its owner has protected is not written to, not even by root, unless forced.
func TestHostile_a_read_only_file(t *testing.T) {
	t.Parallel()
	dir := fstest.TempDir(t)
	plantDir(t, dir, "a=word", "b=word")
	must(t, os.Chmod(filepath.Join(dir, "b"), 0o444))
	before := treeOf(t, dir, exact)
	steps := []obj{act("edit", obj{"files": []string{"a", "b"}, "old_text": "word", "new_text": "other"})}
	_, err := host().Run(t.Context(), openDir(t, dir), decoded(t, steps...))
	blocked, ok := errors.AsType[*millrace.BlockedError](err)
	if !ok || blocked.Host || !strings.Contains(err.Error(), "b is read-only") {
		t.Errorf("error %T %v", err, err)
	}
	sameTree(t, "blocked", dir, before, exact)
	p := decoded(t, steps...)
	_, err = host().Run(t.Context(), openDir(t, dir), p.WithOptions(millrace.Options{Force: true}))
	must(t, err)
	if got := treeOf(t, dir, contents)["b"]; got != `100444 "other"` {
		t.Errorf("forced: b is %s", got)
	}
}

// TestHostile_a_read_only_mount has the tree, or a directory in it, on a read-only mount, as root.
func TestHostile_a_read_only_mount(t *testing.T) {
	t.Parallel()
	for name, below := range map[string]string{"whole tree": "", "directory below": "swap"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			everything(t, dir)
			before := treeOf(t, dir, exact)
			at := filepath.Join(dir, below)
			mounted(t, at, at, "", unix.MS_BIND, "")
			must(t, unix.Mount("", at, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
			_, err := host().Run(t.Context(), openDir(t, dir), diskPipelines()["everything"])
			failed, ok := errors.AsType[*millrace.CommitError](err)
			if !ok || failed.State == millrace.CommitPending || !errors.Is(err, syscall.EROFS) || !strings.Contains(err.Error(), below) {
				t.Errorf("error %T %v", err, err)
			}
			sameTree(t, name, dir, before, exact)
			plan, err := host().Plan(t.Context(), openDir(t, dir), diskPipelines()["everything"])
			if err != nil || len(plan.Changes()) == 0 {
				t.Errorf("a dry run needs no permission to write: %v", err)
			}
		})
	}
}
