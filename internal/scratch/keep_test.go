//go:build unix

package scratch_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/millrace-go/millrace/internal/stage"
)

// reopen opens the tree of a configuration over a base, calls do, and closes the tree after do.
func reopen(t *testing.T, c scratch.Config, s *stage.Stage, do func(r *rig)) {
	t.Helper()
	tree, err := scratch.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, stage: s, view: s, tree: tree}
	do(r)
	if err := tree.Close(); err != nil {
		t.Fatal(err)
	}
}

// birth returns the FileInfo of a file, to find out later whether the file was written again.
func birth(t *testing.T, name string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestTree_kept(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.txt": "a\n", "b.txt": "b\n", "d/c.txt": "c\n"}
	base, dir := dirAt(t, files)
	time.Sleep(150 * time.Millisecond) // so that the stage does not treat the files as recent
	c := scratch.Config{Dir: t.TempDir(), Tree: "tree", Name: "proj", Keep: true}
	var before os.FileInfo
	renew := func(r *rig) {
		if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
			t.Fatal(err)
		}
		r.exact()
	}
	work := func(script string) func(r *rig) {
		return func(r *rig) {
			renew(r)
			before = birth(t, filepath.Join(r.tree.Root(), "a.txt"))
			r.script(script)
			if _, err := r.tree.Collect(t.Context(), scratch.Options{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	reopen(t, c, stage.New(base), work("echo more >> b.txt; rm d/c.txt; mkdir e; echo x > e/f"))
	manifest := filepath.Join(c.Dir, "millrace")
	found, err := filepath.Glob(manifest + "/*/manifest")
	if err != nil || len(found) != 1 {
		t.Fatalf("manifests: %q, %v", found, err)
	}

	// Files that differ are written again, the others stay.
	if err := os.WriteFile(filepath.Join(dir, "b.txt"), []byte("b2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	reopen(t, c, stage.New(base), func(r *rig) {
		if _, err := os.Stat(found[0]); err == nil {
			t.Error("a place in use has a manifest: after a crash it would be trusted")
		}
		renew(r)
		if now := birth(t, filepath.Join(r.tree.Root(), "a.txt")); !os.SameFile(before, now) {
			t.Error("an unchanged file was written again")
		}
		r.tree.Discard()
	})

	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	anew := func(what string, c scratch.Config) {
		t.Helper()
		// This file exists only in a tree that is not wiped.
		stray := filepath.Join(filepath.Dir(found[0]), "proj", "a.txt")
		old := birth(t, stray)
		keep, err := os.Open(stray) // so that no new file gets its inode
		if err != nil {
			t.Fatal(err)
		}
		defer keep.Close()
		reopen(t, c, stage.New(base), func(r *rig) {
			renew(r)
			if os.SameFile(old, birth(t, stray)) {
				t.Errorf("%s: the tree was trusted", what)
			}
			r.tree.Discard()
		})
	}
	for what, text := range map[string][]byte{
		"empty": {}, "short": data[:len(data)/2], "one byte more": append(data[:len(data):len(data)], 0),
		"other head": append([]byte("m"), data...),
	} {
		if err := os.WriteFile(found[0], text, 0o600); err != nil {
			t.Fatal(err)
		}
		anew(what, c)
	}
	for i := 0; i < len(data); i += 1 + len(data)/40 {
		text := append([]byte(nil), data...)
		text[i] ^= 0x40
		if err := os.WriteFile(found[0], text, 0o600); err != nil {
			t.Fatal(err)
		}
		anew("a byte changed", c)
	}

	// A tree in which a command may still be running is not kept.
	reopen(t, c, stage.New(base), renew)
	if left, err := filepath.Glob(manifest + "/*/*"); err != nil || len(left) > 0 {
		t.Errorf("left of a tree in which a command was running: %q, %v", left, err)
	}
}
