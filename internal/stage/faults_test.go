package stage_test

import (
	"sync"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
)

// faulty is a base in which one call fails and that counts open files. Its only optional interfaces are those for
// links, so everything else uses the methods of afero.
type faulty struct {
	afero.Fs
	afero.Symlinker

	mu    sync.Mutex
	at    int    // which call fails, counted from 1; 0 for none
	calls int    // so far
	hit   string // the call that failed
	open  int
}

func newFaulty(fsys afero.Fs) *faulty {
	f := new(faulty)
	f.Fs = errorfs.Wrap(errorfs.Plain(fsys), f.around)
	f.Symlinker = f.Fs.(afero.Symlinker)
	return f
}

// arm makes call number at fail, counted from now.
func (f *faulty) arm(at int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.calls, f.hit = at, 0, ""
}

// state returns the call that failed, if any, and the number of open files.
func (f *faulty) state() (hit string, open int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hit, f.open
}

func (f *faulty) around(op *errorfs.Op, do func() error) error {
	switch op.Kind {
	case "stat", "lstat", "readlink", "open", "fstat", "read", "pread", "readdir":
		if err := f.fails(op); err != nil {
			return err
		}
	}
	err := do()
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		switch op.Kind {
		case "open":
			f.open++
		case "close":
			f.open--
		}
	}
	return err
}

func (f *faulty) fails(op *errorfs.Op) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls++; f.calls != f.at {
		return nil
	}
	f.hit = op.Kind + " " + op.Name
	return op.Error(fstest.ErrDisk)
}

// faultyBase returns a tree with a file, two nested directories, and links to some of them.
func faultyBase(t *testing.T) *faulty {
	t.Helper()
	root := fstest.OpenRoot(t, t.TempDir())
	fstest.Must(t, root.MkdirAll("d/e", 0o755))
	for _, name := range []string{"f", "d/g", "d/e/h"} {
		fstest.Write(t, root, name, "one two three\n")
	}
	if err := root.SymlinkIfPossible("d/g", "link"); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	fstest.Must(t, root.SymlinkIfPossible("d/e", "way"))
	return newFaulty(root)
}
