package rootfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/raise"
	"github.com/millrace-go/millrace/internal/rootfs"
)

func TestWithAbsolute(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fstest.Must(t, os.Mkdir(filepath.Join(dir, "tree"), 0o700))
	fstest.Must(t, os.WriteFile(filepath.Join(dir, "tree", "a"), []byte("a"), 0o600))
	fstest.Must(t, os.WriteFile(filepath.Join(dir, "tree-not"), nil, 0o600))
	other := filepath.Join(dir, "other")
	if err := os.Symlink("tree", other); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	fstest.Must(t, os.Symlink(filepath.Join(dir, "tree-not"), filepath.Join(dir, "tree", "out")))
	fstest.Must(t, os.Symlink(filepath.Join(dir, "tree", "a"), filepath.Join(dir, "tree", "in")))
	third := filepath.Join(dir, "third")
	fstest.Must(t, os.Symlink(dir, third))
	plain, err := rootfs.Open(other)
	fstest.Must(t, err)
	defer plain.Close()
	r := plain.WithAbsolute()
	if raised, err := raise.FS(r); err != nil || raised != r {
		t.Errorf("raised to %v, %v", raised, err)
	}
	for name, want := range map[string]string{
		other: ".", other + "/": ".", filepath.Join(other, "a"): "a", filepath.Join(dir, "tree", "b", "..", "a"): "a", "a": "a",
		filepath.Join(third, "tree", "a"): "a", filepath.Join(third, "other", "none"): "none", filepath.Join(third, "tree"): ".",
	} {
		if got, err := r.Canonical(name); got != want || err != nil {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]error{
		filepath.Join(third, "tree-not"): names.ErrEscape, third: names.ErrEscape, filepath.Join(third, "tree", "out"): names.ErrEscape,
		filepath.Join(dir, "tree-not"): names.ErrEscape, dir: names.ErrEscape, other + "/../tree-not": names.ErrEscape,
		"../tree-not": names.ErrEscape, filepath.Join(other, "none"): fs.ErrNotExist, filepath.Join(other, "out"): names.ErrEscape,
		filepath.Join(other, "in"): names.ErrEscape, filepath.Join(other, "a") + "/": names.ErrNotDir,
	} {
		if _, err := r.Stat(name); !errors.Is(err, want) {
			t.Errorf("%s: error = %v, want %v", name, err, want)
		}
	}
	if _, err := plain.Stat(filepath.Join(other, "a")); !errors.Is(err, names.ErrAbsolute) {
		t.Errorf("the RootFs itself: error = %v, want ErrAbsolute", err)
	}
	fstest.Must(t, r.Rename(filepath.Join(other, "a"), filepath.Join(other, "b")))
	fstest.Must(t, r.Close())
	if _, err := plain.Stat("b"); err == nil {
		t.Error("the directory is open after its view was closed")
	}
}

// A file that is opened by a name relative to the working directory is found by its absolute name.
func TestWithAbsoluteOfARelativeName(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	fstest.Must(t, os.MkdirAll("sub/in", 0o700))
	plain, err := rootfs.Open("sub")
	fstest.Must(t, err)
	defer plain.Close()
	t.Chdir(t.TempDir())
	if _, err := plain.WithAbsolute().Stat(filepath.Join(dir, "sub", "in")); err != nil {
		t.Error(err)
	}
}
