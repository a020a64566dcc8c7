package filelock_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/filelock"
	"github.com/millrace-go/millrace/internal/fstest"
)

const deadToken = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// plantDead makes the mark of a process that has died while it had the lock.
func plantDead(t *testing.T, fsys afero.Fs, token string) {
	t.Helper()
	host, err := os.Hostname()
	fstest.Must(t, err)
	dead := exec.Command(os.Args[0], "-test.run=^$")
	fstest.Must(t, dead.Run())
	fstest.Must(t, fsys.Mkdir("lock", 0o700))
	fstest.Write(t, fsys, "lock/made", token)
	fstest.Write(t, fsys, "lock/owner-"+path.Base(token), fmt.Sprintf(`{"host":%q,"pid":%d,"token":%q}`, host, dead.Process.Pid, token))
}

// isFree reports whether another process could make the mark now.
func isFree(t *testing.T, fsys afero.Fs) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	third := filelock.NewMark(disk.Open(fsys), "lock", nothing)
	err := third.Make(ctx)
	if err == nil {
		fstest.Must(t, third.Remove())
	}
	return err == nil
}

// Another process intervenes at an operation of this one. Only the other process has the lock afterwards, and
// a third process never finds the lock free.
func TestMark_takenOverTwice(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		dead bool
		when func(op *errorfs.Op) bool
		// away moves the lock of this process away before the other process makes its lock.
		away bool
	}{
		{"both take over the mark of a dead process", true, func(op *errorfs.Op) bool { return op.Kind == "rename" && op.From == "lock" }, false},
		{"the mark is moved away before it names its owner", false,
			func(op *errorfs.Op) bool { return op.Kind == "rename" && strings.HasPrefix(op.Name, "lock/owner-") }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			below := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
			if tt.dead {
				plantDead(t, below, deadToken)
			}
			other, met := filelock.NewMark(disk.Open(below), "lock", nothing), false
			fsys := errorfs.Wrap(below, func(op *errorfs.Op, do func() error) error {
				if met || !tt.when(op) {
					return do()
				}
				met = true
				var err error
				if tt.away {
					fstest.Must(t, below.Rename("lock", "lock-looking"))
					err = do()
				}
				fstest.Must(t, other.Make(t.Context()))
				if !tt.away {
					err = do()
				}
				if isFree(t, below) {
					t.Error("a third process finds the lock free")
				}
				return err
			})
			m := filelock.NewMark(disk.Open(fsys), "lock", nothing)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			defer cancel()
			if err := m.Make(ctx); !met || !errors.Is(err, capability.ErrLocked) {
				t.Errorf("met %v, error is %v", met, err)
			}
			if isFree(t, below) {
				t.Error("the lock is free afterwards")
			}
			fstest.Must(t, other.StillMine())
			fstest.Must(t, other.Sweep())
			fstest.Must(t, other.Remove())
			if left := fstest.List(t, below, "."); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// The mark of a dead process is taken over even if its token is not valid, or if there is a copy of the mark.
func TestMark_takenOverOdd(t *testing.T) {
	t.Parallel()
	for name, token := range map[string]string{"a copy": deadToken, "a path": "../../" + deadToken, "none": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
			plantDead(t, fsys, token)
			if name == "a copy" {
				fstest.Must(t, fsys.Rename("lock", "lock-"+token))
				plantDead(t, fsys, token)
			}
			m := filelock.NewMark(disk.Open(fsys), "lock", nothing)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			fstest.Must(t, m.Make(ctx))
			fstest.Must(t, m.Sweep())
			fstest.Must(t, m.Remove())
			if left := fstest.List(t, fsys, "."); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// Remove does not remove the mark of another process, which is in place of its own.
func TestMark_removeOther(t *testing.T) {
	t.Parallel()
	fsys := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	m, other := filelock.NewMark(disk.Open(fsys), "lock", nothing), filelock.NewMark(disk.Open(fsys), "lock", nothing)
	fstest.Must(t, m.Make(t.Context()))
	fstest.Must(t, fsys.Rename("lock", "lock-looking"))
	fstest.Must(t, other.Make(t.Context()))
	if err := m.Remove(); !errors.Is(err, filelock.ErrLost) {
		t.Errorf("error is %v", err)
	}
	if err := other.StillMine(); err != nil || isFree(t, fsys) {
		t.Errorf("the other lock: %v", err)
	}
}

// A mark that cannot be read when the lock is released is removed all the same, because its process is alive.
func TestFile_unreadable(t *testing.T) {
	t.Parallel()
	below := errorfs.Wrap(errorfs.Plain(fstest.OpenRoot(t, t.TempDir())), nil)
	fstest.Write(t, below, "run", "text")
	closing, met := false, false
	fsys := errorfs.Wrap(below, errorfs.Failing(syscall.EMFILE, func(op *errorfs.Op) bool {
		fails := closing && !met && op.Kind == "open" && op.Name == "run.lock/made"
		met = met || fails
		return fails
	}))
	held, err := filelock.File(t.Context(), disk.Open(fsys), "run")
	fstest.Must(t, err)
	closing = true
	if err := held.Close(); !met || !errors.Is(err, syscall.EMFILE) {
		t.Errorf("met %v, error is %v", met, err)
	}
	if err := try(below, "run", 10*time.Second); err != nil {
		t.Errorf("the lock is not free: %v", err)
	}
}
