package gittrees_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fleet/gittrees"
	"github.com/millrace-go/millrace/internal/fstest"
)

// A campaign that is run again makes no second commit, on whatever branch it was made, and undo takes the commit back
// once.
func TestCommit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prepare func(t *testing.T, dir string)
		trees   gittrees.Trees
		head    string // where the commit is
	}{
		"a new branch":      {trees: gittrees.Trees{Branch: "two"}, head: "two"},
		"the branch there":  {head: "main"},
		"no branch":         {prepare: func(t *testing.T, dir string) { git(t, dir, "checkout", "-q", "--detach") }, head: "HEAD"},
		"from no branch":    {prepare: func(t *testing.T, dir string) { git(t, dir, "checkout", "-q", "--detach") }, trees: gittrees.Trees{Branch: "a/b"}, head: "a/b"},
		"another author":    {trees: gittrees.Trees{Author: "Bob B <bob@example.org>", Message: "two for {{target}}\n\nin {{files}}"}, head: "main"},
		"changes of others": {prepare: func(t *testing.T, dir string) { write(t, dir, "b.txt", "mine\n") }, trees: gittrees.Trees{AllowDirty: true}, head: "main"},
		"names with blanks": {prepare: func(t *testing.T, dir string) { write(t, dir, "-x\n:(top)*.txt", "one\n") }, trees: gittrees.Trees{AllowDirty: true}, head: "main"},
		"hooks that refuse": {prepare: refusingHooks, head: "main"},
		"an ignored file": {prepare: func(t *testing.T, dir string) {
			write(t, dir, ".git/info/exclude", "c.txt\n")
			write(t, dir, "c.txt", "one\n")
		}, head: "main"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tree(t)
			if test.prepare != nil {
				test.prepare(t, dir)
			}
			base, status := git(t, dir, "rev-parse", "HEAD"), git(t, dir, "status", "--porcelain", "--branch")
			test.trees.Campaign = "c"
			for range 2 {
				if o := one(t, test.trees, dir); o.Status != fleet.Success {
					t.Fatalf("%s: %s", o.Status, o.Message)
				}
				if got := git(t, dir, "rev-list", "--count", base+".."+test.head); got != "1" {
					t.Fatalf("%s commits", got)
				}
			}
			about := git(t, dir, "log", "-1", "--format=%an %cn %s %b", test.head)
			want := "Ann Ann millrace: c "
			if test.trees.Author != "" {
				want = "Bob B Bob B two for t in 1"
			}
			if strings.TrimSpace(about) != strings.TrimSpace(want) {
				t.Errorf("the commit is of %q, not %q", about, want)
			}
			for _, done := range []bool{true, false} {
				got, err := test.trees.Undo(t.Context(), executor(), fleet.Target{ID: "t", Root: dir})
				if err != nil || got != done {
					t.Fatalf("undo: %v, %v", got, err)
				}
			}
			if got := git(t, dir, "rev-parse", "HEAD"); got != base {
				t.Errorf("after undo the tree is on %s, not %s", got, base)
			}
			if got := git(t, dir, "status", "--porcelain", "--branch"); got != status {
				t.Errorf("after undo: %q, and before %q", got, status)
			}
		})
	}
}

// refusingHooks plants hooks that end every commit, and leave a file.
func refusingHooks(t *testing.T, dir string) {
	t.Helper()
	for _, hook := range []string{"pre-commit", "commit-msg", "post-commit", "post-checkout", "reference-transaction", "post-index-change"} {
		name := filepath.Join(dir, ".git", "hooks", hook)
		write(t, dir, ".git/hooks/"+hook, "#!/bin/sh\ntouch '"+dir+"/../ran'\nexit 1\n")
		fstest.Must(t, os.Chmod(name, 0o755))
	}
	t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(dir, "..", "ran")); err == nil {
			t.Error("a hook has run")
		}
	})
}

