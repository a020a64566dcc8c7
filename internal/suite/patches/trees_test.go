package patches_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
)

// randomTree returns a few files, some of them unusual.
func randomTree(r *rand.Rand) tree {
	files := tree{}
	for _, name := range []string{"a", "b.txt", "d/a", "d/e/f", "d e/ü \"q\"", "x/\tt", "bin", "l"} {
		if chance(r, 4) {
			continue
		}
		e := entry{Text: strings.Join(randomLines(r, 25), ""), Exec: chance(r, 5)}
		switch {
		case name == "bin" && e.Text != "":
			e.Text = "\x00" + e.Text
		case name == "l":
			e = entry{Text: pick(r, "a", "d/a", "nowhere"), Link: true}
		}
		files[name] = e
	}
	return files
}

// changedTree returns the tree with some changes: of texts, modes, names and kinds.
func changedTree(r *rand.Rand, old tree) tree {
	files := tree{}
	for _, name := range old.names() {
		e := old[name]
		switch n := r.IntN(10); {
		case n < 3:
		case n < 7 && !e.Link:
			e.Text = strings.Join(changed(r, strings.SplitAfter(strings.TrimSuffix(e.Text, "\n")+"\n", "\n"), 1+r.IntN(4)), "")
		case n == 7 && !e.Link:
			e.Exec = !e.Exec
		case n == 7:
			e.Text = pick(r, "b.txt", "x")
		case n == 8:
			continue
		case n == 9:
			name = pick(r, "moved", "d/moved", "n/m", "z z")
		}
		if _, taken := files[name]; !taken {
			files[name] = e
		}
	}
	if chance(r, 3) {
		if _, taken := files["new/one"]; !taken {
			files["new/one"] = entry{Text: strings.Join(randomLines(r, 6), "")}
		}
	}
	return files
}

// inRoot applies a patch to a tree in a directory of its own, and returns the result.
func inRoot(t *testing.T, files tree, p actions.Patch) (tree, error) {
	t.Helper()
	dir := t.TempDir()
	files.plant(t, dir)
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() // a test has more samples than a process may open files
	_, err = applied(t, root, p)
	return readTree(t, dir), err
}

