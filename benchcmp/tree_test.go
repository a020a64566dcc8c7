package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, text string, elem ...string) {
	t.Helper()
	name := filepath.Join(elem...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Whatever is different in a tree is noticed, but for backups.
func TestDigest(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(t *testing.T, dir string) error
		same   bool
	}{
		{"nothing", func(*testing.T, string) error { return nil }, true},
		{"a byte", func(t *testing.T, dir string) error { write(t, "onf", dir, "a", "1"); return nil }, false},
		{"a mode", func(_ *testing.T, dir string) error { return os.Chmod(filepath.Join(dir, "a", "1"), 0o444) }, false},
		{"a name", func(_ *testing.T, dir string) error {
			return os.Rename(filepath.Join(dir, "a", "1"), filepath.Join(dir, "a", "2"))
		}, false},
		{"a file more", func(t *testing.T, dir string) error { write(t, "", dir, "b", "3"); return nil }, false},
		{"a file less", func(_ *testing.T, dir string) error { return os.Remove(filepath.Join(dir, "a", "1")) }, false},
		{"contents swapped", func(t *testing.T, dir string) error {
			write(t, "two", dir, "a", "1")
			write(t, "one", dir, "b", "2")
			return nil
		}, false},
		{"a backup", func(t *testing.T, dir string) error { write(t, "x", dir, stateDir, "backups", "1"); return nil }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, "one", dir, "a", "1")
			write(t, "two", dir, "b", "2")
			before, err := digest(dir)
			if err != nil {
				t.Fatal(err)
			}
			if before.Files != 2 || before.Bytes != 6 {
				t.Fatalf("it has %v", before)
			}
			if err := tt.change(t, dir); err != nil {
				t.Fatal(err)
			}
			after, err := digest(dir)
			if err != nil {
				t.Fatal(err)
			}
			if (before == after) != tt.same {
				t.Errorf("before %v, after %v", before, after)
			}
		})
	}
}

func TestDigestOfLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	if d, err := digest(dir); err == nil {
		t.Errorf("a link passed: %v", d)
	}
}

// A copy can be written to, whatever the module cache allows, and has no links.
func TestCopyTree(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	write(t, "one", from, "a", "1")
	if err := os.Chmod(filepath.Join(from, "a", "1"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("1", filepath.Join(from, "a", "2")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	if err := copyTree(from, to); err != nil {
		t.Fatal(err)
	}
	names, err := plainFiles(to)
	if err != nil || len(names) != 1 || names[0] != "a/1" {
		t.Fatalf("%q, %v", names, err)
	}
	f, err := os.OpenFile(filepath.Join(to, "a", "1"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Mode().Perm()&0o200 == 0 || info.Size() != 3 {
		t.Errorf("%v, %v", info, err)
	}
}

// A cached tree is checked when it is used again, and half a tree is built afresh.
func TestCorpusAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, "left by an interrupted build", dir, "c", "junk")
	tree, built, err := corpus(t.Context(), dir, "c", nil, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	if built.Files != 0 {
		t.Errorf("it has %v", built)
	}
	if _, again, err := corpus(t.Context(), dir, "c", nil, t.Logf); err != nil || again != built {
		t.Errorf("the second time it has %v, %v", again, err)
	}
	write(t, "", tree, "x")
	if _, _, err := corpus(t.Context(), dir, "c", nil, t.Logf); err == nil || !strings.Contains(err.Error(), "is not what was built") {
		t.Errorf("the error is %v", err)
	}
}

func TestSources(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, s := range sources() {
		if !strings.HasPrefix(s.sum, "h1:") || len(s.sum) != 47 || seen[s.sum] || seen[s.dir()] {
			t.Errorf("%s: sum %q", s.path, s.sum)
		}
		seen[s.sum], seen[s.dir()] = true, true
	}
	if s := smallSources(); len(s) != 1 || !seen[s[0].sum] {
		t.Errorf("the small corpus is %v", s)
	}
	azure := source{path: "github.com/Azure/x", version: "v1.0.0"}
	if got, want := filepath.ToSlash(azure.dir()), "github.com/!azure/x@v1.0.0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The same seed makes the same tree, with as many needles as were asked for.
func TestGenerate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	make3 := func(name string, seed uint64) (string, Digest) {
		t.Helper()
		tree := filepath.Join(dir, name)
		if err := generateTree(tree, 120, 4<<10, 5, false, seed); err != nil {
			t.Fatal(err)
		}
		d, err := digest(tree)
		if err != nil {
			t.Fatal(err)
		}
		return tree, d
	}
	a, first := make3("a", 1)
	_, second := make3("b", 1)
	_, other := make3("c", 2)
	if first != second || first == other {
		t.Errorf("seed 1 gives %v and %v, seed 2 %v", first, second, other)
	}
	if mean := first.Bytes / int64(first.Files); mean < 4<<10 || mean > 4<<10+200 {
		t.Errorf("files have %d bytes", mean)
	}
	names, err := plainFiles(a)
	if err != nil || len(names) != 120 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	for i, name := range names {
		data, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		if i%10 == 0 {
			want = 5
		}
		if got := strings.Count(string(data), needle); got != want || strings.Contains(string(data), thread) {
			t.Errorf("%s has %d needles, want %d", name, got, want)
		}
	}
}
