package recovery_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/suite"
)

// panicky is a user's file system that panics once, at the operation after which none are left. Its files have no file
// descriptors, so its lock is a file in the tree.
func panicky(fsys afero.Fs, left *atomic.Int64) afero.Fs {
	return errorfs.Wrap(errorfs.Only(fsys), func(op *errorfs.Op, do func() error) error {
		switch op.Kind {
		case "open", "mkdir", "remove", "rename", "stat", "lstat", "readdir", "read", "write":
			if left.Add(-1) == 0 {
				panic("the file system is broken")
			}
		}
		return do()
	})
}

// TestPanicLeavesNoLock: wherever the file system panics, the lock is released, and the tree is old or new. Once the
// tree is new the panic is caught: the caller gets the state of the commit.
func TestPanicLeavesNoLock(t *testing.T) {
	verbs := map[string]func(ctx context.Context, fsys afero.Fs) error{
		"run": func(ctx context.Context, fsys afero.Fs) error {
			_, err := millrace.Executor{State: millrace.State{NoSync: true}}.Run(ctx, fsys, suite.Edit("a.txt"))
			return err
		},
		"commit": func(ctx context.Context, fsys afero.Fs) error {
			plan, err := millrace.Executor{State: millrace.State{NoSync: true}}.Plan(ctx, fsys, suite.Edit("a.txt"))
			if err == nil {
				_, err = plan.Commit(ctx)
			}
			return err
		},
		"recover": func(ctx context.Context, fsys afero.Fs) error {
			_, err := millrace.Executor{}.Recover(ctx, fsys)
			return err
		},
	}
	step := int64(1)
	if testing.Short() {
		step = 7
	}
	for name, verb := range verbs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n, panicked := int64(1), true; panicked; n += step {
				dir := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
				suite.ThreeFiles(t, dir)
				before := fstest.Read(t, dir, "a.txt")
				if err := dir.MkdirAll(".millrace/tx/20200102_030405_0123456789abcdef", 0o700); err != nil {
					t.Fatal(err)
				}
				var left atomic.Int64
				fsys := panicky(dir, &left)
				left.Store(n)
				err := panics.Protect(func() error { return verb(t.Context(), fsys) })
				panicked = left.Load() <= 0
				left.Store(0) // no further panics
				// A wrapped panic has been caught, and the error states the state of the tree.
				if _, escaped := err.(*panics.Error); escaped && fstest.Read(t, dir, "a.txt") != before {
					t.Fatalf("panic at operation %d: the tree is new, and nothing is reported but %v", n, err)
				}
				x := millrace.Executor{State: millrace.State{LockWait: 10 * time.Second, NoSync: true}}
				if _, err := x.Recover(t.Context(), fsys); errors.Is(err, capability.ErrLocked) {
					t.Fatalf("panic at operation %d: %v", n, err)
				}
				if ok, _ := afero.Exists(dir, ".millrace/lock"); ok {
					t.Fatalf("panic at operation %d: the lock is left", n)
				}
				if n > 2000 {
					t.Fatal("it never ends")
				}
			}
		})
	}
}
