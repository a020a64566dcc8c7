package policy_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
)

// secret is in each file that steps must not read.
const secret = "TOPSECRET"

// reservedTree is a tree with a reserved file in it.
type reservedTree struct {
	name string
	// files are "path=text", "path/" for a directory, or "path->target" for a link. OUT stands for a directory outside.
	files []string
	// roads are the paths by which a program reaches the reserved files, which need not exist.
	roads []string
	// config means that the roads lead to the configuration of the user, which must not be read either.
	config bool
	// aims are more paths for the attacks.
	aims []string
}

var bare = []string{"HEAD=ref: refs/heads/main\n", "objects/", "refs/heads/", "config=[core]\n", "hooks/pre-commit=#!\n"}

// repository returns the files of a git repository in a directory.
func repository(dir string) []string {
	var files []string
	for _, f := range bare {
		files = append(files, dir+"/"+f)
	}
	return files
}

func reservedTrees() []reservedTree {
	key := []string{".config/millrace/key", ".config/millrace/config.yaml"}
	git := []string{".git/config", ".git/HEAD", ".git/hooks/pre-commit", ".git/hooks/new"}
	return []reservedTree{
		{"config", []string{".config/millrace/key=" + secret}, key, true, nil},
		{"config by a link", []string{".config->cfg", "cfg/millrace/key=" + secret}, key, true, []string{"cfg/millrace/key", "cfg/millrace/config.yaml"}},
		{"config by a dangling link", []string{".config->cfg"}, key, true, []string{"cfg/millrace/config.yaml"}},
		{"config to come", nil, key, true, nil},
		{"config by its last part", []string{".config/millrace->../ml", "ml/key=" + secret}, key, true, []string{"ml/key", "ml/config.yaml"}},
		{"config outside", []string{".config->OUT/cfg"}, key, true, nil},
		{"config by a chain", []string{".config->a/b", "a->c", "c/b/millrace/key=" + secret}, key, true, []string{"c/b/millrace/key", "a/b"}},
		{"config by an absolute link", []string{".config->HERE/cfg", "cfg/millrace/key=" + secret}, key, true, []string{"cfg/millrace/key"}},
		{"git", repository(".git"), git, false, nil},
		{"git by a link", append(repository("gs"), ".git->gs"), git, false, []string{"gs/config", "gs/HEAD", "gs/hooks/new"}},
		{"git by a dangling link", []string{".git->gs"}, git, false, []string{"gs/config", "gs/HEAD"}},
		{"git by a chain", append(repository("c/gs"), ".git->a/gs", "a->c"), git, false, []string{"c/gs/config", "a"}},
		{"git by a file", append(repository("gs"), ".git=gitdir: gs\n"), []string{"gs/config", "gs/HEAD", "gs/hooks/new"}, false, nil},
		{"git by a file with an absolute name", append(repository("gs"), ".git=gitdir: HERE/gs\n"), []string{"gs/config", "gs/hooks/new"}, false, nil},
		{
			"git of a worktree",
			append(repository("main"), "main/worktrees/w/HEAD=x", "main/worktrees/w/commondir=../..\n", ".git=gitdir: main/worktrees/w\n"),
			[]string{"main/config", "main/worktrees/w/HEAD", "main/worktrees/w/config.worktree"}, false, nil,
		},
		{
			"git whose common directory has no HEAD",
			[]string{"c/objects/", "c/refs/", "c/config=[core]\n", "w/HEAD=x", "w/commondir=../c\n", ".git=gitdir: w\n"},
			[]string{"c/config", "c/hooks/new", "w/HEAD"}, false, nil,
		},
		{"a bare repository", repository("srv/x"), []string{"srv/x/config", "srv/x/hooks/new"}, false, nil},
		{"a repository to be", []string{"r/HEAD=ref: x\n", "r/objects/"}, []string{"r/refs/heads/main", "r/refs/x"}, false, nil},
		{
			"the directory of repo", []string{"p/.git->../.repo/p.git", ".repo/p.git/HEAD=x", ".repo/p.git/objects/", ".repo/p.git/refs/"},
			[]string{"p/.git/config", ".repo/p.git/config", ".repo/repo/main.py"}, false, nil,
		},
	}
}

