package filelock_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/filelock"
	"github.com/millrace-go/millrace/internal/fstest"
)

// layered returns file systems on which making an existing directory is not an error, and one on which it is.
func layered(t *testing.T) map[string]afero.Fs {
	t.Helper()
	onDisk := func() afero.Fs { return afero.NewBasePathFs(afero.NewOsFs(), t.TempDir()) }
	return map[string]afero.Fs{
		"memory over disk": afero.NewCopyOnWriteFs(onDisk(), afero.NewMemMapFs()),
		"disk over disk":   afero.NewCopyOnWriteFs(onDisk(), onDisk()),
		"plain":            onDisk(),
	}
}

func nothing() error { return nil }

// bothCreate is like a MemMapFs in which two processes create a file with O_EXCL at the same time: both succeed.
type bothCreate struct{ afero.Fs }

func (b bothCreate) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	return b.Fs.OpenFile(name, flag&^os.O_EXCL, perm)
}

// Another process makes the mark right after this one has found none: only the other one holds it.
func TestMark_madeMeanwhile(t *testing.T) {
	t.Parallel()
	layers := layered(t)
	layers["both create"] = bothCreate{layers["plain"]}
	layers["plain"] = afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	for name, below := range layers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other, made := filelock.NewMark(disk.Open(below), "lock", nothing), false
			fsys := errorfs.Wrap(below, func(op *errorfs.Op, do func() error) error {
				if op.Kind == "mkdir" && op.Name == "lock" && !made {
					made = true
					fstest.Must(t, other.Make(t.Context()))
				}
				return do()
			})
			m := filelock.NewMark(disk.Open(fsys), "lock", nothing)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if err := m.Make(ctx); !errors.Is(err, capability.ErrLocked) || !made {
				t.Errorf("it was made twice: %v", err)
			}
			fstest.Must(t, other.StillMine())
			fstest.Must(t, other.Remove())
			fstest.Must(t, m.Make(t.Context()))
			fstest.Must(t, m.Remove())
			if left := fstest.List(t, below, "."); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// One process at a time holds the mark, wherever it is. A MemMapFs below other layers is left out: two processes that
// create a file with O_EXCL at the same time can both succeed, so nothing on it is made only once.
func TestMark_oneAtATime(t *testing.T) {
	t.Parallel()
	layers := layered(t)
	delete(layers, "memory over disk")
	for name, fsys := range layers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var holders sync.Mutex
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					for range fstest.Runs(50, 200, 5000) {
						m := filelock.NewMark(disk.Open(fsys), "lock", nothing)
						if err := m.Make(t.Context()); err != nil {
							t.Error(err)
							return
						}
						if !holders.TryLock() {
							t.Error("two have it")
							return
						}
						err := m.StillMine()
						holders.Unlock()
						if err := errors.Join(err, m.Remove()); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
		})
	}
}

// Another process moves the mark away to look at it, and moves it back: the lock is not lost.
func TestMark_lookedAt(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]bool{"moved back": true, "moved away": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
			m := filelock.NewMark(disk.Open(fsys), "lock", nothing)
			fstest.Must(t, m.Make(t.Context()))
			fstest.Must(t, fsys.Rename("lock", "lock-other"))
			var moving sync.WaitGroup
			if back {
				moving.Go(func() {
					time.Sleep(5 * time.Millisecond)
					fstest.Must(t, fsys.Rename("lock-other", "lock"))
				})
			}
			err := m.StillMine()
			moving.Wait()
			if errors.Is(err, filelock.ErrLost) == back || err != nil && back {
				t.Errorf("moved back: %v, the error is %v", back, err)
			}
		})
	}
}
