package hostile_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// backend is a file system as a user would pass it to a run, with a planted tree and its properties.
type backend struct {
	name string
	fs   afero.Fs // passed to Run directly: raising it is part of the test

	dir      string   // the tree's directory in the operating system, "" if it is in memory
	layer    afero.Fs // the part of the tree in memory, or nil
	links    bool     // symbolic links are supported
	confined bool     // os.Root is below, so nothing can escape even by bypassing the stage
	rooted   bool     // absolute names are refused; elsewhere "/a" is "a" from the root of the tree
	commits  bool     // works commits; a CopyOnWriteFs cannot remove or rename entries below, so works is a dry run there

	host    millrace.Executor // for runs there; host() unless a test changes it
	outside *outside          // nil if there is no outside
}

// planted is the tree of every backend. All files have one old time.
var planted = map[string]string{
	"a.txt":         "alpha needle\n",
	"b.txt":         "beta needle\n",
	"dir/c.txt":     "gamma needle\n",
	"dir/sub/d.txt": "delta needle\n",
}

var longAgo = time.Date(2020, 2, 3, 4, 5, 6, 789_000_000, time.UTC)

// eachBackend runs the test on a new instance of every backend, or of two backends with a plain "go test". At the end,
// nothing outside the tree may have been changed or, as far as the system reports it, opened.
func eachBackend(t *testing.T, test func(t *testing.T, b *backend)) {
	t.Helper()
	eachOf(t, backendsFor(fstest.ByItself(1, 0)), test)
}

// backendsFor returns the names of the backends for the i-th of many similar inputs: all of them for the first, and for
// the others one of the operating system and one in memory.
func backendsFor(i int) []string {
	if i > 0 {
		return []string{"root", "memory"}
	}
	return []string{"root", "os", "plain", "memory", "overlay"}
}

// eachOf is eachBackend for some backends.
func eachOf(t *testing.T, names []string, test func(t *testing.T, b *backend)) {
	t.Helper()
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			b := newBackend(t, name)
			test(t, b)
			b.checkOutside(t)
		})
	}
}

// eachLinking is eachBackend for backends with symbolic links. A tree in memory has no links.
func eachLinking(t *testing.T, test func(t *testing.T, b *backend)) {
	t.Helper()
	eachBackend(t, func(t *testing.T, b *backend) {
		if !b.links {
			t.Skipf("%s: afero has no symbolic links in memory", b.name)
		}
		test(t, b)
	})
}

// newBackend makes a backend by name.
//
//	root     fsutil.OpenRoot
//	os       afero.BasePathFs over afero.OsFs, which is raised to a RootFs
//	plain    a file system of the user's own, with nothing but what afero has interfaces for
//	memory   afero.MemMapFs
//	overlay  afero.CopyOnWriteFs, a directory below and a MemMapFs above
func newBackend(t *testing.T, name string) *backend {
	t.Helper()
	b := &backend{name: name, commits: name != "overlay", host: host()}
	if name == "memory" {
		b.layer = afero.NewMemMapFs()
		b.fs = b.layer
		plant(t, b.fs, planted)
		return b
	}
	parent := t.TempDir()
	b.dir = filepath.Join(parent, "root")
	if err := os.Mkdir(b.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	below := afero.NewBasePathFs(afero.NewOsFs(), b.dir)
	plant(t, below, planted)
	b.outside = newOutside(t, parent)
	switch name {
	case "root":
		b.fs, b.links, b.confined, b.rooted = openRoot(t, b.dir), true, true, true
	case "os":
		b.fs, b.links, b.confined, b.rooted = below, true, true, true
	case "plain":
		b.fs, b.links = plain(below), true
	case "overlay":
		b.layer = afero.NewMemMapFs()
		b.fs, b.links = afero.NewCopyOnWriteFs(below, b.layer), true
	default:
		t.Fatalf("no backend %q", name)
	}
	return b
}

func openRoot(t *testing.T, dir string) *rootfs.FS {
	t.Helper()
	root, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// plainFs is a user's own file system: it forwards the calls of afero, follows every link, and only millrace keeps it
// inside its directory.
type plainFs struct {
	afero.Fs
	afero.Lstater
	base *afero.BasePathFs
}

func plain(below afero.Fs) plainFs {
	base := below.(*afero.BasePathFs)
	return plainFs{base, base, base}
}

func (p plainFs) Name() string { return "plain" }

// SymlinkIfPossible writes the target unchanged, unlike BasePathFs.
func (p plainFs) SymlinkIfPossible(target, name string) error {
	real, err := p.base.RealPath(name)
	if err != nil {
		return err
	}
	return os.Symlink(target, real)
}

func (p plainFs) ReadlinkIfPossible(name string) (string, error) {
	real, err := p.base.RealPath(name)
	if err != nil {
		return "", err
	}
	return os.Readlink(real)
}

// plant writes files, making their directories.
func plant(t *testing.T, fsys afero.Fs, files map[string]string) {
	t.Helper()
	for name, content := range files {
		if err := fsys.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := afero.WriteFile(fsys, name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := fsys.Chtimes(name, longAgo, longAgo); err != nil {
			t.Fatal(err)
		}
	}
}

// plant adds files to the tree.
func (b *backend) plant(t *testing.T, files map[string]string) {
	t.Helper()
	if b.name == "overlay" { // into the lower layer, where they are visible
		plant(t, afero.NewBasePathFs(afero.NewOsFs(), b.dir), files)
		return
	}
	plant(t, b.fs, files)
}

// link makes a symbolic link in the tree, with the target unchanged.
func (b *backend) link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, b.path(name)); err != nil {
		t.Fatal(err)
	}
}

// path returns the operating system's name of an entry in the tree.
func (b *backend) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }
