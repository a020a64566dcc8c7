package disk_test

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/raise"
	"github.com/millrace-go/millrace/internal/rootfs"
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func rootFs(t *testing.T) (*rootfs.FS, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := rootfs.Open(dir)
	must(t, err)
	t.Cleanup(func() { root.Close() })
	return root, dir
}

// TestRemoveTree removes files, directories that are not writable, and links, which it does not follow.
func TestRemoveTree(t *testing.T) {
	t.Parallel()
	root, _ := rootFs(t)
	mem, err := raise.FS(afero.NewMemMapFs())
	must(t, err)
	for name, fsys := range map[string]afero.Fs{"root": root, "memory": mem} {
		must(t, fsys.MkdirAll("x/a/b", 0o755), afero.WriteFile(fsys, "x/a/b/f", []byte("f"), 0o400),
			fsys.MkdirAll("y", 0o755), afero.WriteFile(fsys, "y/kept", nil, 0o600))
		if l, ok := fsys.(afero.Linker); ok {
			must(t, l.SymlinkIfPossible("../../y", "x/a/link"))
		}
		must(t, fsys.Chmod("x/a", 0o500))
		for range 2 { // the second time nothing exists
			must(t, disk.Open(fsys).RemoveTree("x"))
		}
		if _, err := fsys.Stat("x"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: x is left: %v", name, err)
		}
		if _, err := fsys.Stat("y/kept"); err != nil {
			t.Errorf("%s: the target of a link is gone: %v", name, err)
		}
	}
}

// TestRemoveTree_deep removes directories nested deeper than any path can reach, several of them next to each other,
// and a directory with the name to which others are moved up.
func TestRemoveTree_deep(t *testing.T) {
	t.Parallel()
	root, dir := rootFs(t)
	must(t, root.MkdirAll("x/deep-1/deep-1", 0o755), root.MkdirAll("x/wide", 0o755))
	bury(t, path.Join(dir, "x"), 6000, "n")
	bury(t, path.Join(dir, "x", "wide"), 9000, strings.Repeat("long", 50))
	must(t, disk.Open(root).RemoveTree("x"))
	if _, err := root.Stat("x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("x is left: %v", err)
	}
}

// bury nests directories of one name until their path has depth bytes.
func bury(t *testing.T, dir string, depth int, name string) {
	t.Helper()
	at, err := os.OpenRoot(dir)
	must(t, err)
	for n := 0; n < depth; n += len(name) + 1 {
		must(t, at.Mkdir(name, 0o755))
		below, err := at.OpenRoot(name)
		must(t, err, at.Close())
		at = below
	}
	must(t, at.WriteFile("file", []byte("x"), 0o600), at.Close())
}
