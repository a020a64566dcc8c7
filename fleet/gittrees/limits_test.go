package gittrees_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fleet/gittrees"
	"github.com/millrace-go/millrace/internal/fstest"
)

// An undo with wrong settings, without a root, of a missing directory, or of a campaign that was cut off is refused.
func TestUndo_wrong(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		campaign, want string
		root           func(t *testing.T) string
	}{
		"a campaign":   {campaign: "../c", want: "Campaign", root: func(t *testing.T) string { return tree(t) }},
		"no root":      {campaign: "c", want: "no root", root: func(*testing.T) string { return "" }},
		"no directory": {campaign: "c", want: "gone", root: func(t *testing.T) string { return filepath.Join(t.TempDir(), "gone") }},
		"not at its end": {campaign: "c", want: "run fleet retry first", root: func(t *testing.T) string {
			dir := tree(t)
			opened, err := gittrees.Trees{Campaign: "c"}.Open(t.Context(), fleet.Target{ID: "t", Root: dir})
			fstest.Must(t, err)
			write(t, dir, "a.txt", "two\n")
			fstest.Must(t, opened.Close(t.Context(), nil, errors.New("cut off")))
			return dir
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := fleet.Target{ID: "t", Root: test.root(t)}
			done, err := gittrees.Trees{Campaign: test.campaign}.Undo(t.Context(), executor(), target)
			if done || err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, %v, want %q", done, err, test.want)
			}
		})
	}
}

// A change without a backup cannot be taken back.
func TestUndo_noBackup(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	trees := gittrees.Trees{Campaign: "c"}
	closed(t, trees, dir, &millrace.Result{Success: true, FilesChanged: millrace.FilesChanged{Modified: []string{"a.txt"}}})
	done, err := trees.Undo(t.Context(), executor(), fleet.Target{ID: "t", Root: dir})
	if done || err == nil || !strings.Contains(err.Error(), "the change has no backup") {
		t.Errorf("%v, %v", done, err)
	}
}

// closed opens a tree, changes a.txt, and closes the tree with a result.
func closed(t *testing.T, trees gittrees.Trees, dir string, res *millrace.Result) {
	t.Helper()
	opened, err := trees.Open(t.Context(), fleet.Target{ID: "t", Root: dir})
	fstest.Must(t, err)
	write(t, dir, "a.txt", "two\n")
	fstest.Must(t, opened.Close(t.Context(), res, nil))
}

// A tree that has its commit gets no second commit: neither for a result that is not a replay, which is an error, nor
// for a dry run or a failure.
func TestClose_again(t *testing.T) {
	t.Parallel()
	changed := millrace.FilesChanged{Modified: []string{"a.txt"}, Renamed: []millrace.RenamedFile{{From: "x", To: "y"}}}
	trees := gittrees.Trees{Campaign: "c", Branch: "two"}
	for name, test := range map[string]struct {
		res    *millrace.Result
		failed error
		want   string
	}{
		"anew":      {&millrace.Result{Success: true, FilesChanged: changed}, nil, "the tree has lost the result of it"},
		"a dry run": {&millrace.Result{Success: true, DryRun: true, FilesChanged: changed}, nil, ""},
		"a failure": {&millrace.Result{FilesChanged: changed}, errors.New("failed"), ""},
		"a replay":  {&millrace.Result{Success: true, Replayed: true, FilesChanged: changed}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tree(t)
			closed(t, trees, dir, &millrace.Result{Success: true, FilesChanged: changed})
			opened, err := trees.Open(t.Context(), fleet.Target{ID: "t", Root: dir})
			fstest.Must(t, err)
			write(t, dir, "a.txt", "three\n")
			err = opened.Close(t.Context(), test.res, test.failed)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if got := commits(t, dir, "two"); got != 1 {
				t.Errorf("%d commits", got)
			}
		})
	}
}

// A lock of git that stands still is removed, and a lock that changes belongs to a git that works. The wait for it ends
// with its context.
func TestLocksLeft_inUse(t *testing.T) {
	t.Parallel()
	begun := func(t *testing.T) (dir, lock string) {
		dir = tree(t)
		lock = filepath.Join(dir, ".git", "index.lock")
		write(t, dir, ".git/index.lock", "")
		one(t, gittrees.Trees{Campaign: "c"}, dir)
		return dir, lock
	}
	t.Run("canceled", func(t *testing.T) {
		t.Parallel()
		dir, lock := begun(t)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, err := gittrees.Trees{Campaign: "c"}.Open(ctx, fleet.Target{ID: "t", Root: dir})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the error is %v", err)
		}
		if _, err := os.Stat(lock); err != nil {
			t.Error(err)
		}
	})
	t.Run("in use", func(t *testing.T) {
		t.Parallel()
		dir, lock := begun(t)
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { // a git that works
			defer close(over)
			for at := time.Now(); ctx.Err() == nil; at = at.Add(time.Second) {
				_ = os.Chtimes(lock, at, at)
			}
		}()
		opened, err := gittrees.Trees{Campaign: "c"}.Open(t.Context(), fleet.Target{ID: "t", Root: dir})
		cancel()
		<-over
		fstest.Must(t, err)
		fstest.Must(t, opened.Close(t.Context(), nil, errors.New("failed")))
		if _, err := os.Stat(lock); err != nil {
			t.Error("the lock was taken away:", err)
		}
	})
}

// A list of clones may be read in part, and an address without a name of its own gets a name.
func TestClones(t *testing.T) {
	t.Parallel()
	n := 0
	for target, err := range gittrees.Clones("https://example.org/.git", "https://example.org/b") {
		fstest.Must(t, err)
		if !strings.HasPrefix(target.Root, "repository-") {
			t.Errorf("the name is %q", target.Root)
		}
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d targets", n)
	}
}

// A directory of clones that cannot be made, or that a clone cannot be made in, is an error, and leaves nothing.
func TestClone_noPlace(t *testing.T) {
	t.Parallel()
	needGit(t)
	dir := t.TempDir()
	address := origin(t, dir, "o", "one\n")
	for target, err := range gittrees.Clones(address) {
		fstest.Must(t, err)
		write(t, dir, "file", "")
		write(t, dir, "clones/."+target.Root+".lock/x", "")
		for _, place := range []string{"file/clones", "clones"} {
			trees := gittrees.Trees{Campaign: "c", CloneTo: filepath.Join(dir, place)}
			if _, err := trees.Open(t.Context(), target); err == nil {
				t.Errorf("%s: no error", place)
			}
			if _, err := os.Stat(filepath.Join(dir, place, target.Root)); err == nil {
				t.Errorf("%s: a clone was made", place)
			}
		}
	}
}

// A program after the commit that ends by a signal, or without a word, is named by that.
func TestThen_silent(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{"exit 3": "status 3", "kill -TERM $$": "SIGTERM", "echo out; exit 1": "out"} {
		dir := tree(t)
		trees := gittrees.Trees{Campaign: "c", Then: []string{"/bin/sh", "-c", script}}
		if o := one(t, trees, dir); o.Status != fleet.Failed || !strings.Contains(o.Message, want) {
			t.Errorf("%s: %s %s", script, o.Status, o.Message)
		}
	}
}
