package gittrees_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fleet/gittrees"
	"github.com/millrace-go/millrace/internal/fstest"
)

// Undo leaves alone what others have: a commit that was pushed, a commit on top, a file that has changed since.
func TestUndo_refused(t *testing.T) {
	t.Parallel()
	branch := gittrees.Trees{Campaign: "c", Branch: "two"}
	for name, test := range map[string]struct {
		trees gittrees.Trees
		after func(t *testing.T, dir string)
		want  string
	}{
		"pushed":               {branch, func(t *testing.T, dir string) { git(t, dir, "push", "-q", "origin", "two") }, "was pushed"},
		"pushed by address":    {branch, func(t *testing.T, dir string) { git(t, dir, "push", "-q", "../o.git", "two") }, "was pushed"},
		"pushed as another":    {branch, func(t *testing.T, dir string) { git(t, dir, "push", "-q", "../o.git", "two:three") }, "was pushed"},
		"pushed without two":   {gittrees.Trees{Campaign: "c"}, func(t *testing.T, dir string) { git(t, dir, "push", "-q", "../o.git", "main") }, "was pushed"},
		"no remote to ask":     {branch, func(t *testing.T, dir string) { git(t, dir, "config", "remote.origin.url", "/gone") }, "remote repository.; Please make sure"},
		"a commit on top":      {branch, func(t *testing.T, dir string) { git(t, dir, "commit", "-q", "--allow-empty", "-m", "x") }, "not on commit"},
		"another branch":       {branch, func(t *testing.T, dir string) { git(t, dir, "commit", "-q", "--amend", "-m", "x") }, "not on commit"},
		"a file of a user":     {branch, func(t *testing.T, dir string) { write(t, dir, "a.txt", "mine\n") }, "a.txt"},
		"a setting of a thief": {branch, func(t *testing.T, dir string) { git(t, dir, "config", "core.sshCommand", "x") }, "core.sshcommand"},
		"no backup":            {branch, func(t *testing.T, dir string) { fstest.Must(t, os.RemoveAll(filepath.Join(dir, ".millrace"))) }, "backup"},
		"newer, with it": {gittrees.Trees{Campaign: "c"}, func(t *testing.T, dir string) {
			git(t, dir, "push", "-q", "../o.git", "main")
			elsewhere(t, dir)
		}, "fetch it first"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tree(t)
			if o := one(t, test.trees, dir); o.Status != fleet.Success {
				t.Fatalf("%s: %s", o.Status, o.Message)
			}
			test.after(t, dir)
			head := git(t, dir, "rev-parse", "HEAD")
			text, err := os.ReadFile(filepath.Join(dir, "a.txt"))
			fstest.Must(t, err)
			done, err := test.trees.Undo(t.Context(), executor(), fleet.Target{ID: "t", Root: dir})
			if err == nil || done || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, %v, want %q", done, err, test.want)
			}
			now, err := os.ReadFile(filepath.Join(dir, "a.txt"))
			fstest.Must(t, err)
			if git(t, dir, "rev-parse", "HEAD") != head || string(now) != string(text) {
				t.Error("something was taken back")
			}
		})
	}
}

// elsewhere commits and pushes in another clone.
func elsewhere(t *testing.T, dir string) {
	t.Helper()
	other := filepath.Join(dir, "..", "other")
	git(t, filepath.Dir(dir), "clone", "-q", "o.git", "other")
	git(t, other, "commit", "-q", "--allow-empty", "-m", "x")
	git(t, other, "push", "-q")
}

// The remote may have moved on without the commit of the campaign, if this repository knows it.
func TestUndo_besideOthers(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	trees := gittrees.Trees{Campaign: "c"}
	one(t, trees, dir)
	elsewhere(t, dir)
	git(t, dir, "fetch", "-q")
	if done, err := trees.Undo(t.Context(), executor(), fleet.Target{ID: "t", Root: dir}); !done || err != nil {
		t.Errorf("%v, %v", done, err)
	}
}

// A tree that the campaign has not changed, or not come to, has nothing to take back.
func TestUndo_nothing(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	trees := gittrees.Trees{Campaign: "c"}
	for _, text := range []string{"nothing\n", "and nothing\n"} {
		if done, err := trees.Undo(t.Context(), executor(), fleet.Target{ID: "t", Root: dir}); done || err != nil {
			t.Errorf("%v, %v", done, err)
		}
		write(t, dir, "a.txt", text)
		git(t, dir, "commit", "-q", "-a", "-m", "second")
		one(t, trees, dir)
	}
}

// The command after the commit runs until it works, and there is one commit.
func TestThen(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	trees := gittrees.Trees{Campaign: "c", Branch: "two", Then: []string{"/bin/sh", "-c",
		`echo "$MILLRACE_TARGET on $MILLRACE_BRANCH" >> ../then; test -e ../ok || { echo no luck >&2; exit 3; }`}}
	if o := one(t, trees, dir); o.Status != fleet.Failed || !strings.Contains(o.Message, "no luck") {
		t.Errorf("%s: %s", o.Status, o.Message)
	}
	write(t, filepath.Dir(dir), "ok", "")
	for range 2 {
		if o := one(t, trees, dir); o.Status != fleet.Success || !o.Replayed {
			t.Errorf("%s: %s", o.Status, o.Message)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "..", "then"))
	fstest.Must(t, err)
	if string(text) != "t on two\nt on two\n" || commits(t, dir, "two") != 1 {
		t.Errorf("%q, %d commits", text, commits(t, dir, "two"))
	}
}
