package filelock_test

import (
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/filelock"
	"github.com/millrace-go/millrace/internal/fstest"
)

// Checking whether the lock is held leaves no traces.
func TestHeld(t *testing.T) {
	t.Parallel()
	root := fstest.OpenRoot(t, t.TempDir())
	for name, fsys := range map[string]afero.Fs{
		"root": root, "memory": fstest.Raise(t, afero.NewMemMapFs()), "plain": errorfs.Plain(fstest.OpenRoot(t, t.TempDir())),
	} {
		fstest.Write(t, fsys, "f", "text")
		d := disk.Open(fsys)
		look := func(want bool) {
			t.Helper()
			before := fstest.List(t, fsys, ".")
			if held, err := filelock.Held(d, "f"); held != want || err != nil {
				t.Errorf("%s: held %t, %v; want %t", name, held, err, want)
			}
			if after := fstest.List(t, fsys, "."); len(after) != len(before) {
				t.Errorf("%s: the check has left %q", name, after)
			}
		}
		look(false)
		lock, err := filelock.File(t.Context(), d, "f")
		fstest.Must(t, err)
		look(true)
		fstest.Must(t, lock.Close())
		look(false)
	}
}

// A missing file is not held, and is an error.
func TestHeld_missing(t *testing.T) {
	t.Parallel()
	d := disk.Open(fstest.OpenRoot(t, t.TempDir()))
	if held, err := filelock.Held(d, "f"); held || !disk.IsAbsent(err) {
		t.Errorf("held %t, %v", held, err)
	}
}
