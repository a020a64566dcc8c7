package walk_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/walk"
)

// randomTree makes a small tree with .gitignore files in some of its directories, with few names so that rules and
// names often match.
func randomTree(r *rand.Rand, dir string, depth int, tree walkTree) {
	names := []string{"a", "b", "c.o", "a.o", ".x", "lib", "Lib", "a b", "x.log"}
	patterns := []string{
		"a", "/a", "a/", "*.o", "!a.o", "lib/", "!lib/", "/lib/*", "!/lib/b", "**/b", "lib/**/a", "*", "!*/", "!.gitignore", "[ab]", "x.*", "l?b", "a\\ b", "b/**",
		"**/lib/*.o", "!b", "/*/a", "lib",
	}
	if r.IntN(3) == 0 {
		var rules strings.Builder
		for range 1 + r.IntN(4) {
			rules.WriteString(patterns[r.IntN(len(patterns))] + "\n")
		}
		tree[path.Join(dir, ".gitignore")] = rules.String()
	}
	for _, i := range r.Perm(len(names))[:2+r.IntN(4)] {
		name := path.Join(dir, names[i])
		if depth > 0 && r.IntN(2) == 0 {
			randomTree(r, name, depth-1, tree)
		} else {
			tree[name] = ""
		}
	}
}

// walkGit runs git in a directory without the configuration of the user who runs the test.
func walkGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_TEMPLATE_DIR=",
		"GIT_DIR="+filepath.Join(dir, ".git"), "GIT_WORK_TREE="+dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

// walkGitFiles makes a repository in a directory and returns the files that git would add, sorted.
func walkGitFiles(t *testing.T, dir string) []string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	walkGit(t, dir, "init", "-q")
	out := strings.TrimSuffix(walkGit(t, dir, "ls-files", "-co", "--exclude-standard", "-z"), "\x00")
	files := strings.Split(out, "\x00")
	slices.Sort(files)
	return files
}

// A walk finds the files that git would add.
func TestWalkAgainstGit(t *testing.T) {
	t.Parallel()
	seed := fstest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 2))
	trees, files := fstest.Runs(60, 500, 10_000), 0
	for first := 0; first < trees; first += 100 {
		files += walkAgainstGit(t, r, first/100, min(100, trees-first))
	}
	fstest.Countf(t, "%d random trees with %d files compared with git ls-files", trees, files)
}

// walkAgainstGit compares the walk of some trees, all in one repository, and returns the number of files in them. Every
// second repository also has rules in .git/info/exclude.
func walkAgainstGit(t *testing.T, r *rand.Rand, round, trees int) int {
	t.Helper()
	tree := walkTree{}
	for i := range trees {
		randomTree(r, fmt.Sprintf("t%d", i), 3, tree)
	}
	tree[".gitignore"] = "x.log\n/t9/\n!t8/x.log\n"
	if round%2 == 1 {
		tree[excludeFile] = "b\n!x.log\n/t7/\nlib/**/a\n*.o\r\n!/t6/*.o\n/t5/*\n!/t5/a\n"
	}
	dir := t.TempDir()
	fsys := afero.NewBasePathFs(afero.NewOsFs(), dir)
	tree.write(t, fsys)
	want := walkGitFiles(t, dir)
	if len(want) < trees || len(want) > len(tree)*9/10 {
		t.Errorf("git lists %d of %d files: the trees test little", len(want), len(tree))
	}
	for _, workers := range []int{1, 4} {
		if diff := cmp.Diff(want, walkAll(t, fsys, ".", walk.Options{Workers: workers})); diff != "" {
			t.Errorf("%d workers (-git +walk)\n%s", workers, diff)
		}
	}
	mem := afero.NewMemMapFs()
	tree.write(t, mem)
	if diff := cmp.Diff(want, walkAll(t, mem, ".", walk.Options{})); diff != "" {
		t.Errorf("in memory (-git +walk)\n%s", diff)
	}
	// Any directory that git would enter must have its content in the list.
	for i := range trees {
		if i == 9 || i == 7 && round%2 == 1 {
			continue
		}
		root := fmt.Sprintf("t%d", i)
		below := slices.DeleteFunc(slices.Clone(want), func(p string) bool { return !names.Within(p, root) })
		if diff := cmp.Diff(below, walkAll(t, fsys, root, walk.Options{})); diff != "" {
			t.Errorf("%s (-git +walk)\n%s", root, diff)
		}
	}
	return len(tree)
}

