package walk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/walk"
)

// inRepository runs git in a directory, which finds its repository by its .git.
func inRepository(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{
		"-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", "-c", "commit.gpgsign=false",
	}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_TEMPLATE_DIR=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v in %s: %v\n%s", args, dir, err, out)
	}
	return string(out)
}

// TestWalkLinkedRepositories: if .git is a file, as in a worktree or a submodule, or a link, the info/exclude of its
// repository applies, as in git. A worktree of a repository outside the tree has no such rules: nothing is read there.
func TestWalkLinkedRepositories(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	top := t.TempDir()
	put := func(text string, name ...string) {
		t.Helper()
		file := filepath.Join(append([]string{top}, name...)...)
		fstest.Must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		fstest.Must(t, os.WriteFile(file, []byte(text), 0o644))
	}
	for _, repo := range []string{"main", "lib"} {
		put("", repo, "tracked")
		inRepository(t, filepath.Join(top, repo), "init", "-q")
		inRepository(t, filepath.Join(top, repo), "add", ".")
		inRepository(t, filepath.Join(top, repo), "commit", "-qm", "first")
	}
	inRepository(t, filepath.Join(top, "main"), "worktree", "add", "-q", "../wt")
	inRepository(t, filepath.Join(top, "main"), "worktree", "add", "-q", "inner")
	inRepository(t, filepath.Join(top, "main"), "submodule", "add", "-q", "../lib", "sub")
	fstest.Must(t, os.Mkdir(filepath.Join(top, "linked"), 0o755))
	fstest.Must(t, os.Symlink("../lib/.git", filepath.Join(top, "linked", ".git")))
	put("*.x\n!keep.x\n/only/\n", "main", ".git", "info", "exclude")
	put("*.y\n", "main", ".git", "modules", "sub", "info", "exclude")
	put("*.z\n", "lib", ".git", "info", "exclude")
	put("*.x\n!b.y\n*.q\n", "main", ".git", "worktrees", "wt", "info", "exclude") // git does not read this one
	repos := []string{"main", "wt", "main/inner", "main/sub", "lib", "linked"}
	for _, repo := range repos {
		for _, name := range []string{"a.x", "keep.x", "b.y", "c.z", "d.q", "only/e", "deep/only/e", "deep/a.x"} {
			put("", repo, name)
		}
	}
	root := fstest.OpenRoot(t, top)
	staged := stage.New(root)
	defer staged.Close()
	differ := 0
	for _, repo := range repos {
		dir := filepath.Join(top, repo)
		out := inRepository(t, dir, "ls-files", "-o", "--exclude-standard", "-z")
		var want []string
		for _, name := range strings.Split(strings.TrimSuffix(out, "\x00"), "\x00") {
			if !strings.HasSuffix(name, "/") { // a repository inside this one
				want = append(want, repo+"/"+name)
			}
		}
		slices.Sort(want)
		if len(want) < 8 {
			differ++
		}
		tracked := func(name string) bool {
			return name == repo+"/tracked" || name == repo+"/.gitmodules" || name == repo+"/.git" ||
				repo == "main" && (strings.HasPrefix(name, "main/inner/") || strings.HasPrefix(name, "main/sub/"))
		}
		for what, got := range map[string][]string{
			"root":  walkAll(t, root, repo, walk.Options{}),
			"stage": walkAll(t, staged, repo, walk.Options{}),
		} {
			if diff := cmp.Diff(want, slices.DeleteFunc(got, tracked)); diff != "" {
				t.Errorf("%s, %s (-git +walk)\n%s", repo, what, diff)
			}
		}
		below := walkAll(t, root, repo+"/deep", walk.Options{})
		if diff := cmp.Diff(slices.DeleteFunc(want, func(p string) bool { return !strings.HasPrefix(p, repo+"/deep/") }), below); diff != "" {
			t.Errorf("%s/deep (-git +walk)\n%s", repo, diff)
		}
	}
	if differ != len(repos) {
		t.Errorf("%d of %d repositories have rules that leave something out", differ, len(repos))
	}
	alone := walkAll(t, fstest.OpenRoot(t, filepath.Join(top, "wt")), ".", walk.Options{})
	if !slices.Contains(alone, "a.x") {
		t.Errorf("rules from outside of the tree: %q", alone)
	}
}
