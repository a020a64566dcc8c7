package gittrees_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fleet/gittrees"
	"github.com/millrace-go/millrace/internal/fstest"
)

// Variables of this process that name another repository do not reach git.
func TestEnvironment(t *testing.T) {
	dir, other := tree(t), t.TempDir()
	t.Setenv("GIT_DIR", filepath.Join(other, "elsewhere"))
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other, "index"))
	o := one(t, gittrees.Trees{Campaign: "c", Branch: "two"}, dir)
	for _, name := range []string{"GIT_DIR", "GIT_INDEX_FILE"} {
		fstest.Must(t, os.Unsetenv(name))
	}
	if o.Status != fleet.Success || commits(t, dir, "two") != 1 {
		t.Errorf("%s: %s", o.Status, o.Message)
	}
	if left := globbed(t, other, "*"); len(left) > 0 {
		t.Errorf("git has made %q", left)
	}
}

// A setting of the user that maps an address to another transport does not start the program of that transport.
func TestTransport(t *testing.T) {
	needGit(t)
	dir := t.TempDir()
	write(t, dir, "config", "[url \"planted::x\"]\n\tinsteadOf = file:///srv/x\n")
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(dir, "config"))
	trees := gittrees.Trees{Campaign: "c", CloneTo: filepath.Join(dir, "clones")}
	for target, err := range gittrees.Clones("file:///srv/x") {
		fstest.Must(t, err)
		if _, err := trees.Open(t.Context(), target); err == nil || !strings.Contains(err.Error(), "'planted' not allowed") {
			t.Errorf("the error is %v", err)
		}
	}
}

// A filter in the user's own configuration is trusted.
func TestTrusted_user(t *testing.T) {
	dir := tree(t)
	write(t, filepath.Dir(dir), "config", "[filter \"x\"]\n\tclean = cat\n")
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(filepath.Dir(dir), "config"))
	if o := one(t, gittrees.Trees{Campaign: "c"}, dir); o.Status != fleet.Success {
		t.Errorf("%s: %s", o.Status, o.Message)
	}
}

// A lock file that is a link to a file outside of the git directory is refused, and that file is not made.
func TestOpen_link(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.Symlink(outside, filepath.Join(dir, ".git", "millrace-fleet.lock")); err != nil {
		t.Skip(err)
	}
	if o := one(t, gittrees.Trees{Campaign: "c", Branch: "two"}, dir); o.Status != fleet.Failed {
		t.Errorf("%s: %s", o.Status, o.Message)
	}
	if _, err := os.Lstat(outside); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file outside was made: %v", err)
	}
}

// A tree is open once. The next Open waits for Close.
func TestOpen_once(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	trees, target := gittrees.Trees{Campaign: "c"}, fleet.Target{ID: "t", Root: dir}
	first, err := trees.Open(t.Context(), target)
	fstest.Must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := trees.Open(ctx, target); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the second Open returns %v", err)
	}
	fstest.Must(t, first.Close(t.Context(), nil, nil))
	second, err := trees.Open(t.Context(), target)
	fstest.Must(t, err)
	fstest.Must(t, second.Close(t.Context(), nil, nil))
}

// A file whose name is a pattern of git stands for itself: files that the pattern takes are neither
// staged nor committed.
func TestCommit_pattern(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	write(t, dir, "[b].txt", "one\n")
	write(t, dir, "b.txt", "mine\n")
	if o := one(t, gittrees.Trees{Campaign: "c", AllowDirty: true}, dir); o.Status != fleet.Success {
		t.Fatalf("%s: %s", o.Status, o.Message)
	}
	if got := git(t, dir, "show", "--format=", "--name-only"); got != "[b].txt\na.txt" {
		t.Errorf("the commit has %q", got)
	}
	if got := git(t, dir, "diff", "--cached", "--name-only"); got != "" {
		t.Errorf("staged are %q", got)
	}
}
