package stage_test

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

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
)

// handleErrors calls every method of a handle and returns the outcomes, in terms that are the same on all systems.
func handleErrors(f afero.File) map[string]string {
	kind := func(err error) string {
		switch {
		case err == nil || err == io.EOF:
			return fmt.Sprint(err)
		case errors.Is(err, fs.ErrClosed), strings.HasSuffix(err.Error(), "use of closed file"): // from package poll
			return "closed"
		case errors.Is(err, names.ErrIsDir) || errors.Is(err, syscall.EISDIR):
			return "is a directory"
		case errors.Is(err, syscall.EBADF), errors.Is(err, syscall.EINVAL): // of Linux, for a handle for reading
			return "is a directory"
		}
		return err.Error()
	}
	one := make([]byte, 1)
	_, statErr := f.Stat()
	_, seekErr := f.Seek(0, io.SeekStart)
	got := map[string]string{
		"stat": kind(statErr), "seek": kind(seekErr), "sync": kind(f.Sync()), "truncate": kind(f.Truncate(0)),
		"read": kind(fstest.ErrOf(f.Read(one))), "readat": kind(fstest.ErrOf(f.ReadAt(one, 0))), "write": kind(fstest.ErrOf(f.Write(one))),
		"writeat": kind(fstest.ErrOf(f.WriteAt(one, 0))), "writestring": kind(fstest.ErrOf(f.WriteString("x"))),
		"readdir": kind(fstest.ErrOf(f.Readdir(-1))), "readdir at the end": kind(fstest.ErrOf(f.Readdir(1))),
	}
	_, _ = f.Seek(0, io.SeekStart)
	got["readdirnames"] = kind(fstest.ErrOf(f.Readdirnames(-1)))
	got["close"] = kind(f.Close())
	return got
}

// A handle on a directory behaves like one of the system, open and closed.
func TestStage_directoryHandle(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the test compares with errors of Linux")
	}
	dir := t.TempDir()
	fstest.Must(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
	fstest.Must(t, os.WriteFile(filepath.Join(dir, "d", "f"), []byte("x"), 0o644))
	s := stage.New(fstest.OpenRoot(t, dir))
	got, err := s.Open("d")
	fstest.Must(t, err)
	want, err := os.Open(filepath.Join(dir, "d"))
	fstest.Must(t, err)
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

// Errors of a closed handle of a file.
func TestStage_fileHandleClosed(t *testing.T) {
	t.Parallel()
	s := stage.New(afero.NewMemMapFs())
	f, err := s.Create("f")
	fstest.Must(t, err)
	fstest.Must(t, f.Close())
	for op, err := range map[string]error{
		"stat": fstest.ErrOf(f.Stat()), "sync": f.Sync(), "seek": fstest.ErrOf(f.Seek(0, 0)), "read": fstest.ErrOf(f.Read(nil)),
		"write": fstest.ErrOf(f.Write([]byte("x"))), "truncate": f.Truncate(0), "close": f.Close(),
	} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s: %v, want fs.ErrClosed", op, err)
		}
	}
}

// Seek restarts a listing, which then shows later entries; no other seek is allowed.
func TestStage_listingAnew(t *testing.T) {
	t.Parallel()
	s := stage.New(afero.NewMemMapFs())
	fstest.Must(t, s.Mkdir("d", 0o755))
	fstest.Must(t, afero.WriteFile(s, "d/a", nil, 0o644))
	fstest.Must(t, s.SymlinkIfPossible("a", "d/l"))
	fstest.Must(t, s.Mkdir("d/z", 0o755))
	f, err := s.Open("d")
	fstest.Must(t, err)
	defer f.Close()
	entries, err := f.(fs.ReadDirFile).ReadDir(-1)
	fstest.Must(t, err)
	var types []string
	for _, e := range entries {
		info, err := e.Info()
		fstest.Must(t, err)
		if info.Mode().Type() != e.Type() || info.Name() != e.Name() {
			t.Errorf("%s: the entry has %v, its info %v", e.Name(), e.Type(), info.Mode())
		}
		types = append(types, e.Name()+" "+e.Type().String())
	}
	if want := []string{"a ----------", "l L---------", "z d---------"}; !slices.Equal(types, want) {
		t.Errorf("listed are %q, want %q", types, want)
	}
	if _, err := f.Seek(1, io.SeekStart); err == nil {
		t.Error("Seek to the middle of a directory")
	}
	fstest.Must(t, afero.WriteFile(s, "d/b", nil, 0o644))
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Error(err)
	}
	got, err := f.Readdirnames(-1)
	if want := []string{"a", "b", "l", "z"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("after Seek listed are %q, %v, want %q", got, err, want)
	}
}
