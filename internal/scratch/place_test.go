//go:build unix

package scratch_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/millrace-go/millrace/internal/stage"
)

// childVariable makes the test binary a process that opens a tree, works in it, and ends without closing it.
const childVariable = "MILLRACE_SCRATCH_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		tree, err := scratch.Open(context.Background(), scratch.Config{Dir: dir, Tree: "tree", Name: "proj", Keep: true})
		if err == nil {
			err = tree.Renew(context.Background(), stage.New(nil), scratch.Options{})
		}
		fmt.Println(tree.Root(), err, os.WriteFile(filepath.Join(tree.Root(), "left"), nil, 0o600))
		os.Exit(0)
	}
	os.Exit(fstest.Main(m))
}

func TestOpen_slots(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := scratch.Config{Dir: dir, Tree: "tree", Name: "proj"}
	roots := make(map[string]bool)
	var trees []*scratch.Tree
	for range 8 {
		tree, err := scratch.Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, tree)
		roots[tree.Root()] = true
	}
	if len(roots) != 8 {
		t.Fatalf("8 trees have the places %v", roots)
	}
	if _, err := scratch.Open(t.Context(), c); !errors.Is(err, capability.ErrLocked) {
		t.Errorf("the ninth: %v", err)
	}
	other, err := scratch.Open(t.Context(), scratch.Config{Dir: dir, Tree: "other", Name: "proj"})
	if err != nil {
		t.Errorf("another tree: %v", err)
	} else if roots[other.Root()] {
		t.Error("another tree has the place of this tree")
	}
	freed := trees[3].Root()
	for _, tree := range append(trees[3:4:4], other) {
		if err := tree.Close(); err != nil {
			t.Error(err)
		}
		if err := tree.Close(); err != nil {
			t.Errorf("closed again: %v", err)
		}
	}
	if trees[3], err = scratch.Open(t.Context(), c); err != nil || trees[3].Root() != freed {
		t.Errorf("a place that was released: %v", err)
	}
	for _, tree := range trees {
		info, err := os.Stat(filepath.Dir(tree.Root()))
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("mode of the place: %v, %v", info.Mode(), err)
		}
		if err := tree.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(dir, "millrace")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestOpen_together(t *testing.T) {
	t.Parallel()
	c := scratch.Config{Dir: t.TempDir(), Tree: "tree", Name: "proj"}
	var mu sync.Mutex
	held := make(map[string]bool)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 30 {
				tree, err := scratch.Open(t.Context(), c)
				if err != nil {
					t.Error(err)
					return
				}
				root := tree.Root()
				mu.Lock()
				twice := held[root]
				held[root] = true
				mu.Unlock()
				if twice {
					t.Errorf("%s is held twice", root)
				}
				if err := os.WriteFile(filepath.Join(root, "x"), nil, 0o600); err != nil {
					t.Error(err)
				}
				mu.Lock()
				held[root] = false
				mu.Unlock()
				if err := tree.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// A process that dies leaves a place that the next process wipes, and no lock.
func TestOpen_crash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childVariable+"="+dir)
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	root, _, _ := strings.Cut(string(out), " ")
	if _, err := os.Stat(filepath.Join(root, "left")); err != nil {
		t.Fatalf("the child has left nothing: %v, %s", err, out)
	}
	tree, err := scratch.Open(t.Context(), scratch.Config{Dir: dir, Tree: "tree", Name: "proj", Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if tree.Root() != root {
		t.Errorf("the place is %s, the place of the dead process was %s", tree.Root(), root)
	}
	if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestOpen_planted(t *testing.T) {
	t.Parallel()
	c := scratch.Config{Tree: "tree", Name: "proj"}
	probe := c
	probe.Dir = t.TempDir()
	tree, err := scratch.Open(t.Context(), probe)
	if err != nil {
		t.Fatal(err)
	}
	slot := filepath.Base(filepath.Dir(tree.Root()))
	if err := tree.Close(); err != nil {
		t.Fatal(err)
	}
	target := t.TempDir()
	mkdir := func(t *testing.T, dir string, mode fs.FileMode) {
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, mode)); err != nil {
			t.Fatal(err)
		}
	}
	for name, plant := range map[string]struct {
		do   func(t *testing.T, dir string)
		says string // "" if another slot is taken
	}{
		"a link for all places": {func(t *testing.T, dir string) {
			if err := os.Symlink(target, filepath.Join(dir, "millrace")); err != nil {
				t.Fatal(err)
			}
		}, "millrace is not a directory"},
		"a file for all places": {func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "millrace"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "millrace is not a directory"},
		"open to all": {func(t *testing.T, dir string) { mkdir(t, filepath.Join(dir, "millrace"), 0o777) }, "can be written to by other users"},
		"another user's": {func(t *testing.T, dir string) {
			if os.Geteuid() != 0 {
				t.Skip("only root can make files of another user")
			}
			mkdir(t, filepath.Join(dir, "millrace"), 0o700)
			if err := os.Chown(filepath.Join(dir, "millrace"), 65534, 65534); err != nil {
				t.Fatal(err)
			}
		}, "belongs to another user"},
		"a link for one place": {func(t *testing.T, dir string) {
			mkdir(t, filepath.Join(dir, "millrace"), 0o700)
			if err := os.Symlink(target, filepath.Join(dir, "millrace", slot)); err != nil {
				t.Fatal(err)
			}
		}, ""},
		"another user's place": {func(t *testing.T, dir string) {
			if os.Geteuid() != 0 {
				t.Skip("only root can make files of another user")
			}
			mkdir(t, filepath.Join(dir, "millrace", slot), 0o700)
			if err := os.Chown(filepath.Join(dir, "millrace", slot), 65534, 65534); err != nil {
				t.Fatal(err)
			}
		}, ""},
		"the directory itself is open": {func(t *testing.T, dir string) { mkdir(t, dir, 0o777) }, "not a place for scratch trees"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := c
			c.Dir = t.TempDir()
			plant.do(t, c.Dir)
			tree, err := scratch.Open(t.Context(), c)
			switch {
			case plant.says == "" && err == nil:
				if filepath.Base(filepath.Dir(tree.Root())) == slot {
					t.Error("a planted directory is used")
				}
				tree.Close()
			case plant.says == "" || err == nil || !strings.Contains(err.Error(), plant.says):
				t.Errorf("Open: %v", err)
			}
			if left, err := os.ReadDir(target); err != nil || len(left) > 0 {
				t.Errorf("written to the target of the link: %v, %v", left, err)
			}
		})
	}
}

