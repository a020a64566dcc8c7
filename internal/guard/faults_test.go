package guard_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/guard"
)

// TestFaultsAllowNothing: if the tree cannot be inspected, the guard returns the error. It never mistakes this for a
// tree without repositories, whichever operation fails.
func TestFaultsAllowNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"d/.git": "gitdir: ../m/store/worktrees/d\n", "m/store/worktrees/d/commondir": "../..\n", "m/store/hooks/a": "a",
		"d/x/refs/a": "a", "d/x/text": "x",
	} {
		fstest.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		fstest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	fstest.Must(t, os.Symlink("../../../d/x/text", filepath.Join(dir, "m/store/hooks/b")))
	root := fstest.OpenRoot(t, dir)
	file := change.State{Kind: change.File}
	policy := guard.Policy{Denied: []string{".git"}}
	made := guard.New(policy)
	for name, ask := range map[string]func(tree guard.Tree) error{
		"a change": func(tree guard.Tree) error {
			return policy.CheckChanges(tree, []change.Change{{Path: "d/x/new", Kind: change.Created, New: file}})
		},
		"a mark of a repository": func(tree guard.Tree) error {
			return policy.CheckChanges(tree, []change.Change{{Path: "d/x/HEAD", Kind: change.Created, New: file}})
		},
		"a read": func(tree guard.Tree) error { return made.NewRepositories(tree).Check("d/x/new", guard.Look, false) },
		"a write of a directory": func(tree guard.Tree) error {
			return made.NewRepositories(tree).Check("d/x", guard.Write, true)
		},
		"the protected files below a path": func(tree guard.Tree) error {
			_, err := made.NewRepositories(tree).Holds("d/x")
			return err
		},
		"the directory of git": func(tree guard.Tree) error {
			_, err := guard.CommonDir(tree, "d")
			return err
		},
	} {
		if err := ask(guard.TreeOf(root)); err != nil {
			t.Errorf("%s: refused without a fault: %v", name, err)
		}
		failed := 0
		for at := 0; ; at++ {
			n, met := -1, false
			broken := errorfs.Wrap(root, errorfs.Failing(syscall.EIO, func(op *errorfs.Op) bool {
				if op.Kind == "close" || op.Kind == "identity" {
					return false // of a file that was read; a file without an identity is allowed
				}
				n++
				met = met || n == at
				return n == at
			}))
			err := ask(guard.TreeOf(broken))
			if !met {
				break
			}
			if failed++; !errors.Is(err, syscall.EIO) {
				t.Errorf("%s: operation %d has failed, and the answer is %v", name, at, err)
			}
		}
		if failed < 3 {
			t.Errorf("%s: %d operations could fail", name, failed)
		}
	}
}
