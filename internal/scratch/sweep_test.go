//go:build unix

package scratch_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/millrace-go/millrace/internal/scratch"
)

// Places that no run will find again are removed after a day, unless they are in use or kept.
func TestOpen_sweeps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place := func(name string, files ...string) string {
		at := filepath.Join(dir, "millrace", name)
		for _, file := range files {
			full := filepath.Join(at, file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o700), os.WriteFile(full, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		return at
	}
	used, err := scratch.Open(t.Context(), scratch.Config{Dir: dir, Tree: "used"})
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	want := map[string]bool{
		place("0123456789ab-0", "lock", "tree/d/x", "tmp/y"): false, place("0123456789ab-1", "lock", "tree/x", "manifest"): true,
		place("of-another-kind", "x"): true, filepath.Dir(used.Root()): true,
	}
	for at := range want {
		if err := os.Chtimes(at, time.Time{}, time.Now().Add(-25*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	want[place("0123456789ab-2", "lock", "tree/x")] = true // made today
	tree, err := scratch.Open(t.Context(), scratch.Config{Dir: dir, Tree: "other"})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for at, stays := range want {
		if _, err := os.Stat(at); (err == nil) != stays {
			t.Errorf("%s: %v", at, err)
		}
	}
}

// A place that cannot be wiped only blocks itself: the tree gets the next place.
func TestOpen_blockedPlace(t *testing.T) {
	t.Parallel()
	c := scratch.Config{Dir: t.TempDir(), Tree: "tree", Name: "proj"}
	tree, err := scratch.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	blocked := tree.Root()
	for _, err := range []error{tree.Close(), os.MkdirAll(blocked, 0o700)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c.Reap = func(root string) error {
		if root == blocked {
			return fs.ErrPermission
		}
		return nil
	}
	for range 2 {
		if tree, err = scratch.Open(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if tree.Root() == blocked {
			t.Error("the place that cannot be wiped is used")
		}
		if err := tree.Close(); err != nil {
			t.Error(err)
		}
	}
}
