package memfs_test

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
)

// texts returns the names that an open directory lists, with the bytes of files.
func texts(t *testing.T, dir capability.DirHandle) map[string]string {
	t.Helper()
	entries, err := dir.ReadDir()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Name() != e.Name() || info.IsDir() != e.IsDir() || info.Mode().Type() != e.Type() {
			t.Errorf("entry %s: info %v, %v", e.Name(), info, err)
		}
		all[e.Name()] = "/"
		if e.IsDir() {
			continue
		}
		f, err := dir.OpenFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(data)
	}
	return all
}

// A directory in both worlds lists the names of either, and for a name in both, the entry of the relative one.
func TestMemFs_OpenDir(t *testing.T) {
	plain := afero.NewMemMapFs()
	for _, name := range []string{"top", "/topmost", "d/a", "d/both", "/d/both", "/d/c", "d/sub/x", "/only/here"} {
		fstest.Write(t, plain, name, name)
	}
	fsys := fstest.Raise(t, plain).(capability.DirOpener)
	for name, want := range map[string]map[string]string{
		".":     {"top": "top", "topmost": "/topmost", "d": "/", "only": "/"},
		"d":     {"a": "d/a", "both": "d/both", "c": "/d/c", "sub": "/"},
		"/d/":   {"a": "d/a", "both": "d/both", "c": "/d/c", "sub": "/"},
		"d/sub": {"x": "d/sub/x"},
		"only":  {"here": "/only/here"},
	} {
		dir, err := fsys.OpenDir(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := texts(t, dir); !maps.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if err := dir.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestMemFs_OpenDir_refused(t *testing.T) {
	plain := afero.NewMemMapFs()
	fstest.Write(t, plain, "d/sub/file", "x")
	fstest.Write(t, plain, "outside", "x")
	fsys := fstest.Raise(t, plain).(capability.DirOpener)
	for name, want := range map[string]error{"d/sub/file": names.ErrNotDir, "gone": fs.ErrNotExist, "../d": names.ErrEscape, "": names.ErrEmptyPath} {
		if _, err := fsys.OpenDir(name); !errors.Is(err, want) {
			t.Errorf("OpenDir(%q): %v, want %v", name, err, want)
		}
	}
	dir, err := fsys.OpenDir("d")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"sub": names.ErrNotRegular, "gone": fs.ErrNotExist, "sub/file": names.ErrEscape, "..": names.ErrEscape, "../outside": names.ErrEscape,
	} {
		if _, err := dir.OpenFile(name); !errors.Is(err, want) {
			t.Errorf("OpenFile(%q): %v, want %v", name, err, want)
		}
	}
}

// A file that was opened through its directory is read-only, and a removed directory lists nothing.
func TestMemFs_OpenDir_gone(t *testing.T) {
	fsys := fstest.Raise(t, afero.NewMemMapFs())
	if err := fsys.Mkdir("d", 0o755); err != nil {
		t.Fatal(err)
	}
	fstest.Write(t, fsys, "d/f", "x")
	dir, err := fsys.(capability.DirOpener).OpenDir("d")
	if err != nil {
		t.Fatal(err)
	}
	f, err := dir.OpenFile("f")
	if err != nil {
		t.Fatal(err)
	}
	if w, ok := f.(io.Writer); ok {
		if _, err := w.Write([]byte("y")); err == nil {
			t.Error("a file that was opened for reading can be written to")
		}
	}
	if err := errors.Join(f.Close(), fsys.RemoveAll("d")); err != nil {
		t.Fatal(err)
	}
	entries, err := dir.ReadDir()
	if err != nil || len(entries) > 0 {
		t.Errorf("a directory that is gone lists %v, %v", slices.Clone(entries), err)
	}
}

// A new file in memory is wrapped the same through its handle as through its name.
func TestMemFs_NewFile(t *testing.T) {
	plain := afero.NewMemMapFs()
	f, err := fstest.Raise(t, plain).Create("f")
	if err != nil {
		t.Fatal(err)
	}
	made := f.(disk.NewFile)
	when := time.Date(2001, 2, 3, 4, 5, 6, 7, time.UTC)
	if err := errors.Join(made.Chmod(0o751|fs.ModeSetgid), made.Chtimes(when, when), made.Chown(1, 2), made.CopyMeta("x"), made.Sync()); err != nil {
		t.Fatal(err)
	}
	made.StartSync()
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := plain.Stat("f")
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o751|fs.ModeSetgid || !info.ModTime().Equal(when) {
		t.Errorf("mode %v, time %v", info.Mode(), info.ModTime())
	}
	if err := made.Chmod(0o600); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Chmod of a closed file: %v", err)
	}
}
