package stage_test

import (
	"io/fs"
	"os"
	"sync"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// faultyFs is a base in which one call fails, and that counts the files that are open. It has none of the optional
// interfaces, so that everything goes by way of the methods of afero.
type faultyFs struct {
	afero.Fs
	afero.Symlinker

	mu    sync.Mutex
	at    int    // which call fails, counted from 1; 0 for none
	calls int    // so far
	hit   string // the call that failed
	open  int
}

func newFaulty(fsys *rootfs.FS) *faultyFs { return &faultyFs{Fs: fsys, Symlinker: fsys} }

// arm has the call fail that comes as number at from now on.
func (f *faultyFs) arm(at int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.calls, f.hit = at, 0, ""
}

// state returns which call has failed, if one has, and how many files are open.
func (f *faultyFs) state() (hit string, open int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hit, f.open
}

func (f *faultyFs) fails(op, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls++; f.calls != f.at {
		return nil
	}
	f.hit = op + " " + name
	return &fs.PathError{Op: op, Path: name, Err: fstest.ErrDisk}
}

func (f *faultyFs) Stat(name string) (os.FileInfo, error) {
	if err := f.fails("stat", name); err != nil {
		return nil, err
	}
	return f.Fs.Stat(name)
}

func (f *faultyFs) LstatIfPossible(name string) (os.FileInfo, bool, error) {
	if err := f.fails("lstat", name); err != nil {
		return nil, true, err
	}
	return f.Symlinker.LstatIfPossible(name)
}

func (f *faultyFs) ReadlinkIfPossible(name string) (string, error) {
	if err := f.fails("readlink", name); err != nil {
		return "", err
	}
	return f.Symlinker.ReadlinkIfPossible(name)
}

func (f *faultyFs) Open(name string) (afero.File, error) {
	if err := f.fails("open", name); err != nil {
		return nil, err
	}
	file, err := f.Fs.Open(name)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open++
	return &faultyFile{File: file, fs: f}, nil
}

type faultyFile struct {
	afero.File
	fs *faultyFs
}

func (f *faultyFile) Stat() (os.FileInfo, error) {
	if err := f.fs.fails("fstat", f.Name()); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f *faultyFile) Read(p []byte) (int, error) {
	if err := f.fs.fails("read", f.Name()); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *faultyFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.fs.fails("pread", f.Name()); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *faultyFile) Readdir(n int) ([]os.FileInfo, error) {
	if err := f.fs.fails("readdir", f.Name()); err != nil {
		return nil, err
	}
	return f.File.Readdir(n)
}

func (f *faultyFile) Close() error {
	err := f.File.Close()
	if err == nil {
		f.fs.mu.Lock()
		f.fs.open--
		f.fs.mu.Unlock()
	}
	return err
}

// faultyBase returns a tree with a file, two directories, one in the other, and links to some of it.
func faultyBase(t *testing.T) *faultyFs {
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
