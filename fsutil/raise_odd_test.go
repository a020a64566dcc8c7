package fsutil_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
)

// A process whose working directory is gone has none that an afero.OsFs could stand for.
func TestRaise_workingDirectoryGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not remove a directory that somebody is in")
	}
	dir := filepath.Join(t.TempDir(), "gone")
	must(t, os.Mkdir(dir, 0o755))
	t.Chdir(dir)
	must(t, os.Remove(dir))
	if got, err := fsutil.Raise(afero.NewOsFs()); !errors.Is(err, fs.ErrNotExist) || got != nil {
		t.Errorf("Raise = %v, %v", got, err)
	}
	s := fsutil.NewStage(afero.NewOsFs())
	_, canonicalErr := s.Canonical("f")
	_, resolveErr := s.Resolve("f")
	for op, err := range map[string]error{
		"stat": errOf(s.Stat("f")), "canonical": canonicalErr, "resolve": resolveErr, "changes": errOf(s.Changes()),
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
	root := raise(t, afero.NewOsFs()).(fsutil.Namer)
	long := filepath.Join(dir, strings.Repeat("x", fsutil.MaxName+1))
	_, err := root.Canonical(long)
	if !errors.Is(err, fsutil.ErrNameTooLong) || !strings.Contains(err.Error(), long) {
		t.Errorf("Canonical: %v, want ErrNameTooLong with the name that was given", err)
	}
}

// What a BasePathFs is over need not be a directory.
func TestRaise_basePathNoDirectory(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o644))
	base := afero.NewBasePathFs(afero.NewOsFs(), file)
	if got := raise(t, base); got != base {
		t.Errorf("Raise = %T", got)
	}
}

// lookingFs can tell links from files, and nothing more.
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
	raised := raise(t, lookingFs{afero.NewMemMapFs(), &asked})
	if _, ok := raised.(afero.Symlinker); ok {
		t.Error("it claims that it can make links")
	}
	write(t, raised, "f", "x")
	if _, _, err := raised.(afero.Lstater).LstatIfPossible("f"); err != nil || len(asked) != 1 || asked[0] != "f" {
		t.Errorf("asked was %q, %v", asked, err)
	}
}

// Who empties a MemMapFs by removing its root goes on using it, as the MemMapFs lets him.
func TestRaise_memMapWithoutRoot(t *testing.T) {
	t.Parallel()
	mem := afero.NewMemMapFs()
	raised := raise(t, mem)
	write(t, mem, "/old", "x")
	if got := read(t, raised, "old"); got != "x" {
		t.Errorf("read %q", got)
	}
	must(t, mem.RemoveAll("/"))
	if list := names(t, raised, "."); len(list) != 0 {
		t.Errorf("there are %q", list)
	}
	must(t, raised.MkdirAll("d/e", 0o755))
	write(t, raised, "d/e/f", "new")
	if got := read(t, raised, "d/e/f"); got != "new" {
		t.Errorf("read %q", got)
	}
	if list := names(t, raised, "."); len(list) != 1 || list[0] != "d" {
		t.Errorf("there are %q, want d", list)
	}
	if err := raised.RemoveAll("."); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("RemoveAll of the root: %v", err)
	}
}

// The tree need not be there before the first commit makes it. Until then it is empty.
func TestStage_baseNotThereYet(t *testing.T) {
	t.Parallel()
	base := afero.NewBasePathFs(afero.NewOsFs(), filepath.Join(t.TempDir(), "later"))
	s := fsutil.NewStage(base)
	if list := names(t, s, "."); len(list) != 0 {
		t.Errorf("there are %q", list)
	}
	if paths := walkAll(t, s, ".", fsutil.WalkOptions{}); len(paths) != 0 {
		t.Errorf("walked are %q", paths)
	}
	must(t, afero.WriteFile(s, "f", []byte("x"), 0o644))
	if paths := walkAll(t, s, ".", fsutil.WalkOptions{}); len(paths) != 1 || paths[0] != "f" {
		t.Errorf("walked are %q, want f", paths)
	}
}

func TestFsNames(t *testing.T) {
	t.Parallel()
	mem := raise(t, afero.NewMemMapFs())
	for want, fsys := range map[string]afero.Fs{
		"RootFs": openRoot(t, t.TempDir()), "Stage": fsutil.NewStage(mem), "MemMapFS": mem,
	} {
		if got := fsys.Name(); got != want {
			t.Errorf("Name = %q, want %q", got, want)
		}
	}
	if v, ok := mem.(fsutil.Volatile); !ok || !v.InMemory() {
		t.Error("a MemMapFs is said to outlive the process")
	}
}