// Wrong targets and settings are refused before anything changes, and are not tried again.
func TestRefused(t *testing.T) {
	t.Parallel()
	setting := func(key, value string) func(*testing.T, string) string {
		return func(t *testing.T, dir string) string {
			git(t, dir, "config", key, value)
			return dir
		}
	}
	for name, test := range map[string]struct {
		prepare func(t *testing.T, dir string) string
		trees   gittrees.Trees
		want    string
	}{
		"changes": {prepare: func(t *testing.T, dir string) string { write(t, dir, "b.txt", "x\n"); return dir }, want: "not committed: b.txt"},
		"many changes": {prepare: func(t *testing.T, dir string) string {
			for _, name := range []string{"c", "d", "e", "f", "g"} {
				write(t, dir, name, "")
			}
			return dir
		}, want: "c, d, e and 2 more"},
		"no repository":     {prepare: func(t *testing.T, dir string) string { return t.TempDir() }, want: "git cannot work"},
		"a part of a tree":  {prepare: func(t *testing.T, dir string) string { write(t, dir, "sub/x", "x"); return filepath.Join(dir, "sub") }, want: "git cannot work"},
		"another work tree": {prepare: setting("core.worktree", "../.."), want: "not the top"},
		"a branch":          {prepare: func(t *testing.T, dir string) string { git(t, dir, "branch", "two"); return dir }, trees: gittrees.Trees{Branch: "two"}, want: "branch two is there"},
		"no root":           {prepare: func(*testing.T, string) string { return "" }, want: "no root"},
		"a filter":          {prepare: setting("filter.x.clean", "touch ran"), want: "filter.x.clean"},
		"a process filter":  {prepare: setting("filter.a.b.Process", "touch ran"), want: "filter.a.b.process"},
		"a signing program": {prepare: setting("gpg.program", "./ran"), want: "gpg.program"},
		"an ssh command":    {prepare: setting("core.sshCommand", "./ran"), want: "core.sshcommand"},
		"a helper":          {prepare: setting("credential.https://example.org.helper", "!ran"), want: "helper"},
		"an upload program": {prepare: setting("remote.origin.uploadpack", "./ran"), want: "uploadpack"},
		"a transport":       {prepare: setting("protocol.ext.allow", "always"), want: "protocol.ext.allow"},
		"an included file": {prepare: func(t *testing.T, dir string) string {
			write(t, dir, ".git/more", "[filter \"x\"]\n\tsmudge = ran\n")
			git(t, dir, "config", "include.path", "more")
			return dir
		}, want: "filter.x.smudge"},
		"a campaign": {trees: gittrees.Trees{Campaign: "../c"}, want: "Campaign"},
		"a depth":    {trees: gittrees.Trees{Depth: -1}, want: "Depth"},
		"a timeout":  {trees: gittrees.Trees{Timeout: -1}, want: "Timeout"},
		"an author":  {trees: gittrees.Trees{Author: "Ann"}, want: "Name <mail>"},
		"a message":  {trees: gittrees.Trees{Message: "a\x00"}, want: "NUL"},
		"no program": {trees: gittrees.Trees{Then: []string{}}, want: "no program"},
		"an option":  {trees: gittrees.Trees{Branch: "--force"}, want: "name of a branch"},
		"a wrong mark": {prepare: func(t *testing.T, dir string) string { write(t, dir, ".git/millrace-fleet-c.json", "{"); return dir },
			want: "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tree(t)
			root := dir
			if test.prepare != nil {
				root = test.prepare(t, dir)
			}
			if test.trees.Campaign == "" {
				test.trees.Campaign = "c"
			}
			_, err := test.trees.Open(t.Context(), fleet.Target{ID: "t", Root: root})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, without %q", err, test.want)
			}
			if _, ok := errors.AsType[*fleet.TargetError](err); !ok && name != "a wrong mark" {
				t.Errorf("it would be tried again: %T", err)
			}
			if got := git(t, dir, "log", "--all", "--format=%s"); got != "first" {
				t.Errorf("the commits are %q", got)
			}
		})
	}
}

// Branches are names that git takes, and nothing that is an option or another kind of name.
func TestBranch(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	for _, name := range []string{
		"a", "a/b", "A-1_2", "ü", "HEAD", "-a", "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[", `a\b`, "a@{b", "a.lock", "a.lock/b", ".a",
		"a/.b", "a/", "/a", "a//b", "a.", "a\n", "a\x7f", "@a", "a.b",
	} {
		want := "" // of git
		if err := gitCheck(dir, name); err == nil {
			want = name
		}
		err := gittrees.Trees{Campaign: "c", Branch: name}.Check()
		if (err == nil) != (want != "") {
			t.Errorf("%q: %v, and git: %q", name, err, want)
		}
	}
}

// A process that was killed while git made the commit leaves locks of git, with the commit or without it. The next
// attempt goes on.
func TestLocksLeft(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]bool{"before the commit": false, "after the commit": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tree(t)
			trees := gittrees.Trees{Campaign: "c", Branch: "two"}
			base := git(t, dir, "rev-parse", "HEAD")
			write(t, dir, ".git/hold", "")
			fstest.Must(t, os.Rename(filepath.Join(dir, ".git", "hold"), filepath.Join(dir, ".git", "index.lock")))
			if o := one(t, trees, dir); o.Status != fleet.Failed || !strings.Contains(o.Message, "git add") {
				t.Fatalf("%s: %s", o.Status, o.Message)
			}
			if made {
				fstest.Must(t, os.Remove(filepath.Join(dir, ".git", "index.lock")))
				git(t, dir, "commit", "-q", "-a", "-m", "made")
				write(t, dir, ".git/refs/heads/two.lock", "")
			}
			if o := one(t, trees, dir); o.Status != fleet.Success {
				t.Fatalf("%s: %s", o.Status, o.Message)
			}
			if got := git(t, dir, "rev-list", "--count", base+"..two"); got != "1" {
				t.Errorf("%s commits", got)
			}
			if done, err := trees.Undo(t.Context(), executor(), fleet.Target{ID: "t", Root: dir}); !done || err != nil {
				t.Errorf("%v, %v", done, err)
			}
		})
	}
}

// A commit that another program has made in the meantime is not taken for the campaign's commit.
func TestForeignCommit(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	trees := gittrees.Trees{Campaign: "c", Branch: "two"}
	write(t, dir, ".git/index.lock", "")
	one(t, trees, dir)
	fstest.Must(t, os.Remove(filepath.Join(dir, ".git", "index.lock")))
	write(t, dir, "other.txt", "x")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "foreign")
	if o := one(t, trees, dir); o.Status != fleet.Failed || !strings.Contains(o.Message, "another commit") {
		t.Errorf("%s: %s", o.Status, o.Message)
	}
	if _, err := trees.Undo(t.Context(), executor(), fleet.Target{ID: "t", Root: dir}); err == nil {
		t.Error("it was undone")
	}
}