// TestTreesByGit: git makes diffs of random trees, with renames, copies, modes, links and binary files. The diffs give
// the new tree, and reversed the old tree.
func TestTreesByGit(t *testing.T) {
	t.Parallel()
	needTools(t, "git")
	r := rand.New(rand.NewPCG(fstest.Seed(t), 3))
	bytes, samples := 0, fstest.Runs(5, 40, 1500)
	for i := range samples {
		old := randomTree(r)
		now := changedTree(r, old)
		dir := t.TempDir()
		must := func(args ...string) string {
			ok, out := run(t, dir, "", "git", args...)
			if !ok {
				t.Fatalf("git %q: %s", args, out)
			}
			return out
		}
		must("init", "-q")
		old.plant(t, dir)
		must("add", "-A")
		must("commit", "-q", "--allow-empty", "-m", "m")
		for name := range old {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		now.plant(t, dir)
		must("add", "-A")
		args := []string{"diff", "--cached", "--binary", "--full-index", fmt.Sprintf("-U%d", 1+r.IntN(3))}
		args = append(args, pick(r, "-M", "-M30", "-C", "--no-renames"))
		patch := must(args...)
		bytes += len(patch)
		if patch == "" {
			continue
		}
		got, err := inRoot(t, old, actions.Patch{Text: patch})
		if err != nil {
			t.Fatalf("run %d: %v\n%s", i, err, patch)
		}
		if d := cmp.Diff(now, got); d != "" {
			t.Fatalf("run %d (-want +got): %s\n%s", i, d, patch)
		}
		if strings.Contains(patch, "\ncopy from ") {
			continue
		}
		back, err := inRoot(t, now, actions.Patch{Text: patch, Reverse: true})
		if err != nil {
			t.Fatalf("run %d, back: %v\n%s", i, err, patch)
		}
		if d := cmp.Diff(old, back); d != "" {
			t.Fatalf("run %d, back (-want +got): %s\n%s", i, d, patch)
		}
	}
	fstest.Countf(t, "%d diffs that git has made of random trees, %d bytes", samples, bytes)
}

// TestTreesByDiff: the same with GNU diff, which supports neither modes nor links nor binary files.
func TestTreesByDiff(t *testing.T) {
	t.Parallel()
	needTools(t, "diff")
	r := rand.New(rand.NewPCG(fstest.Seed(t), 4))
	for i := range fstest.Runs(5, 40, 1500) {
		old := randomTree(r)
		plain := func(files tree) {
			for name, e := range files {
				e.Exec = false
				if files[name] = e; e.Link || name == "bin" {
					delete(files, name)
				}
			}
		}
		plain(old)
		now := changedTree(r, old)
		plain(now)
		dir := t.TempDir()
		old.plant(t, filepath.Join(dir, "a"))
		now.plant(t, filepath.Join(dir, "b"))
		for _, side := range []string{"a", "b"} {
			if err := os.MkdirAll(filepath.Join(dir, side), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		_, patch := run(t, dir, "", "diff", "-ruaN", "a", "b")
		if patch == "" {
			continue
		}
		got, err := inRoot(t, old, actions.Patch{Text: patch})
		if err != nil {
			t.Fatalf("run %d: %v\n%s", i, err, patch)
		}
		// An empty file and a missing file are the same here: diff -N writes the same for both.
		for _, files := range []tree{got, now} {
			for name, e := range files {
				if e.Text == "" {
					delete(files, name)
				}
			}
		}
		if d := cmp.Diff(now, got); d != "" {
			t.Fatalf("run %d (-want +got): %s\n%s", i, d, patch)
		}
	}
}

// TestOwnDiffs: the diff of a plan is a patch that gives the same tree, and reversed the old tree.
func TestOwnDiffs(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(fstest.Seed(t), 5))
	for i := range fstest.Runs(5, 40, 2000) {
		old := randomTree(r)
		dir := t.TempDir()
		old.plant(t, dir)
		root := suite.OpenRoot(t, dir)
		var names []string
		for _, name := range old.names() {
			if !old[name].Link && name != "bin" {
				names = append(names, name)
			}
		}
		if len(names) < 2 {
			continue
		}
		r.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
		b := millrace.New("p").Options(millrace.Options{Force: true, NoBackup: true})
		last := b.Step("edit", actions.RegexTransform{Files: names[1:], Patterns: []actions.PatternEdit{
			{Pattern: pick(r, "a", "b$", "^", "}\n", "d e"), Replacement: pick(r, "x", "", "x\ny", "x\n"), Flags: "m"},
		}})
		if chance(r, 2) {
			last = last.Step("create", actions.Create{Path: "made/it", Content: pick(r, "", "one", "one\n", "\x00\n")})
		}
		switch r.IntN(3) {
		case 0:
			last = last.Step("rename", actions.Rename{Files: names[:1], To: "new/{{name}}"})
		case 1:
			last = last.Step("delete", actions.Delete{Files: names[:1]})
		}
		if _, ok := old["bin"]; ok && chance(r, 2) {
			last = last.Step("binary", actions.Edit{Files: []string{"bin"}, OldText: "\x00", NewText: "\x00\x01", Binary: true})
		}
		p, err := last.Build()
		if err != nil {
			t.Fatal(err)
		}
		plan, err := (millrace.Executor{}).Plan(t.Context(), root, p)
		if err != nil {
			t.Fatal(err)
		}
		patch := plan.Diff()
		if _, err := plan.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := readTree(t, dir)
		if patch == "" {
			continue
		}
		got, err := inRoot(t, old, actions.Patch{Text: patch})
		if err != nil {
			t.Fatalf("run %d: %v\n%s", i, err, patch)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("run %d (-want +got): %s\n%s", i, d, patch)
		}
		back, err := inRoot(t, want, actions.Patch{Text: patch, Reverse: true})
		if err != nil {
			t.Fatalf("run %d, back: %v\n%s", i, err, patch)
		}
		if d := cmp.Diff(old, back); d != "" {
			t.Fatalf("run %d, back (-want +got): %s\n%s", i, d, patch)
		}
		// The plan of the patch shows the same patch.
		again := t.TempDir()
		old.plant(t, again)
		plan, err = (millrace.Executor{}).Plan(t.Context(), suite.OpenRoot(t, again), pipeline(actions.Patch{Text: patch}))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(sections(patch), sections(plan.Diff())); d != "" {
			t.Fatalf("run %d, its own diff: %s", i, d)
		}
	}
}

// sections returns the parts of a patch, sorted.
func sections(patch string) []string {
	parts := strings.Split(patch, "diff --git ")
	slices.Sort(parts)
	return parts
}
