package fsutil_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/millrace-go/millrace/fsutil"
)

func TestWithAbsolute(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "tree"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "tree", "a"), []byte("a"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "tree-not"), nil, 0o600))
	other := filepath.Join(dir, "other")
	if err := os.Symlink("tree", other); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	must(t, os.Symlink(filepath.Join(dir, "tree-not"), filepath.Join(dir, "tree", "out")))
	must(t, os.Symlink(filepath.Join(dir, "tree", "a"), filepath.Join(dir, "tree", "in")))
	plain, err := fsutil.OpenRoot(other)
	must(t, err)
	defer plain.Close()
	r := plain.WithAbsolute()
	if raised, err := fsutil.Raise(r); err != nil || raised != r {
		t.Errorf("raised to %v, %v", raised, err)
	}
	for name, want := range map[string]string{
		other: ".", other + "/": ".", filepath.Join(other, "a"): "a", filepath.Join(dir, "tree", "b", "..", "a"): "a", "a": "a",
	} {
		if got, err := r.Canonical(name); got != want || err != nil {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]error{
		filepath.Join(dir, "tree-not"): fsutil.ErrEscape, dir: fsutil.ErrEscape, other + "/../tree-not": fsutil.ErrEscape,
		"../tree-not": fsutil.ErrEscape, filepath.Join(other, "none"): fs.ErrNotExist, filepath.Join(other, "out"): fsutil.ErrEscape,
		filepath.Join(other, "in"): fsutil.ErrEscape, filepath.Join(other, "a") + "/": fsutil.ErrNotDir,
	} {
		if _, err := r.Stat(name); !errors.Is(err, want) {
			t.Errorf("%s: error = %v, want %v", name, err, want)
		}
	}
	if _, err := plain.Stat(filepath.Join(other, "a")); !errors.Is(err, fsutil.ErrAbsolute) {
		t.Errorf("the RootFs itself: error = %v, want ErrAbsolute", err)
	}
	must(t, r.Rename(filepath.Join(other, "a"), filepath.Join(other, "b")))
	must(t, r.Close())
	if _, err := plain.Stat("b"); err == nil {
		t.Error("the directory is open after its view was closed")
	}
}

// What is opened by a name that counts from the working directory is found by its absolute one.
func TestWithAbsoluteOfARelativeName(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	must(t, os.MkdirAll("sub/in", 0o700))
	plain, err := fsutil.OpenRoot("sub")
	must(t, err)
	defer plain.Close()
	t.Chdir(t.TempDir())
	if _, err := plain.WithAbsolute().Stat(filepath.Join(dir, "sub", "in")); err != nil {
		t.Error(err)
	}
}

// Agents and editors send absolute names.
func ExampleRootFs_WithAbsolute() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer root.Close()

	fmt.Println(root.WithAbsolute().Canonical(filepath.Join(dir, "src", "a.go")))
	_, err = root.WithAbsolute().Canonical(filepath.Dir(dir))
	fmt.Println(errors.Is(err, fsutil.ErrEscape))
	// Output:
	// src/a.go <nil>
	// true
}

// A Guard is checked before it is used: a glob that is not valid would take every path.
func ExampleGuard_Validate() {
	guard := fsutil.Guard{Denied: []string{".env", "*.key", "[a-"}}
	fmt.Println(guard.Validate())
	// Output:
	// glob "[a-": not a valid glob
}