const excludeFile = ".git/info/exclude"

// A repository inside another has its own rules and none from above, of any kind.
func TestWalkExcludeFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fsys := afero.NewBasePathFs(afero.NewOsFs(), dir)
	walkTree{
		excludeFile: "*.a\n/sub/x.b\n!keep.c\n", ".gitignore": "*.c\n!y.a\n", "x.a": "", "y.a": "", "x.b": "", "keep.c": "",
		"sub/x.a": "", "sub/x.b": "", "sub/y.b": "", "sub/sub/x.b": "", "sub/.gitignore": "!x.a\n",
		"repo/" + excludeFile: "/x.b\n", "repo/x.a": "", "repo/x.b": "", "repo/x.c": "", "repo/d/x.b": "",
	}.write(t, fsys)
	outer := []string{".gitignore", "sub/.gitignore", "sub/sub/x.b", "sub/x.a", "sub/y.b", "x.b", "y.a"}
	inner := []string{"repo/d/x.b", "repo/x.a", "repo/x.c"}
	// Git reports the same for that repository alone, and for the files that are in no other.
	var within []string
	for _, p := range walkGitFiles(t, filepath.Join(dir, "repo")) {
		within = append(within, "repo/"+p)
	}
	if diff := cmp.Diff(within, inner); diff != "" {
		t.Errorf("repo (-git +want)\n%s", diff)
	}
	git := slices.DeleteFunc(walkGitFiles(t, dir), func(p string) bool { return names.Within(p, "repo") })
	if diff := cmp.Diff(git, outer); diff != "" {
		t.Errorf("(-git +want)\n%s", diff)
	}

	walkTree{"tree/.git": "gitdir: elsewhere", "tree/x.a": ""}.write(t, fsys) // a worktree
	for root, want := range map[string][]string{
		".": slices.Concat(outer[:1], inner, outer[1:5], []string{"tree/x.a"}, outer[5:]), "sub": outer[1:5], "repo": inner, "repo/d": inner[:1], "tree": {"tree/x.a"},
	} {
		if diff := cmp.Diff(want, walkAll(t, fsys, root, walk.Options{})); diff != "" {
			t.Errorf("%s (-want +got)\n%s", root, diff)
		}
	}
	all := walkAll(t, fsys, "sub", walk.Options{NoIgnore: true})
	if diff := cmp.Diff([]string{"sub/.gitignore", "sub/sub/x.b", "sub/x.a", "sub/x.b", "sub/y.b"}, all); diff != "" {
		t.Errorf("everything (-want +got)\n%s", diff)
	}
}

// An entry that is not a regular file of rules, or must not be read, adds no rules; a failing read is reported.
func TestWalkOddExcludeFiles(t *testing.T) {
	t.Parallel()
	for name, tree := range map[string]walkTree{
		"none": {".git/HEAD": ""}, "info is a file": {".git/info": "x\n"}, "a directory": {excludeFile + "/x": "x\n"}, "empty": {excludeFile: ""},
	} {
		fsys := afero.NewMemMapFs()
		tree.write(t, fsys)
		walkTree{"x": ""}.write(t, fsys)
		if diff := cmp.Diff([]string{"x"}, walkAll(t, fsys, ".", walk.Options{})); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	for fault, want := range map[error]error{names.ErrNotAllowed: nil, fs.ErrNotExist: nil, fs.ErrPermission: fs.ErrPermission} {
		guarded := walkFaults(afero.NewMemMapFs(), map[string]error{excludeFile: fault})
		walkTree{excludeFile: "x\n", "d/x": ""}.write(t, guarded)
		for _, root := range []string{".", "d"} {
			if _, err := walkPaths(t.Context(), guarded, root, walk.Options{}); !errors.Is(err, want) {
				t.Errorf("%v below %s: got %v", fault, root, err)
			}
		}
	}
}
