//go:build unix

package gittrees_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fleet/gittrees"
	"github.com/millrace-go/millrace/internal/fstest"
)

// faultyGit is a git that counts its calls in the file count. Call number $at ends as $kind names: "fails" reports
// an error, "killed" ends by a signal, and after "missing" git cannot be started until plant puts it back.
const faultyGit = `#!/bin/sh
PATH='%s'
dir='%s'
read n <"$dir/count"
n=$((n + 1))
echo $n >"$dir/count"
read at kind <"$dir/fault"
case "$kind:$((at - n))" in
fails:0) echo 'fatal: a planted failure' >&2; exit 128 ;;
killed:0) kill -KILL $$ ;;
missing:0) rm "$0" ;;
esac
exec '%s' "$@"
`

// faults puts a git with planted faults first in PATH.
type faults struct {
	t            *testing.T
	dir, program string
	text         string
}

func newFaults(t *testing.T) *faults {
	t.Helper()
	needGit(t)
	real, err := exec.LookPath("git")
	fstest.Must(t, err)
	f := &faults{t: t, dir: t.TempDir()}
	f.program = filepath.Join(f.dir, "bin", "git")
	f.text = fmt.Sprintf(faultyGit, os.Getenv("PATH"), f.dir, real)
	f.plant(0, "none")
	t.Setenv("PATH", filepath.Dir(f.program))
	return f
}

// plant lets a later call of git end in a fault. Call 0 plants nothing.
func (f *faults) plant(call int, kind string) {
	f.t.Helper()
	write(f.t, f.dir, "count", "0\n")
	write(f.t, f.dir, "fault", fmt.Sprintf("%d %s\n", call, kind))
	write(f.t, f.dir, "bin/git", f.text)
	fstest.Must(f.t, os.Chmod(f.program, 0o755))
}

// calls returns how many calls of git came since plant.
func (f *faults) calls() (n int) {
	f.t.Helper()
	text, err := os.ReadFile(filepath.Join(f.dir, "count"))
	fstest.Must(f.t, err)
	_, err = fmt.Sscan(string(text), &n)
	fstest.Must(f.t, err)
	return n
}

// Each call of git fails once, in a campaign and in its undo. The attempt reports it. The next attempt goes on: the
// campaign makes one commit on top of the commit that it began at, and undo brings the tree back.
func TestFaults(t *testing.T) {
	f := newFaults(t)
	for name, trees := range map[string]gittrees.Trees{
		"a new branch":     {Branch: "two", Then: []string{"/bin/sh", "-c", "echo ran >>.git/then"}},
		"the branch there": {},
	} {
		trees.Campaign = "c"
		tried := f.suffer(t, trees, 0, "none", calls{})
		step := fstest.Runs(3, 1, 1)
		for call := 1; call <= max(tried.campaign, tried.undo); call += step {
			for _, kind := range kindsOf(call) {
				t.Run(fmt.Sprintf("%s/%d %s", name, call, kind), func(t *testing.T) {
					f.suffer(t, trees, call, kind, tried)
				})
			}
		}
		fstest.Countf(t, "%s: every %d. of %d calls of git in a campaign, and of %d in its undo", name, step,
			tried.campaign, tried.undo)
	}
}

// calls are how many calls of git there are without a fault.
type calls struct{ campaign, undo int }

// meets reports whether a fault comes within some calls.
func meets(kind string, call, all int) bool {
	if kind == "missing" {
		return call < all
	}
	return kind != "none" && call <= all
}

// kindsOf returns the kinds of faults that a call is tried with: one kind in turn, or all of them.
func kindsOf(call int) []string {
	kinds := []string{"fails", "killed", "missing"}
	if fstest.Tortured() {
		return kinds
	}
	i := (call + call/3) % len(kinds) // also for every third call each kind in turn
	return kinds[i : i+1]
}

// suffer runs a campaign and its undo, each with a fault and then without, and returns the calls of git in the first
// two.
func (f *faults) suffer(t *testing.T, trees gittrees.Trees, call int, kind string, all calls) (now calls) {
	t.Helper()
	f.plant(0, "none")
	dir := tree(t)
	base, status := git(t, dir, "rev-parse", "HEAD"), git(t, dir, "status", "--porcelain", "--branch")

	f.plant(call, kind)
	first := one(t, trees, dir)
	now.campaign = f.calls()
	if meets(kind, call, all.campaign) != (first.Status == fleet.Failed) {
		t.Errorf("with the fault: %s %s", first.Status, first.Message)
	}
	f.plant(0, "none")
	if o := one(t, trees, dir); o.Status != fleet.Success {
		t.Fatalf("after the fault: %s: %s; with it: %s", o.Status, o.Message, first.Message)
	}
	if got := git(t, dir, "log", "--format=%P", "-1"); got != base || git(t, dir, "status", "--porcelain") != "" {
		t.Errorf("the commit is on %q, not on %s", got, base)
	}
	if text, err := os.ReadFile(filepath.Join(dir, ".git", "then")); trees.Then != nil && string(text) != "ran\n" {
		t.Errorf("Then has written %q, %v", text, err)
	}

	target := fleet.Target{ID: "t", Root: dir}
	f.plant(call, kind)
	done, err := trees.Undo(t.Context(), executor(), target)
	now.undo = f.calls()
	if met := meets(kind, call, all.undo); met != (err != nil) || done == met {
		t.Errorf("undo with the fault: %v, %v", done, err)
	}
	f.plant(0, "none")
	if again, err := trees.Undo(t.Context(), executor(), target); err != nil || again == done {
		t.Fatalf("undo after the fault: %v, %v", again, err)
	}
	if got := git(t, dir, "rev-parse", "HEAD"); got != base {
		t.Errorf("after undo the tree is on %s, not on %s", got, base)
	}
	if got := git(t, dir, "status", "--porcelain", "--branch"); got != status {
		t.Errorf("after undo: %q, and before %q", got, status)
	}
	return now
}

// A repository whose HEAD cannot be read is not a repository without a commit.
func TestOpen_brokenHead(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	name := filepath.Join(dir, ".git", "refs", "heads", "main")
	text, err := os.ReadFile(name)
	fstest.Must(t, err)
	object := filepath.Join(dir, ".git", "objects", string(text[:2]), strings.TrimSpace(string(text[2:])))
	if os.Remove(object) != nil {
		fstest.Must(t, os.RemoveAll(filepath.Join(dir, ".git", "objects", "pack")))
	}
	trees := gittrees.Trees{Campaign: "c", Branch: "two", AllowDirty: true}
	if o := one(t, trees, dir); o.Status != fleet.Failed || !strings.Contains(o.Message, "git cannot read commit") {
		t.Errorf("%s: %s", o.Status, o.Message)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(got) != "one\n" {
		t.Errorf("the file is %q, %v", got, err)
	}
}
