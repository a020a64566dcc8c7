package fsutil_test

import (
	"fmt"
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

	"github.com/millrace-go/millrace/fsutil"
)

// randomTree makes a small tree with .gitignore files in some of its directories, out of few names so that they meet.
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

// The files that a walk finds are those that git would add.
func TestWalkAgainstGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	tree := walkTree{}
	const trees = 60
	for i := range trees {
		randomTree(r, fmt.Sprintf("t%d", i), 3, tree)
	}
	tree[".gitignore"] = "x.log\n/t9/\n!t8/x.log\n"
	dir := t.TempDir()
	fsys := afero.NewBasePathFs(afero.NewOsFs(), dir)
	tree.write(t, fsys)
	git := func(args ...string) string {
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
	git("init", "-q")
	want := strings.Split(strings.TrimSuffix(git("ls-files", "-co", "--exclude-standard", "-z"), "\x00"), "\x00")
	slices.Sort(want)
	if len(want) < 100 || len(want) > len(tree)*9/10 {
		t.Errorf("git lists %d of %d files: the trees test little", len(want), len(tree))
	}
	for _, workers := range []int{1, 4} {
		if diff := cmp.Diff(want, walkAll(t, fsys, ".", fsutil.WalkOptions{Workers: workers})); diff != "" {
			t.Errorf("%d workers (-git +walk)\n%s", workers, diff)
		}
	}
	mem := afero.NewMemMapFs()
	tree.write(t, mem)
	if diff := cmp.Diff(want, walkAll(t, mem, ".", fsutil.WalkOptions{})); diff != "" {
		t.Errorf("in memory (-git +walk)\n%s", diff)
	}
	// Any directory that git would look into gives what is below it in the list.
	for i := range trees {
		if i == 9 {
			continue
		}
		root := fmt.Sprintf("t%d", i)
		below := slices.DeleteFunc(slices.Clone(want), func(p string) bool { return !fsutil.Within(p, root) })
		if diff := cmp.Diff(below, walkAll(t, fsys, root, fsutil.WalkOptions{})); diff != "" {
			t.Errorf("%s (-git +walk)\n%s", root, diff)
		}
	}
}
