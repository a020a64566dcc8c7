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

// backend is a file system as a user would hand it to a run, with a tree planted in it, and what one has to know of it.
type backend struct {
	name string
	fs   afero.Fs // given to Run as it is: raising it is part of what is tested

	dir      string   // where the tree is in the operating system, "" if it is in memory
	layer    afero.Fs // what is in memory of it, nil if nothing is
	links    bool     // there can be symbolic links
	confined bool     // os.Root is below, so that nothing gets out even behind the back of the stage
	rooted   bool     // absolute names are refused; elsewhere "/a" is "a" from the root of the tree
	commits  bool     // works commits; a CopyOnWriteFs cannot remove or rename what is below, so works is a dry run there

	host    millrace.Executor // what runs there; host() unless a test says otherwise
	outside *outside          // nil if there is no outside
}

// planted is the tree of every backend. All files have one time, long ago.
var planted = map[string]string{
	"a.txt":         "alpha needle\n",
	"b.txt":         "beta needle\n",
	"dir/c.txt":     "gamma needle\n",
	"dir/sub/d.txt": "delta needle\n",
}

var longAgo = time.Date(2020, 2, 3, 4, 5, 6, 789_000_000, time.UTC)

// eachBackend runs the test on every backend, a fresh one each: with "go test" by itself on two of them. When it is done,
// nothing outside of the tree may have been changed or, as far as the system tells, opened.
func eachBackend(t *testing.T, test func(t *testing.T, b *backend)) {
	t.Helper()
	eachOf(t, backendsFor(fstest.ByItself(1, 0)), test)
}

// backendsFor are the names of the backends for the i-th of many inputs that are alike: all of them for the first, and
// for the others a backend of the operating system and a backend in memory.
func backendsFor(i int) []string {
	if i > 0 {
		return []string{"root", "memory"}
	}
	return []string{"root", "os", "plain", "memory", "overlay"}
}

// eachOf is eachBackend for some of them.
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

// eachLinking is eachBackend for those that have symbolic links; memory has none, so no link can lead anywhere there.
func eachLinking(t *testing.T, test func(t *testing.T, b *backend)) {
	t.Helper()
	eachBackend(t, func(t *testing.T, b *backend) {
		if !b.links {
			t.Skipf("%s: afero has no symbolic links in memory, so no name leads anywhere else", b.name)
		}
		test(t, b)
	})
}

// newBackend makes one backend by its name.
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

// plainFs is a file system of a user's own: it passes on what afero knows, follows every link, and nothing keeps it
// inside of its directory but what millrace does.
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

// SymlinkIfPossible writes the target as it is, which BasePathFs does not.
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
	if b.name == "overlay" { // below, where they are found
		plant(t, afero.NewBasePathFs(afero.NewOsFs(), b.dir), files)
		return
	}
	plant(t, b.fs, files)
}

// link puts a symbolic link into the tree, target as it is.
func (b *backend) link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, b.path(name)); err != nil {
		t.Fatal(err)
	}
}

// path is the name of something in the tree for the operating system.
func (b *backend) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }
