package raise_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/raise"
	"github.com/millrace-go/millrace/internal/stage"
)

// If the working directory of a process was removed, an afero.OsFs has none.
func TestRaise_workingDirectoryGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not remove a directory that is in use")
	}
	dir := filepath.Join(t.TempDir(), "gone")
	fstest.Must(t, os.Mkdir(dir, 0o755))
	t.Chdir(dir)
	fstest.Must(t, os.Remove(dir))
	if got, err := raise.FS(afero.NewOsFs()); !errors.Is(err, fs.ErrNotExist) || got != nil {
		t.Errorf("Raise = %v, %v", got, err)
	}
	s := stage.New(afero.NewOsFs())
	_, canonicalErr := s.Canonical("f")
	_, resolveErr := s.Resolve("f")
	for op, err := range map[string]error{
		"stat": fstest.ErrOf(s.Stat("f")), "canonical": canonicalErr, "resolve": resolveErr, "changes": fstest.ErrOf(s.Changes()),
	} {
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "getwd") {
			t.Errorf("%s: %v, want the error of Raise", op, err)
		}
	}
	if s.Base() != nil {
		t.Errorf("Base = %v", s.Base())
	}
}

func TestRaise_namesBelowTheWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	root := fstest.Raise(t, afero.NewOsFs()).(capability.Namer)
	long := filepath.Join(dir, strings.Repeat("x", names.MaxName+1))
	_, err := root.Canonical(long)
	if !errors.Is(err, names.ErrNameTooLong) || !strings.Contains(err.Error(), long) {
		t.Errorf("Canonical: %v, want ErrNameTooLong with the name that was given", err)
	}
}

// The path below a BasePathFs need not be a directory.
func TestRaise_basePathNoDirectory(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	fstest.Must(t, os.WriteFile(file, nil, 0o644))
	base := afero.NewBasePathFs(afero.NewOsFs(), file)
	if got := fstest.Raise(t, base); got != base {
		t.Errorf("Raise = %T", got)
	}
}

// lookingFs can distinguish links from files, and nothing more.
type lookingFs struct {
	afero.Fs
	asked *[]string
}

func (f lookingFs) LstatIfPossible(name string) (os.FileInfo, bool, error) {
	*f.asked = append(*f.asked, name)
	info, err := f.Stat(name)
	return info, false, err
}

func TestRaise_onlyLstat(t *testing.T) {
	t.Parallel()
	var asked []string
	raised := fstest.Raise(t, lookingFs{afero.NewMemMapFs(), &asked})
	if _, ok := raised.(afero.Symlinker); ok {
		t.Error("it claims to support links")
	}
	fstest.Write(t, raised, "f", "x")
	if _, _, err := raised.(afero.Lstater).LstatIfPossible("f"); err != nil || len(asked) != 1 || asked[0] != "f" {
		t.Errorf("asked was %q, %v", asked, err)
	}
}

// A caller that empties a MemMapFs by removing its root continues to use it, as the MemMapFs allows.
func TestRaise_memMapWithoutRoot(t *testing.T) {
	t.Parallel()
	mem := afero.NewMemMapFs()
	raised := fstest.Raise(t, mem)
	fstest.Write(t, mem, "/old", "x")
	if got := fstest.Read(t, raised, "old"); got != "x" {
		t.Errorf("read %q", got)
	}
	fstest.Must(t, mem.RemoveAll("/"))
	if list := fstest.List(t, raised, "."); len(list) != 0 {
		t.Errorf("there are %q", list)
	}
	fstest.Must(t, raised.MkdirAll("d/e", 0o755))
	fstest.Write(t, raised, "d/e/f", "new")
	if got := fstest.Read(t, raised, "d/e/f"); got != "new" {
		t.Errorf("read %q", got)
	}
	if list := fstest.List(t, raised, "."); len(list) != 1 || list[0] != "d" {
		t.Errorf("there are %q, want d", list)
	}
	if err := raised.RemoveAll("."); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("RemoveAll of the root: %v", err)
	}
}

func TestFsNames(t *testing.T) {
	t.Parallel()
	mem := fstest.Raise(t, afero.NewMemMapFs())
	for want, fsys := range map[string]afero.Fs{
		"RootFs": fstest.OpenRoot(t, t.TempDir()), "Stage": stage.New(mem), "MemMapFS": mem,
	} {
		if got := fsys.Name(); got != want {
			t.Errorf("Name = %q, want %q", got, want)
		}
	}
	if v, ok := mem.(capability.Volatile); !ok || !v.InMemory() {
		t.Error("a MemMapFs is reported to outlive the process")
	}
}
