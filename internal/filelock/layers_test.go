package filelock_test

import (
	"context"
	"errors"
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

// Another process makes the mark right after this one has found none: only the other one holds it.
func TestMark_madeMeanwhile(t *testing.T) {
	t.Parallel()
	for name, below := range layered(t) {
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
