package raise_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
)

// slashOps are operations on names that end in a slash, with the equivalent call of package os.
var slashOps = []struct {
	name string
	do   func(fsys afero.Fs) error
	os   func(dir string) error
}{
	{"create a file", func(f afero.Fs) error { return fstest.ErrOf(f.OpenFile("new/", os.O_WRONLY|os.O_CREATE, 0o644)) },
		func(dir string) error { return fstest.ErrOf(os.OpenFile(dir+"/new/", os.O_WRONLY|os.O_CREATE, 0o644)) }},
	{"open a file", func(f afero.Fs) error { return fstest.ErrOf(f.Open("f/")) },
		func(dir string) error { return fstest.ErrOf(os.Open(dir + "/f/")) }},
	{"open a file for writing", func(f afero.Fs) error { return fstest.ErrOf(f.OpenFile("f/", os.O_RDWR, 0)) },
		func(dir string) error { return fstest.ErrOf(os.OpenFile(dir+"/f/", os.O_RDWR, 0)) }},
	{"rename a file", func(f afero.Fs) error { return f.Rename("f/", "g") },
		func(dir string) error { return os.Rename(dir+"/f/", dir+"/g") }},
	{"rename to a directory", func(f afero.Fs) error { return f.Rename("f", "g/") },
		func(dir string) error { return os.Rename(dir+"/f", dir+"/g/") }},
	{"rename a directory", func(f afero.Fs) error { return f.Rename("d/", "e/") },
		func(dir string) error { return os.Rename(dir+"/d/", dir+"/e/") }},
	{"remove a file", func(f afero.Fs) error { return f.Remove("f/") },
		func(dir string) error { return os.Remove(dir + "/f/") }},
	{"stat a file", func(f afero.Fs) error { return fstest.ErrOf(f.Stat("f/")) },
		func(dir string) error { return fstest.ErrOf(os.Stat(dir + "/f/")) }},
	{"make a directory", func(f afero.Fs) error { return f.Mkdir("new/", 0o755) },
		func(dir string) error { return os.Mkdir(dir+"/new/", 0o755) }},
	{"make directories through a file", func(f afero.Fs) error { return f.MkdirAll("f/x/", 0o755) },
		func(dir string) error { return os.MkdirAll(dir+"/f/x/", 0o755) }},
	{"chmod a file", func(f afero.Fs) error { return f.Chmod("f/", 0o600) },
		func(dir string) error { return os.Chmod(dir+"/f/", 0o600) }},
}

// Every file system of this package treats a slash at the end like the system does.
func TestSlashAtTheEnd(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the test compares with errors of Linux")
	}
	plant := func(dir string) string {
		fstest.Must(t, os.WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o644))
		fstest.Must(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
		return dir
	}
	systems := map[string]func() afero.Fs{
		"RootFs": func() afero.Fs { return fstest.OpenRoot(t, plant(t.TempDir())) },
		"MemMapFs": func() afero.Fs {
			mem := afero.NewMemMapFs()
			fstest.Must(t, afero.WriteFile(mem, "f", []byte("x"), 0o644))
			fstest.Must(t, mem.Mkdir("d", 0o755))
			return fstest.Raise(t, mem)
		},
		"Stage": func() afero.Fs { return stage.New(fstest.OpenRoot(t, plant(t.TempDir()))) },
		"empty Stage": func() afero.Fs {
			s := stage.New(afero.NewMemMapFs())
			fstest.Must(t, afero.WriteFile(s, "f", []byte("x"), 0o644))
			fstest.Must(t, s.Mkdir("d", 0o755))
			return s
		},
	}
	for _, op := range slashOps {
		want := op.os(plant(t.TempDir()))
		errno, isErrno := errors.AsType[syscall.Errno](want)
		for name, open := range systems {
			got := op.do(open())
			switch {
			case want == nil && got == nil:
			case want == nil || got == nil:
				t.Errorf("%s, %s: %v, the system returns %v", name, op.name, got, want)
			case isErrno && !errors.Is(got, errno) && !(errno == syscall.ENOENT && errors.Is(got, fs.ErrNotExist)):
				t.Errorf("%s, %s: %v, the system returns %v", name, op.name, got, want)
			}
		}
	}
}

// Copy has no equivalent among the calls of the system: it is compared with cp -T.
func TestStage_copySlashes(t *testing.T) {
	t.Parallel()
	s := stage.New(afero.NewMemMapFs())
	fstest.Must(t, afero.WriteFile(s, "f", []byte("x"), 0o644))
	if err := s.Copy("f/", "g"); !errors.Is(err, names.ErrNotDir) {
		t.Errorf("of a file as a directory: %v", err)
	}
	if err := s.Copy("f", "g/"); !errors.Is(err, names.ErrIsDir) {
		t.Errorf("to a directory: %v", err)
	}
	if _, err := s.Stat("g"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy exists: %v", err)
	}
}
