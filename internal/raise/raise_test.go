package raise_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/raise"
	"github.com/millrace-go/millrace/internal/rootfs"
)

func TestRaise_conformance(t *testing.T) {
	t.Run("MemMapFs", func(t *testing.T) {
		fstest.Run(t, func(t *testing.T) afero.Fs { return fstest.Raise(t, afero.NewMemMapFs()) }, fstest.Options{
			NoSymlinks: true,
			Skip:       map[string]string{"name/absolute": "a slash at the beginning is the root"},
		})
	})
	t.Run("MemMapFs in the absolute world", func(t *testing.T) {
		fstest.Run(t, func(t *testing.T) afero.Fs {
			fsys := afero.NewMemMapFs()
			if err := afero.WriteFile(fsys, "/first", nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return hiding{fstest.Raise(t, fsys)}
		}, fstest.Options{
			NoSymlinks: true,
			Skip:       map[string]string{"name/absolute": "a slash at the beginning is the root"},
		})
	})
	t.Run("BasePathFs", func(t *testing.T) {
		fstest.Run(t, func(t *testing.T) afero.Fs {
			return fstest.Raise(t, afero.NewBasePathFs(afero.NewOsFs(), t.TempDir()))
		}, fstest.Options{})
	})
	t.Run("OsFs", func(t *testing.T) {
		fstest.Run(t, func(t *testing.T) afero.Fs {
			t.Chdir(t.TempDir())
			return fstest.Raise(t, afero.NewOsFs())
		}, fstest.Options{
			Skip: map[string]string{"name/absolute": "those below the working directory are taken, others escape"},
		})
	})
}

// hiding omits the file "first" from listings of the root, because the suite needs an empty file system.
type hiding struct{ afero.Fs }

func (h hiding) Open(name string) (afero.File, error) {
	f, err := h.Fs.Open(name)
	if err == nil && name == "." {
		return hidingFile{f}, nil
	}
	return f, err
}

type hidingFile struct{ afero.File }

func (f hidingFile) Readdirnames(n int) ([]string, error) {
	names, err := f.File.Readdirnames(n)
	kept := names[:0]
	for _, name := range names {
		if name != "first" {
			kept = append(kept, name)
		}
	}
	return kept, err
}

type customFs struct{ afero.Fs }

type linkingFs struct{ afero.Fs }

func (linkingFs) Link(string, string) error { return nil }

func TestRaise_nil(t *testing.T) {
	for name, fsys := range map[string]afero.Fs{
		"interface": nil,
		"OsFs":      (*afero.OsFs)(nil),
		"MemMapFs":  (*afero.MemMapFs)(nil),
		"BasePath":  (*afero.BasePathFs)(nil),
		"RootFs":    (*rootfs.FS)(nil),
	} {
		if raised, err := raise.FS(fsys); !errors.Is(err, names.ErrNoFs) || raised != nil {
			t.Errorf("%s: Raise = %v, %v, want ErrNoFs", name, raised, err)
		}
	}
}

func TestRaise_itself(t *testing.T) {
	root := fstest.OpenRoot(t, t.TempDir())
	if raised := fstest.Raise(t, root); raised != afero.Fs(root) {
		t.Errorf("a RootFs became %T", raised)
	}
	able := linkingFs{afero.NewMemMapFs()}
	if raised := fstest.Raise(t, able); raised != afero.Fs(able) {
		t.Errorf("a file system with Link became %T", raised)
	}
	for _, fsys := range []afero.Fs{
		afero.NewMemMapFs(), afero.NewOsFs(), afero.NewReadOnlyFs(afero.NewMemMapFs()), customFs{afero.NewMemMapFs()},
	} {
		once := fstest.Raise(t, fsys)
		if twice := fstest.Raise(t, once); twice != once {
			t.Errorf("%T: raised twice differs from raised once", fsys)
		}
	}
}

// volatileFs and inheritingFs have one ability in addition to those of afero.Fs.
type (
	volatileFs   struct{ afero.Fs }
	inheritingFs struct{ afero.Fs }
)

func (volatileFs) InMemory() bool { return true }

func (inheritingFs) Inherit(string, string) (fs.FileMode, error) { return 0o777, nil }

// TestRaise_oneAbility: a file system with any one ability is not hidden behind another.
func TestRaise_oneAbility(t *testing.T) {
	t.Parallel()
	for _, fsys := range []afero.Fs{volatileFs{afero.NewMemMapFs()}, inheritingFs{afero.NewMemMapFs()}} {
		if got, err := raise.FS(fsys); err != nil || got != fsys {
			t.Errorf("%T became %T, %v", fsys, got, err)
		}
	}
}

func TestRaise_osFs(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	link := filepath.Join(outside, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(link)
	for _, fsys := range []afero.Fs{afero.NewOsFs(), afero.OsFs{}} {
		raised := fstest.Raise(t, fsys)
		if _, ok := raised.(*rootfs.FS); !ok {
			t.Fatalf("%T became %T", fsys, raised)
		}
		namer := raised.(capability.Namer)
		for name, want := range map[string]string{
			"f": "f", "./a//b": "a/b", dir: ".", dir + "/": ".",
			filepath.Join(dir, "f"): "f", filepath.Join(link, "a/b"): "a/b", dir + "/../" + filepath.Base(dir) + "/f": "f",
		} {
			if got, err := namer.Canonical(name); err != nil || got != want {
				t.Errorf("Canonical(%q) = %q, %v, want %q", name, got, err, want)
			}
		}
		for _, name := range []string{"/", "/etc/passwd", outside, dir + "-evil/f", dir + "/../x", "../x", ".."} {
			if got, err := namer.Canonical(name); !errors.Is(err, names.ErrEscape) {
				t.Errorf("Canonical(%q) = %q, %v, want ErrEscape", name, got, err)
			}
		}
		if data, err := afero.ReadFile(raised, filepath.Join(dir, "f")); err != nil || string(data) != "x" {
			t.Errorf("read %q, %v", data, err)
		}
		if _, err := raised.Stat("/etc"); !errors.Is(err, names.ErrEscape) {
			t.Errorf("Stat(/etc) = %v, want ErrEscape", err)
		}
	}
}

func TestRaise_basePathFs(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a/b"), 0o755); err != nil {
		t.Fatal(err)
	}
	base := func(fsys afero.Fs, path string) afero.Fs { return afero.NewBasePathFs(fsys, path) }
	osFs := afero.NewOsFs()
	for name, fsys := range map[string]afero.Fs{
		"plain":        base(osFs, filepath.Join(dir, "a/b")),
		"value":        base(afero.OsFs{}, filepath.Join(dir, "a/b")),
		"nested":       base(base(osFs, filepath.Join(dir, "a")), "b"),
		"nested twice": base(base(base(osFs, dir), "a"), "/b"),
	} {
		root, ok := fstest.Raise(t, fsys).(*rootfs.FS)
		if !ok {
			t.Errorf("%s: not raised", name)
			continue
		}
		if err := afero.WriteFile(root, "f", []byte(name), 0o600); err != nil {
			t.Error(err)
		}
		if data, err := os.ReadFile(filepath.Join(dir, "a/b/f")); err != nil || string(data) != name {
			t.Errorf("%s: the file has %q, %v", name, data, err)
		}
		if _, err := root.Canonical("/f"); !errors.Is(err, names.ErrAbsolute) {
			t.Errorf("%s: Canonical(/f) = %v, want ErrAbsolute", name, err)
		}
	}
	// A file system in between may forbid something, although everything that can be queried looks the same.
	for name, fsys := range map[string]afero.Fs{
		"read-only":     base(afero.NewReadOnlyFs(osFs), dir),
		"copy on write": base(afero.NewCopyOnWriteFs(osFs, afero.NewMemMapFs()), dir),
		"of the caller": base(customFs{osFs}, dir),
		"in memory":     base(afero.NewMemMapFs(), dir),
		"deeper":        base(base(afero.NewReadOnlyFs(osFs), dir), "a"),
		"missing":       base(osFs, filepath.Join(dir, "missing")),
	} {
		if raised := fstest.Raise(t, fsys); raised != fsys {
			t.Errorf("%s: became %T", name, raised)
		}
	}
}

func TestRaise_virtual(t *testing.T) {
	ro := fstest.Raise(t, afero.NewReadOnlyFs(afero.NewMemMapFs()))
	if _, ok := ro.(afero.Symlinker); !ok {
		t.Error("a read-only file system lost its links")
	}
	custom := fstest.Raise(t, customFs{afero.NewMemMapFs()})
	if _, ok := custom.(afero.Lstater); ok {
		t.Error("a file system without Lstat got one")
	}
	for _, fsys := range []afero.Fs{ro, custom, fstest.Raise(t, afero.NewMemMapFs())} {
		for name, want := range map[string]string{"/a/b": "a/b", "//a": "a", "a/./b": "a/b", "/": ".", ".": "."} {
			if got, err := fsys.(capability.Namer).Canonical(name); err != nil || got != want {
				t.Errorf("%T: Canonical(%q) = %q, %v, want %q", fsys, name, got, err, want)
			}
		}
		for name, want := range map[string]error{
			"": names.ErrEmptyPath, "/..": names.ErrEscape, "../a": names.ErrEscape, "/a/../../b": names.ErrEscape,
			"/a\x00": names.ErrBadName,
		} {
			if got, err := fsys.(capability.Namer).Canonical(name); !errors.Is(err, want) {
				t.Errorf("%T: Canonical(%q) = %q, %v, want %v", fsys, name, got, err, want)
			}
		}
	}
}

// untouchable fails the test on any write.
func untouchable(t *testing.T, fsys afero.Fs) afero.Fs {
	return errorfs.Wrap(errorfs.Only(fsys), errorfs.Before(func(op *errorfs.Op) error {
		if op.Writes || op.Flag != os.O_RDONLY {
			t.Errorf("%s %q, %#x", op.Kind, op.Name, op.Flag)
		}
		return nil
	}))
}

func TestRaise_writesNothing(t *testing.T) {
	fstest.Raise(t, untouchable(t, afero.NewMemMapFs()))
	fstest.Raise(t, afero.NewBasePathFs(untouchable(t, afero.NewMemMapFs()), "/d"))

	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := fstest.Snapshot(t, afero.NewBasePathFs(afero.NewOsFs(), dir), ".")
	t.Chdir(dir)
	fstest.Raise(t, afero.NewOsFs())
	fstest.Raise(t, afero.NewBasePathFs(afero.NewOsFs(), dir))
	if after := fstest.Snapshot(t, afero.NewBasePathFs(afero.NewOsFs(), dir), "."); after != before {
		t.Errorf("the directory changed from\n%s\nto\n%s", before, after)
	}

	memory := afero.NewMemMapFs()
	if err := afero.WriteFile(memory, "/d/f", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	before = fstest.Snapshot(t, memory, "/")
	fstest.Raise(t, memory)
	if after := fstest.Snapshot(t, memory, "/"); after != before {
		t.Errorf("the MemMapFs changed from\n%s\nto\n%s", before, after)
	}
}

// TestRaise_knowsAllAbilities: a new ability in package capability that is missing in the list would be hidden behind
// the view that a file system without abilities gets.
func TestRaise_knowsAllAbilities(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("raise.go")
	fstest.Must(t, err)
	files, err := filepath.Glob("../../capability/*.go")
	fstest.Must(t, err)
	results := []string{"DirHandle", "ReadFile"} // results of methods; no file system has these
	known := 0
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		fstest.Must(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			name := spec.Name.Name
			if _, ok := spec.Type.(*ast.InterfaceType); !ok || !spec.Name.IsExported() || slices.Contains(results, name) {
				return true
			}
			if regexp.MustCompile(`\bcapability\.` + name + `[,:]`).Match(list) {
				known++
			} else {
				t.Errorf("raise.FS does not list capability.%s", name)
			}
			return true
		})
	}
	if known < 12 {
		t.Errorf("%d abilities were found, of which there are at least 12", known)
	}
}