// plant makes the tree, and returns its directory.
func (r reservedTree) plant(t testing.TB) string {
	t.Helper()
	top := t.TempDir()
	here, out := filepath.Join(top, "home"), filepath.Join(top, "out")
	fstest.Must(t, os.MkdirAll(filepath.Join(out, "cfg"), 0o700))
	fstest.Must(t, os.MkdirAll(here, 0o700))
	places := strings.NewReplacer("OUT", out, "HERE", here)
	for _, f := range append([]string{"own/a.txt=x\n", "own/git/config=mine\n", "own/git/HEAD=mine\n"}, r.files...) {
		f = places.Replace(f)
		if name, target, ok := strings.Cut(f, "->"); ok {
			fstest.Must(t, os.MkdirAll(filepath.Join(here, filepath.Dir(name)), 0o700))
			fstest.Must(t, os.Symlink(target, filepath.Join(here, name)))
			continue
		}
		name, text, isFile := strings.Cut(f, "=")
		if !isFile {
			fstest.Must(t, os.MkdirAll(filepath.Join(here, name), 0o700))
			continue
		}
		fstest.Must(t, os.MkdirAll(filepath.Join(here, filepath.Dir(name)), 0o700))
		fstest.Must(t, os.WriteFile(filepath.Join(here, name), []byte(text), 0o600))
	}
	return here
}

// reached returns the files that a program finds by the roads, as the system follows them.
func (r reservedTree) reached(here string) string {
	var all strings.Builder
	for _, road := range r.roads {
		data, err := os.ReadFile(filepath.Join(here, road))
		fmt.Fprintf(&all, "%s: %q, there %v\n", road, data, err == nil)
	}
	return all.String()
}

// targets returns all paths for the attacks: the roads, the aims, their directories, and the targets of links.
func (r reservedTree) targets(here string) []string {
	all := slices.Concat(r.roads, r.aims)
	for _, name := range slices.Clone(all) {
		for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
			all = append(all, filepath.ToSlash(dir))
		}
		if real, err := filepath.EvalSymlinks(filepath.Join(here, name)); err == nil {
			if rel, err := filepath.Rel(here, real); err == nil && !strings.HasPrefix(rel, "..") {
				all = append(all, filepath.ToSlash(rel))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// attacks returns steps that attack a path.
func attacks(at string) map[string]millrace.Pipeline {
	one := func(all ...actions.Action) millrace.Pipeline {
		b := millrace.New("p")
		for i, a := range all {
			b = b.Step(fmt.Sprintf("s%d", i), a).Builder
		}
		return b.MustBuild()
	}
	link := fmt.Sprintf("diff --git a/%[1]s b/%[1]s\nnew file mode 120000\n--- /dev/null\n+++ b/%[1]s\n@@ -0,0 +1 @@\n+own/git\n"+
		"\\ No newline at end of file\n", at)
	remove := actions.Delete{Files: []string{at}, Recursive: true}
	return map[string]millrace.Pipeline{
		"create":                  one(actions.Create{Path: at, Content: "pager: evil", Overwrite: true}),
		"create below":            one(actions.Create{Path: at + "/millrace/config.yaml", Content: "pager: evil"}),
		"create two":              one(actions.Create{Path: at + "/refs/x", Content: "evil"}, actions.Create{Path: at + "/HEAD", Content: "evil"}),
		"edit":                    one(actions.Edit{Files: []string{at}, OldText: "e", NewText: "evil"}),
		"edit all":                one(actions.PatternReplace{FilePattern: "**", SedPattern: []string{"s/e/evil/"}, NoIgnore: true}),
		"delete":                  one(remove),
		"delete and create":       one(remove, actions.Create{Path: at, Content: "evil"}),
		"delete and create below": one(remove, actions.Create{Path: at + "/millrace/config.yaml", Content: "pager: evil"}),
		"replace by a link":       one(remove, actions.Patch{Text: link}),
		"link":                    one(actions.Patch{Text: link}),
		"rename away":             one(actions.Rename{Files: []string{at}, To: "own/moved"}),
		"rename there":            one(actions.Rename{Files: []string{"own/a.txt"}, To: at, Overwrite: true}),
		"rename below":            one(actions.Rename{Files: []string{"own/git/config"}, Destination: at, Overwrite: true}),
		"copy away":               one(actions.Copy{Files: []string{at}, To: "own/stolen"}),
		"copy there":              one(actions.Copy{Files: []string{"own/a.txt"}, To: at, Overwrite: true}),
		"swap": one(actions.Rename{Files: []string{at}, To: "own/moved"},
			actions.Rename{Files: []string{"own/git/config"}, To: at + "/config"}),
		"read":   one(actions.ReadRanges{Files: []string{at}}),
		"search": one(actions.Search{Pattern: ".*", Mode: "regex", NoIgnore: true}),
	}
}

// Each step attacks each name of a reserved file, each directory and link on the way, and their targets. After each
// attack, a program that uses the usual names finds the same files as before.
func TestReservedByWhatNamesLeadTo(t *testing.T) {
	for _, tree := range reservedTrees() {
		t.Run(tree.name, func(t *testing.T) {
			here := tree.plant(t)
			done := 0
			for _, at := range tree.targets(here) {
				for name, p := range attacks(at) {
					t.Setenv("HOME", here)
					t.Setenv("XDG_CONFIG_HOME", filepath.Join(here, ".config"))
					before := tree.reached(here)
					x := millrace.Executor{State: millrace.State{NoSync: true, Key: bytes.Repeat([]byte("k"), 32)}}
					res, err := x.Run(t.Context(), suite.OpenRoot(t, here), p.WithOptions(millrace.Options{Force: true}))
					if after := tree.reached(here); after != before {
						t.Errorf("%s %s: error = %v\nbefore: %s\nafter:  %s", name, at, err, before, after)
					}
					if tree.config && strings.Contains(suite.JSON(t, res), secret) {
						t.Errorf("%s %s: a reserved file was read", name, at)
					}
					if holds(t, filepath.Join(here, "own"), secret) {
						t.Errorf("%s %s: a reserved file was copied", name, at)
					}
					if err == nil {
						done++
						here = tree.plant(t)
					}
				}
			}
			if done == 0 {
				t.Error("no step succeeded, so nothing was tested")
			}
		})
	}
}

// holds reports whether a file below the directory has the text.
func holds(t *testing.T, dir, text string) bool {
	t.Helper()
	found := false
	fstest.Must(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			data, err := os.ReadFile(name)
			found = found || bytes.Contains(data, []byte(text))
			return err
		}
		return err
	}))
	return found
}