// Files and links that a command puts in place of the directories of a place are not followed.
func TestTree_displaced(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	precious := filepath.Join(outside, "precious")
	if err := os.WriteFile(precious, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"temp is a link":       "rm -r ../tmp; ln -s " + outside + " ../tmp",
		"home is gone":         "rm -r ../home",
		"home is a file":       "rm -r ../home; echo x > ../home",
		"root moved":           "mv ../proj ../other; ln -s " + outside + " ../proj",
		"root removed":         "cd ..; rm -r proj",
		"directories to links": "rm -r d; ln -s " + outside + " d; rm e/precious; ln -s " + precious + " e/precious",
		"locked directories":   "mkdir -p x/y/z; echo x > x/y/z/f; chmod 0 x/y/z x/y x d; chmod 0 .",
		"very deep":            "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, dirOf(t, map[string]string{"a": "a", "d/b": "b", "e/precious": "e"}), nil)
			for range 2 {
				if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
					t.Fatal(err)
				}
				r.exact()
				if script == "" {
					deepen(t, r.tree.Root())
				} else {
					r.script(script)
				}
				r.tree.Discard()
			}
			if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
				t.Fatal(err)
			}
			r.exact()
			if data, err := os.ReadFile(precious); err != nil || string(data) != "x" {
				t.Errorf("the target of a link: %q, %v", data, err)
			}
			for _, dir := range []string{r.tree.Temp(), r.tree.Home()} {
				if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
					t.Errorf("%s has %v, %v", dir, left, err)
				}
				if info, err := os.Lstat(dir); err != nil || info.Mode() != fs.ModeDir|0o700 {
					t.Errorf("%s is %v, %v", dir, info.Mode(), err)
				}
			}
		})
	}
}

// deepen nests directories deeper than any path that the system accepts. The deepest directory has no permissions.
func deepen(t *testing.T, dir string) {
	t.Helper()
	at, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	const name = "a-directory-with-a-long-name"
	for range 300 {
		next := at
		if err := at.Mkdir(name, 0o700); err == nil {
			next, err = at.OpenRoot(name)
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(at.Close(), next.Chmod(".", 0o700)); err != nil {
			t.Fatal(err)
		}
		at = next
	}
	if err := errors.Join(at.WriteFile("f", nil, 0o600), at.Chmod(".", 0), at.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestTree_names(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"proj": "proj", "my proj": "my proj", "": "tree", ".": "tree", "..": "tree", "/": "tree", "tmp": "tree", "HOME": "tree", "lock": "tree",
		"manifest": "tree", ".git": "tree", "a:b": "tree", "a/b": "b", "\xff": "tree", "nul": "tree",
	} {
		tree, err := scratch.Open(t.Context(), scratch.Config{Dir: t.TempDir(), Name: name})
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if got := filepath.Base(tree.Root()); got != want {
			t.Errorf("%q is at %s", name, got)
		}
		if err := tree.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := scratch.Open(t.Context(), scratch.Config{Dir: "relative"}); err == nil {
		t.Error("a relative directory is accepted")
	}
}

func TestTree_shared(t *testing.T) {
	t.Parallel()
	c := scratch.Config{Dir: t.TempDir(), Tree: "t", Name: "proj", Keep: true}
	for range 2 {
		tree, err := scratch.Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(filepath.Dir(tree.Root()), "shared")
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the shared directory exists before it is requested: %v", err)
		}
		shared, err := tree.Shared()
		if err != nil || shared != dir {
			t.Fatal(shared, err)
		}
		if err := os.WriteFile(filepath.Join(shared, "x"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := tree.Renew(t.Context(), stage.New(dirOf(t, nil)), scratch.Options{}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(shared, "x")); err != nil {
			t.Errorf("the shared directory: %v", err)
		}
		tree.Discard()
		if err := tree.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := tree.Shared(); err == nil {
			t.Error("a closed tree has a shared directory")
		}
	}
}
