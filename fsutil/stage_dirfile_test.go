package fsutil_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
)

// handleErrors calls every method of a handle and returns what comes of it, in the terms that all systems share.
func handleErrors(f afero.File) map[string]string {
	kind := func(err error) string {
		switch {
		case err == nil || err == io.EOF:
			return fmt.Sprint(err)
		case errors.Is(err, fs.ErrClosed), strings.HasSuffix(err.Error(), "use of closed file"): // of package poll
			return "closed"
		case errors.Is(err, fsutil.ErrIsDir) || errors.Is(err, syscall.EISDIR):
			return "is a directory"
		case errors.Is(err, syscall.EBADF), errors.Is(err, syscall.EINVAL): // Linux says so of a handle that is for reading
			return "is a directory"
		}
		return err.Error()
	}
	one := make([]byte, 1)
	_, statErr := f.Stat()
	_, seekErr := f.Seek(0, io.SeekStart)
	got := map[string]string{
		"stat": kind(statErr), "seek": kind(seekErr), "sync": kind(f.Sync()), "truncate": kind(f.Truncate(0)),
		"read": kind(errOf(f.Read(one))), "readat": kind(errOf(f.ReadAt(one, 0))), "write": kind(errOf(f.Write(one))),
		"writeat": kind(errOf(f.WriteAt(one, 0))), "writestring": kind(errOf(f.WriteString("x"))),
		"readdir": kind(errOf(f.Readdir(-1))), "readdir at the end": kind(errOf(f.Readdir(1))),
	}
	_, _ = f.Seek(0, io.SeekStart)
	got["readdirnames"] = kind(errOf(f.Readdirnames(-1)))
	got["close"] = kind(f.Close())
	return got
}

// A handle on a directory does what one of the system does, open and closed.
func TestStage_directoryHandle(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the errors are those of Linux")
	}
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "d", "f"), []byte("x"), 0o644))
	s := fsutil.NewStage(openRoot(t, dir))
	got, err := s.Open("d")
	must(t, err)
	want, err := os.Open(filepath.Join(dir, "d"))
	must(t, err)
	if got.Name() != "d" {
		t.Errorf("the name is %q", got.Name())
	}
	for _, state := range []string{"open", "closed"} {
		if diff := cmp.Diff(handleErrors(want), handleErrors(got)); diff != "" {
			t.Errorf("%s (-system +stage):\n%s", state, diff)
		}
	}
	if _, err := got.(fs.ReadDirFile).ReadDir(-1); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("ReadDir of a closed handle: %v", err)
	}
}

// What a closed handle of a file says.
func TestStage_fileHandleClosed(t *testing.T) {
	t.Parallel()
	s := fsutil.NewStage(afero.NewMemMapFs())
	f, err := s.Create("f")
	must(t, err)
	must(t, f.Close())
	for op, err := range map[string]error{
		"stat": errOf(f.Stat()), "sync": f.Sync(), "seek": errOf(f.Seek(0, 0)), "read": errOf(f.Read(nil)),
		"write": errOf(f.Write([]byte("x"))), "truncate": f.Truncate(0), "close": f.Close(),
	} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s: %v, want fs.ErrClosed", op, err)
		}
	}
}

// A listing is begun anew by Seek, and shows what has come since; nothing else can be sought.
func TestStage_listingAnew(t *testing.T) {
	t.Parallel()
	s := fsutil.NewStage(afero.NewMemMapFs())
	must(t, s.Mkdir("d", 0o755))
	must(t, afero.WriteFile(s, "d/a", nil, 0o644))
	must(t, s.SymlinkIfPossible("a", "d/l"))
	must(t, s.Mkdir("d/z", 0o755))
	f, err := s.Open("d")
	must(t, err)
	defer f.Close()
	entries, err := f.(fs.ReadDirFile).ReadDir(-1)
	must(t, err)
	var types []string
	for _, e := range entries {
		info, err := e.Info()
		must(t, err)
		if info.Mode().Type() != e.Type() || info.Name() != e.Name() {
			t.Errorf("%s: the entry says %v, its info %v", e.Name(), e.Type(), info.Mode())
		}
		types = append(types, e.Name()+" "+e.Type().String())
	}
	if want := []string{"a ----------", "l L---------", "z d---------"}; !slices.Equal(types, want) {
		t.Errorf("listed are %q, want %q", types, want)
	}
	if _, err := f.Seek(1, io.SeekStart); err == nil {
		t.Error("Seek to the middle of a directory")
	}
	must(t, afero.WriteFile(s, "d/b", nil, 0o644))
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Error(err)
	}
	got, err := f.Readdirnames(-1)
	if want := []string{"a", "b", "l", "z"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("after Seek listed are %q, %v, want %q", got, err, want)
	}
}
