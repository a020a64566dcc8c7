//go:build unix

package gittrees_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fleet/gittrees"
	"github.com/millrace-go/millrace/internal/fstest"
)

// asCampaign lets the test binary be a process that works on the campaign of TestKilled.
const asCampaign = "MILLRACE_TEST_GITTREES"

func killedTrees(dir string) gittrees.Trees {
	return gittrees.Trees{
		Campaign: "c", CloneTo: filepath.Join(dir, "clones"), Branch: "two", Message: "{{campaign}}: {{edits}} in {{target}}",
		Then: []string{"/bin/sh", "-c", `echo "$MILLRACE_BRANCH" >> .git/then`},
	}
}

// originsOf are the addresses of the origins of TestKilled.
func originsOf(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "origins", "*.git"))
	fstest.Must(t, err)
	return names
}

// TestBeCampaign is the process that TestKilled kills.
func TestBeCampaign(t *testing.T) {
	dir := os.Getenv(asCampaign)
	if dir == "" {
		t.Skip("this is what TestKilled starts")
	}
	f := fleet.Fleet{Scheduler: local(killedTrees(dir))}
	_, err := f.Run(t.Context(), fleet.Campaign{ID: "c", Pipeline: pipeline(t)}, gittrees.Clones(originsOf(t, dir)...), nil)
	fstest.Must(t, err)
}

// A campaign over clones of bare origins is killed several times, and run again. Each tree that changes has exactly one
// commit on its branch, and no other tree has a branch. Then all is taken back.
func TestKilled(t *testing.T) {
	t.Parallel()
	needGit(t)
	n := fstest.Runs(12, 60, 200)
	dir := t.TempDir()
	fstest.Must(t, os.MkdirAll(filepath.Join(dir, "origins"), 0o755))
	for i := range n {
		text := "one\n"
		switch {
		case i%5 == 4:
			text = "nothing\n"
		case i == 1, i == n/2, i == n-2:
			text = "one bad\n"
		}
		origin(t, filepath.Join(dir, "origins"), fmt.Sprintf("r%03d", i), text)
	}
	kills := fstest.Runs(2, 4, 8)
	for kill := range kills {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestBeCampaign$")
		cmd.Env = append(os.Environ(), asCampaign+"="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		fstest.Must(t, cmd.Start())
		over := make(chan struct{})
		go func() { defer close(over); _ = cmd.Wait() }()
		until(t, "enough commits", func() bool {
			made, err := filepath.Glob(filepath.Join(dir, "clones", "*", ".git", "refs", "heads", "two"))
			fstest.Must(t, err)
			select {
			case <-over:
				t.Fatal("it has ended before it was killed")
			default:
			}
			return len(made) > (kill+1)*n*3/(4*(kills+2))
		})
		fstest.Must(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL))
		<-over
	}
	trees := killedTrees(dir)
	var targets []fleet.Target
	for target, err := range gittrees.Clones(originsOf(t, dir)...) {
		fstest.Must(t, err)
		targets = append(targets, target)
	}
	failed := 0
	for _, o := range campaign(t, trees, targets...) {
		if o.Status == fleet.Failed {
			failed++
			continue
		}
		if o.Status != fleet.Success {
			t.Errorf("%s: %s %s", o.Target.ID, o.Status, o.Message)
		}
	}
	if failed != 3 {
		t.Errorf("%d targets have failed, not 3", failed)
	}
	for i, target := range targets {
		clone := filepath.Join(trees.CloneTo, target.Root)
		want := 1
		if i%5 == 4 || i == 1 || i == n/2 || i == n-2 {
			want = -1
		}
		if got := commits(t, clone, "two"); got != want {
			t.Errorf("%s: %d commits, not %d", target.ID, got, want)
		}
		if status := git(t, clone, "status", "--porcelain"); status != "" {
			t.Errorf("%s is dirty: %s", target.ID, status)
		}
		if _, err := os.Stat(filepath.Join(clone, ".git", "then")); (err == nil) != (want == 1) {
			t.Errorf("%s: the command after the commit: %v", target.ID, err)
		}
	}
	before := git(t, filepath.Join(trees.CloneTo, targets[0].Root), "log", "-1", "--format=%s")
	if want := "c: 1 in " + targets[0].ID; before != want {
		t.Errorf("the message is %q, not %q", before, want)
	}
	for i, target := range targets {
		done, err := trees.Undo(t.Context(), executor(), target)
		changes := i%5 != 4 && i != 1 && i != n/2 && i != n-2
		if err != nil || done != changes {
			t.Errorf("undo of %s: %v, %v", target.ID, done, err)
		}
		clone := filepath.Join(trees.CloneTo, target.Root)
		if got := commits(t, clone, "two"); got != -1 {
			t.Errorf("%s: the branch is there still", target.ID)
		}
		if got := git(t, clone, "status", "--porcelain", "--branch"); !strings.HasPrefix(got, "## main") || strings.Contains(got, "\n") {
			t.Errorf("%s after undo: %s", target.ID, got)
		}
	}
}
