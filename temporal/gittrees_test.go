package millracetemporal

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fleet/gittrees"
	"github.com/millrace-go/millrace/millracetest"
)

// gitIn runs git in a directory, without user settings, and returns its output.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=Ann", "-c", "user.email=ann@example.org"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// bare makes a bare repository with a single commit of a.txt, and returns its address.
func bare(t *testing.T, dir, name, text string) string {
	t.Helper()
	address, work := filepath.Join(dir, name+".git"), filepath.Join(dir, name)
	gitIn(t, dir, "init", "--quiet", "--bare", "--initial-branch=main", address)
	gitIn(t, dir, "init", "--quiet", "--initial-branch=main", work)
	millracetest.Plant(t, afero.NewBasePathFs(afero.NewOsFs(), work), "-- a.txt --\n"+text)
	gitIn(t, work, "add", ".")
	gitIn(t, work, "commit", "--quiet", "-m", "first")
	gitIn(t, work, "push", "--quiet", address, "HEAD:main")
	return address
}

// A campaign over clones of bare origins. The server retries two targets: the origin of the first is not available at
// first, the worker of the second is lost after its commit. Each changed tree has exactly one commit on its branch and
// at its origin. A failed tree has no commit.
func TestGitTrees(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	var addresses []string
	for _, o := range []struct{ name, text string }{
		{"plain", "x\n"}, {"lost", "x\n"}, {"away", "x\n"}, {"fails", "x bad\n"},
	} {
		addresses = append(addresses, bare(t, dir, o.name, o.text))
	}
	away := filepath.Join(dir, "away.git")
	if err := os.Rename(away, away+".hidden"); err != nil {
		t.Fatal(err)
	}
	var targets []fleet.Target
	for target, err := range gittrees.Clones(addresses...) {
		if err != nil {
			t.Fatal(err)
		}
		targets = append(targets, target)
	}
	trees := gittrees.Trees{
		Campaign: "c", CloneTo: filepath.Join(dir, "clones"), Branch: "edit", Author: "Bob <bob@example.org>",
		Message: "{{campaign}}: {{files}} in {{branch}}", Then: []string{"git", "push", "--quiet", "origin", "HEAD"},
	}
	blobs := DirBlobs{FS: afero.NewMemMapFs(), Dir: "blobs"}
	x := millrace.Executor{State: millrace.State{Key: []byte(strings.Repeat("k", 32)), NoSync: true}}
	w := Worker{Fleet: fleet.Worker{Executor: x, Trees: trees, Retries: -1}, Blobs: blobs}

	var mu sync.Mutex
	calls := make(map[int]int) // calls of the activity, by target
	do := func(ctx context.Context, in targetInput) (report, error) {
		r, err := activities{w}.runTarget(ctx, in)
		mu.Lock()
		defer mu.Unlock()
		calls[in.Index]++
		switch {
		case in.Index == 1 && calls[1] == 1 && err == nil:
			return report{}, errors.New("the worker is lost before the server receives its result")
		case in.Index == 2 && calls[2] == 1:
			return r, errors.Join(err, os.Rename(away+".hidden", away))
		}
		return r, err
	}
	c := Client{Blobs: blobs}
	s := begun(t, c, targets, nil)
	var err error
	if s.Pipeline, err = blobs.Put(t.Context(), []byte(`{"name": "edit", "steps": [
		{"id": "e", "action": "pattern_replace", "params": {"file_pattern": "*.txt", "sed_pattern": "s/x/y/"}},
		{"id": "bad", "action": "search", "params": {"pattern": "bad", "include": ["*.txt"]}, "expect": {"max_files": 0}}
	]}`)); err != nil {
		t.Fatal(err)
	}
	p, _, err := finish(t, w, s, func(env *testsuite.TestWorkflowEnvironment, _ int) {
		env.RegisterActivityWithOptions(do,
			activity.RegisterOptions{Name: runTargetActivity, DisableAlreadyRegisteredCheck: true})
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range all(t, c, p) {
		clone, want, called := filepath.Join(trees.CloneTo, targets[i].Root), fleet.Success, 1
		switch i {
		case 1, 2:
			called = 2
		case 3:
			want = fleet.Failed
		}
		if o.Status != want || calls[i] != called {
			t.Errorf("%s: %s after %d calls: %s", targets[i].ID, o.Status, calls[i], o.Message)
		}
		commits, branches := "1", "edit\nmain"
		if want == fleet.Failed {
			commits, branches = "0", "main"
		}
		for _, where := range []string{clone, addresses[i]} {
			if got := gitIn(t, where, "rev-list", "--count", "--branches", "--not", "main"); got != commits {
				t.Errorf("%s: %s commits, not %s", where, got, commits)
			}
			if got := gitIn(t, where, "for-each-ref", "--format=%(refname:short)", "refs/heads"); got != branches {
				t.Errorf("%s: the branches are %q", where, got)
			}
		}
		if got := gitIn(t, clone, "status", "--porcelain"); got != "" {
			t.Errorf("%s is dirty: %s", clone, got)
		}
		if want == fleet.Failed {
			continue
		}
		if got := gitIn(t, addresses[i], "log", "-1", "--format=%an %s", "edit"); got != "Bob c: 1 in edit" {
			t.Errorf("%s: the commit is %q", addresses[i], got)
		}
	}
	if p.Sum.Success != 3 || p.Sum.Failed != 1 {
		t.Errorf("%+v", p.Sum)
	}
}
