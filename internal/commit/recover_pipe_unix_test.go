//go:build linux || darwin

package commit_test

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// TestRecover_pipes: a named pipe in place of a file of a transaction is not opened. Opening a pipe waits for a writer
// on a file system that has only the methods of afero.Fs; a root never waits.
func TestRecover_pipes(t *testing.T) {
	t.Parallel()
	for _, at := range []struct{ phase, name string }{
		{"apply", journal.PlanFile}, {"apply", journal.OldDir + "/00/00"}, {"clean", journal.DoneFile}, {"clean", journal.Result},
	} {
		t.Run(at.phase+" "+at.name, func(t *testing.T) {
			t.Parallel()
			dir := fstest.TempDir(t)
			root, err := rootfs.Open(dir)
			fstest.Must(t, err)
			t.Cleanup(func() { root.Close() })
			_, tx := interrupted(t, errorfs.Plain(root), at.phase)
			pipe := path.Join(tx, at.name)
			if err := root.Remove(pipe); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			fstest.Must(t, syscall.Mkfifo(filepath.Join(dir, filepath.FromSlash(pipe)), 0o600))
			var opened atomic.Int32
			watched := errorfs.Wrap(errorfs.Plain(root), func(op *errorfs.Op, do func() error) error {
				if op.Kind == "open" && op.Name == pipe {
					opened.Add(1)
				}
				return do()
			})
			_, err = commit.Inspect(bg, options(watched))
			fstest.Must(t, err)
			if _, err := commit.Recover(bg, options(watched)); err == nil {
				t.Error("the recovery succeeds")
			}
			if n := opened.Load(); n > 0 {
				t.Errorf("it was opened %d times", n)
			}
		})
	}
}
