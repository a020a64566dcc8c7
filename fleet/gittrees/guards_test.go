package gittrees_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fleet/gittrees"
	"github.com/millrace-go/millrace/internal/fstest"
)

// edited opens a tree of git for a run with the branch two, and changes a.txt as the run does.
func edited(t *testing.T) (dir string, opened fleet.Tree) {
	t.Helper()
	dir = tree(t)
	opened, err := gittrees.Trees{Campaign: "c", Branch: "two"}.Open(t.Context(), fleet.Target{ID: "t", Root: dir})
	fstest.Must(t, err)
	write(t, dir, "a.txt", "two\n")
	return dir, opened
}

// Between the opening of a tree and its commit another program, or the run itself, prepares something. Close refuses,
// and makes no commit.
func TestClose_refused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		between func(t *testing.T, dir string)
		want    string
	}{
		"a filter": {func(t *testing.T, dir string) {
			git(t, dir, "config", "filter.x.clean", "touch ran")
		}, "filter.x.clean"},
		"a branch of another commit": {func(t *testing.T, dir string) {
			git(t, dir, "branch", "two", git(t, dir, "commit-tree", "-m", "first", "HEAD^{tree}"))
		}, "branch two is there by now"},
		"a lock of the branch": {func(t *testing.T, dir string) {
			write(t, dir, ".git/refs/heads/two.lock", "")
		}, "git update-ref"},
		"a lock of HEAD": {func(t *testing.T, dir string) {
			write(t, dir, ".git/HEAD.lock", "")
		}, "git symbolic-ref"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, opened := edited(t)
			base := git(t, dir, "rev-parse", "HEAD")
			test.between(t, dir)
			res := &millrace.Result{Success: true, FilesChanged: millrace.FilesChanged{Modified: []string{"a.txt"}}}
			if err := opened.Close(t.Context(), res, nil); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, without %q", err, test.want)
			}
			if got := git(t, dir, "rev-parse", "HEAD"); got != base {
				t.Errorf("the tree is on %s, not %s", got, base)
			}
			if got := git(t, dir, "log", "--all", "--format=%s"); strings.Contains(got, "millrace") {
				t.Errorf("the commits are %q", got)
			}
		})
	}
}

// A run that has changed only ignored files makes neither a commit nor a branch, and leaves no mark.
func TestClose_ignored(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	write(t, dir, ".git/info/exclude", "c.txt\n")
	opened, err := gittrees.Trees{Campaign: "c", Branch: "two"}.Open(t.Context(), fleet.Target{ID: "t", Root: dir})
	fstest.Must(t, err)
	write(t, dir, "c.txt", "two\n")
	res := &millrace.Result{Success: true, FilesChanged: millrace.FilesChanged{Created: []string{"c.txt"}}}
	fstest.Must(t, opened.Close(t.Context(), res, nil))
	if got := commits(t, dir, "two"); got != -1 {
		t.Errorf("the branch has %d commits", got)
	}
	if got := globbed(t, filepath.Join(dir, ".git"), "millrace-fleet-*.json"); len(got) > 0 {
		t.Errorf("the marks are %q", got)
	}
}

// A repository without a commit gets its first commit, and undo brings the repository back to none.
func TestFirstCommit(t *testing.T) {
	t.Parallel()
	needGit(t)
	for _, branch := range []string{"", "two"} {
		t.Run("branch "+branch, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			git(t, dir, "init", "--quiet")
			write(t, dir, "a.txt", "one\n")
			before := git(t, dir, "status", "--porcelain", "--branch")
			trees := gittrees.Trees{Campaign: "c", Branch: branch, AllowDirty: true}
			for range 2 {
				if o := one(t, trees, dir); o.Status != fleet.Success {
					t.Fatalf("%s: %s", o.Status, o.Message)
				}
				if got := git(t, dir, "rev-list", "--count", "--all"); got != "1" {
					t.Fatalf("%s commits", got)
				}
			}
			done, err := trees.Undo(t.Context(), executor(), fleet.Target{ID: "t", Root: dir})
			if !done || err != nil {
				t.Fatalf("undo: %v, %v", done, err)
			}
			if got := git(t, dir, "rev-list", "--count", "--all"); got != "0" {
				t.Errorf("after undo: %s commits", got)
			}
			if got := git(t, dir, "status", "--porcelain", "--branch"); got != before {
				t.Errorf("after undo: %q, and before %q", got, before)
			}
		})
	}
}

// A mark that is not a file is refused, and what a link of this name leads to is not read.
func TestMark_planted(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(t *testing.T, mark string){
		"a directory": func(t *testing.T, mark string) { fstest.Must(t, os.Mkdir(mark, 0o755)) },
		"a link outside": func(t *testing.T, mark string) {
			outside := t.TempDir()
			write(t, outside, "m.json", `{"state": "done"}`)
			if err := os.Symlink(filepath.Join(outside, "m.json"), mark); err != nil {
				t.Skip(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tree(t)
			plant(t, filepath.Join(dir, ".git", "millrace-fleet-c.json"))
			if o := one(t, gittrees.Trees{Campaign: "c"}, dir); o.Status != fleet.Failed {
				t.Errorf("%s: %s", o.Status, o.Message)
			}
			if got := git(t, dir, "log", "--all", "--format=%s"); got != "first" {
				t.Errorf("the commits are %q", got)
			}
		})
	}
}

// A clone that a killed process has begun is made again.
func TestClone_begun(t *testing.T) {
	t.Parallel()
	needGit(t)
	dir := t.TempDir()
	trees := gittrees.Trees{Campaign: "c", CloneTo: filepath.Join(dir, "clones"), Branch: "two"}
	for target, err := range gittrees.Clones(origin(t, dir, "r", "one\n")) {
		fstest.Must(t, err)
		write(t, trees.CloneTo, "."+target.Root+".part/half", "")
		if o := campaign(t, trees, target)[target.ID]; o.Status != fleet.Success {
			t.Fatalf("%s: %s", o.Status, o.Message)
		}
		if got := commits(t, filepath.Join(trees.CloneTo, target.Root), "two"); got != 1 {
			t.Errorf("%d commits", got)
		}
	}
}
