package fstest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/spf13/afero"
)

// tree is a file system under test. Its methods fail the test if an operation fails.
type tree struct {
	*testing.T
	fs afero.Fs
}

func (t tree) must(err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// want fails the test unless err is of the kind.
func (t tree) want(err error, what string, kind func(error) bool) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want an error with %s", what)
		return
	}
	if !kind(err) {
		t.Errorf("error %q (%#v), want an error with %s", err, errors.Unwrap(err), what)
	}
}

func (t tree) write(name, data string) {
	t.Helper()
	t.must(afero.WriteFile(t.fs, name, []byte(data), 0o644))
}

func (t tree) mkdir(names ...string) {
	t.Helper()
	for _, name := range names {
		t.must(t.fs.Mkdir(name, 0o755))
	}
}

func (t tree) open(name string, flag int) afero.File {
	t.Helper()
	file, err := t.fs.OpenFile(name, flag, 0o644)
	t.must(err)
	t.Cleanup(func() { file.Close() })
	return file
}

// openErr opens a file and returns the error.
func (t tree) openErr(name string, flag int) error {
	file, err := t.fs.OpenFile(name, flag, 0o644)
	if err == nil {
		file.Close()
	}
	return err
}

func (t tree) put(w io.Writer, data string) {
	t.Helper()
	n, err := w.Write([]byte(data))
	if err != nil || n != len(data) {
		t.Fatalf("Write = %d, %v, want %d", n, err, len(data))
	}
}

func (t tree) close(c io.Closer) {
	t.Helper()
	t.must(c.Close())
}

// has fails the test unless the file has these bytes, and its Stat the matching size and mode.
func (t tree) has(name, want string) {
	t.Helper()
	got, err := afero.ReadFile(t.fs, name)
	if err != nil {
		t.Error(err)
		return
	}
	if !bytes.Equal(got, []byte(want)) {
		t.Errorf("%q has %q, want %q", name, got, want)
	}
	info, err := t.fs.Stat(name)
	if err != nil {
		t.Error(err)
		return
	}
	if info.Size() != int64(len(want)) || !info.Mode().IsRegular() {
		t.Errorf("Stat of %q: size %d, mode %v, want a file of %d bytes", name, info.Size(), info.Mode(), len(want))
	}
}

func (t tree) lstat(name string) (fs.FileInfo, error) {
	if l, ok := t.fs.(afero.Lstater); ok {
		info, _, err := l.LstatIfPossible(name)
		return info, err
	}
	return t.fs.Stat(name)
}

// isDir fails the test unless the name is a directory.
func (t tree) isDir(name string) {
	t.Helper()
	info, err := t.lstat(name)
	if err != nil {
		t.Error(err)
		return
	}
	if !info.IsDir() || !info.Mode().IsDir() {
		t.Errorf("%q has mode %v, want a directory", name, info.Mode())
	}
}

// gone fails the test if the name exists.
func (t tree) gone(name string) {
	t.Helper()
	if info, err := t.lstat(name); !IsNotExist(err) {
		t.Errorf("Lstat(%q) = %v, %v, want nothing there", name, info, err)
	}
}

// list returns the sorted names in a directory.
func (t tree) list(name string) []string {
	t.Helper()
	dir, err := t.fs.Open(name)
	t.must(err)
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	t.must(err)
	slices.Sort(names)
	return names
}

// lists fails the test unless the directory has exactly the names, in order.
func (t tree) lists(dir string, want ...string) {
	t.Helper()
	if got := t.list(dir); !slices.Equal(got, want) {
		t.Errorf("%q lists %q, want %q", dir, got, want)
	}
}

// symlinker returns the file system's methods for links. A file system that claims links must have them.
func (t tree) symlinker() afero.Symlinker {
	t.Helper()
	s, ok := t.fs.(afero.Symlinker)
	if !ok {
		t.Fatal("the file system is not an afero.Symlinker")
	}
	return s
}

func (t tree) symlink(target, name string) {
	t.Helper()
	t.must(t.symlinker().SymlinkIfPossible(target, name))
}

// isLink fails the test unless the name is a symbolic link with the target.
func (t tree) isLink(name, target string) {
	t.Helper()
	got, err := t.symlinker().ReadlinkIfPossible(name)
	if err != nil || got != target {
		t.Errorf("Readlink(%q) = %q, %v, want %q", name, got, err, target)
	}
	info, err := t.lstat(name)
	if err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("Lstat(%q) = %v, %v, want a symbolic link", name, info, err)
	}
}

const rw = os.O_RDWR
