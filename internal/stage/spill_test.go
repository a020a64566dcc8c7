//go:build linux

package stage_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/stage"
)

// tempFiles sets the directory for temporary files. Tests that call it cannot be parallel.
func tempFiles(t *testing.T, dir string) string {
	t.Helper()
	t.Setenv("TMPDIR", dir)
	return dir
}

func noise(n int) []byte {
	data := make([]byte, n)
	_, _ = rand.Read(data)
	return data
}

// A stage whose spill file another program truncated must not return the rest as the whole.
func TestStage_spillFileCutOff(t *testing.T) {
	dir := tempFiles(t, t.TempDir())
	s := stage.New(afero.NewMemMapFs())
	stage.SetLimits(s, 0, 0)
	data := noise(300 << 10)
	fstest.Must(t, afero.WriteFile(s, "f", data, 0o644))
	fstest.Must(t, s.Edit("f", []change.Splice{cut(1, 1, "a")})) // pages of another body, in the same file
	fstest.Must(t, s.Rename("f", "g"))
	files := fstest.Opened(t, dir)
	if len(files) != 1 {
		t.Fatalf("open in the directory for temporary files: %v", files)
	}
	f, err := s.OpenFile("g", os.O_RDWR, 0)
	fstest.Must(t, err)
	for fd := range files {
		fstest.Must(t, unix.Ftruncate(fd, 200<<10))
	}
	damaged := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = s.ReadFile("g")
	damaged("ReadFile", err)
	_, err = io.ReadAll(f)
	damaged("reading a stream", err)
	_, err = s.Changes()
	damaged("Changes", err)
	damaged("Edit", s.Edit("g", []change.Splice{cut(0, 1, "b")}))
	_, err = f.WriteAt([]byte("c"), 290<<10)
	damaged("WriteAt", err)
	damaged("Truncate", f.Truncate(290<<10))
	fstest.Must(t, f.Close())
	fstest.Must(t, s.Close())
	if files := fstest.Opened(t, dir); len(files) != 0 {
		t.Errorf("left open: %v", files)
	}
}

func TestStage_spillNowhere(t *testing.T) {
	dir := tempFiles(t, filepath.Join(t.TempDir(), "missing"))
	base := afero.NewMemMapFs()
	old := noise(300 << 10)
	fstest.Must(t, afero.WriteFile(base, "f", old, 0o644))
	s := stage.New(base)
	stage.SetLimits(s, 0, 0)
	missing := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v, want an error that names %s", what, err, dir)
		}
	}
	missing("WriteFile", afero.WriteFile(s, "new", old, 0o644))
	f, err := s.OpenFile("f", os.O_RDWR, 0)
	fstest.Must(t, err)
	_, err = f.WriteAt([]byte("x"), 0)
	missing("WriteAt", err)
	fstest.Must(t, f.Close())
	if data, err := s.ReadFile("f"); !bytes.Equal(data, old) {
		t.Errorf("the file is not what it was: %v", err)
	}
	// Splices that cost more than their result.
	splices := make([]change.Splice, 20000)
	for i := range splices {
		splices[i] = cut(int64(15*i), 14, "")
	}
	missing("Edit", s.Edit("f", splices))
	fstest.Must(t, s.Close())
}

// A directory in which files can be made but not removed keeps a name, but no open file.
func TestStage_spillFileThatStays(t *testing.T) {
	dir := tempFiles(t, t.TempDir())
	fstest.Attribute(t, dir, fstest.AppendOnly)
	s := stage.New(afero.NewMemMapFs())
	stage.SetLimits(s, 0, 0)
	if err := afero.WriteFile(s, "f", noise(200<<10), 0o644); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("WriteFile: %v", err)
	}
	if files := fstest.Opened(t, dir); len(files) != 0 {
		t.Errorf("left open: %v", files)
	}
}

// A write that fails because the disk for temporary files is full has written exactly the bytes that it reports, like
// write(2).
func TestStage_spillFull(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=300k"); err != nil {
		t.Skipf("this process cannot mount: %v", err)
	}
	tempFiles(t, dir)
	s := stage.New(afero.NewMemMapFs())
	t.Cleanup(func() {
		fstest.Must(t, s.Close())
		fstest.Must(t, unix.Unmount(dir, 0)) // fails while a file is open in it
	})
	stage.SetLimits(s, 0, 0)
	f, err := s.Create("f")
	fstest.Must(t, err)
	data := noise(1 << 20)
	n, err := f.Write(data)
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("Write: %d, %v", n, err)
	}
	info, err := f.Stat()
	fstest.Must(t, err)
	if info.Size() != int64(n) {
		t.Errorf("%d bytes were written, the file has %d", n, info.Size())
	}
	if _, err := f.WriteAt([]byte("x"), 5<<20); err != nil {
		t.Errorf("a page that is not full needs no space: %v", err)
	}
	fstest.Must(t, f.Truncate(int64(n)))
	got, err := s.ReadFile("f")
	fstest.Must(t, err)
	if !bytes.Equal(got, data[:n]) {
		t.Error("the bytes are not those that were written")
	}
	if err := f.Close(); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("Close: %v", err)
	}
}

func TestStage_spillClosed(t *testing.T) {
	t.Parallel()
	s := stage.New(afero.NewMemMapFs())
	stage.SetLimits(s, 0, 0)
	fstest.Must(t, afero.WriteFile(s, "f", noise(200<<10), 0o644))
	fstest.Must(t, s.Close())
	if _, err := s.ReadFile("f"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("ReadFile: %v", err)
	}
	if err := afero.WriteFile(s, "g", noise(200<<10), 0o644); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("WriteFile: %v", err)
	}
	fstest.Must(t, s.Close())
}