// A policy that denies .git denies git's files under each name: neither a search nor a step that names such a file
// finds its text.
func TestDeniedRepositories(t *testing.T) {
	for _, tree := range reservedTrees() {
		if tree.config {
			continue
		}
		here := tree.plant(t)
		for _, road := range tree.roads {
			name := filepath.Join(here, road)
			if data, err := os.ReadFile(name); err == nil && strings.HasSuffix(road, "/config") {
				fstest.Must(t, os.WriteFile(name, append(data, secret...), 0o600))
			}
		}
		x := millrace.Executor{State: millrace.State{NoSync: true, Key: bytes.Repeat([]byte("k"), 32)}, DeniedPaths: []string{".git", ".repo"}}
		for _, at := range tree.targets(here) {
			for name, p := range attacks(at) {
				res, _ := x.Plan(t.Context(), suite.OpenRoot(t, here), p)
				if res != nil && strings.Contains(suite.JSON(t, res.Result()), secret) {
					t.Errorf("%s: %s %s: a denied file was read", tree.name, name, at)
				}
			}
		}
	}
}

// Random steps on random trees: after any steps in any order, programs find the same files by the usual names.
func TestReservedStaysInRandomTrees(t *testing.T) {
	random := rand.New(rand.NewPCG(fstest.Seed(t), 0))
	trees, done := reservedTrees(), 0
	for range fstest.Runs(25, 150, 3000) {
		tree := trees[random.IntN(len(trees))]
		also := trees[random.IntN(len(trees))]
		for _, f := range also.files { // a second repository below a directory of its own
			if name, target, ok := strings.Cut(f, "->"); ok && !strings.HasPrefix(target, "HERE") {
				tree.files = append(slices.Clip(tree.files), "own/two/"+name+"->"+target)
			}
		}
		here := tree.plant(t)
		t.Setenv("HOME", here)
		t.Setenv("XDG_CONFIG_HOME", filepath.Join(here, ".config"))
		before := tree.reached(here)
		x := millrace.Executor{State: millrace.State{NoSync: true, Key: bytes.Repeat([]byte("k"), 32)}}
		var backups []string
		for range 6 {
			targets := tree.targets(here)
			at := targets[random.IntN(len(targets))]
			to := append(targets, "own/x", "own/git", "x")[random.IntN(len(targets)+3)]
			all := slices.Collect(maps.Values(attacks(at)))
			p := millrace.New("p").Step("m", actions.Rename{Files: []string{at}, To: to, Overwrite: true}).MustBuild()
			if random.IntN(3) > 0 {
				slices.SortFunc(all, func(a, b millrace.Pipeline) int { return strings.Compare(suite.JSON(t, a), suite.JSON(t, b)) })
				p = all[random.IntN(len(all))]
			}
			root := suite.OpenRoot(t, here)
			res, err := x.Run(t.Context(), root, p.WithOptions(millrace.Options{Force: true}))
			if err == nil {
				done++
				backups = append(backups, res.BackupID)
			}
			if len(backups) > 0 && random.IntN(4) == 0 {
				_, _ = x.Restore(t.Context(), root, backups[random.IntN(len(backups))])
			}
			if after := tree.reached(here); after != before {
				t.Fatalf("%s, %s: %v\nbefore: %s\nafter:  %s", tree.name, suite.JSON(t, p), err, before, after)
			}
			if tree.config && holds(t, filepath.Join(here, "own"), secret) {
				t.Fatalf("%s, %s: a reserved file was copied", tree.name, suite.JSON(t, p))
			}
		}
	}
	fstest.Countf(t, "%d changes beside what is reserved", done)
}
