//go:build unix

package scratch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/scratch"
)

// The same files are ignored as by git.
func TestTree_ignoresAsGit(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]string{"a directory": ".git", "a file": ".store"} {
		t.Run(name, func(t *testing.T) { ignoresAsGit(t, store) })
	}
}

// ignoresAsGit compares with git in a tree whose repository is in the directory store.
func ignoresAsGit(t *testing.T, store string) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	base, dir := dirAt(t, map[string]string{
		".gitignore": "*.o\n/out/\n!keep.o\nsub/*.tmp\n", "sub/.gitignore": "!x.o\nlocal\n", "a.c": "a", "sub/b.c": "b",
	})
	git := func(at string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "core.excludesFile=/dev/null"}, args...)...)
		cmd.Dir = at
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if store == ".git" {
		git(dir, "init", "-q")
	} else {
		git(dir, "init", "-q", "--separate-git-dir="+store)
	}
	if err := os.WriteFile(filepath.Join(dir, store, "info/exclude"), []byte("*.private\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, base, nil)
	if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
		t.Fatal(err)
	}
	r.script(`for d in . sub out sub/out; do mkdir -p $d; for f in x.o keep.o y.tmp z.c local my.private; do echo $f > $d/$f; done; done`)
	changes, err := r.tree.Collect(t.Context(), scratch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range changes {
		if c.Written {
			got = append(got, c.Path)
		}
	}
	real := t.TempDir() // for git's answers on the same files
	if err := os.CopyFS(real, os.DirFS(r.tree.Root())); err != nil {
		t.Fatal(err)
	}
	git(real, "init", "-q")
	if err := os.WriteFile(filepath.Join(real, ".git/info/exclude"), []byte("*.private\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range strings.Split(git(real, "ls-files", "--others", "--exclude-standard", "-z"), "\x00") {
		if name != "" && !strings.HasPrefix(name, ".store/") &&
			!slices.Contains([]string{".gitignore", "sub/.gitignore", "a.c", "sub/b.c"}, name) {
			want = append(want, name)
		}
	}
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" || len(want) < 8 {
		t.Errorf("-git +scratch\n%s", d)
	}
}
