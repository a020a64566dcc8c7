package gittrees_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fleet/gittrees"
	"github.com/millrace-go/millrace/internal/fstest"
)

func TestMain(m *testing.M) {
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.org",
		"GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@example.org",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	status := fstest.Main(m)
	if made.dir != "" {
		_ = os.RemoveAll(made.dir)
	}
	os.Exit(status)
}

// git runs git in a directory and returns its output.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "init.defaultBranch=main", "-c", "core.hooksPath=" + os.DevNull}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// needGit skips a test where git is missing.
func needGit(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
}

// write writes a file below a directory.
func write(t testing.TB, dir, name, text string) {
	t.Helper()
	full := filepath.Join(dir, name)
	fstest.Must(t, os.MkdirAll(filepath.Dir(full), 0o755))
	fstest.Must(t, os.WriteFile(full, []byte(text), 0o644))
}

// origin makes a bare repository with one commit of one file.
func origin(t testing.TB, dir, name, text string) string {
	t.Helper()
	bare, work := filepath.Join(dir, name+".git"), filepath.Join(dir, name+".work")
	git(t, dir, "init", "--quiet", "--bare", bare)
	git(t, dir, "init", "--quiet", work)
	write(t, work, "a.txt", text)
	write(t, work, "b.txt", "same\n")
	git(t, work, "add", ".")
	git(t, work, "commit", "--quiet", "-m", "first")
	git(t, work, "push", "--quiet", bare, "HEAD:main")
	fstest.Must(t, os.RemoveAll(work))
	return bare
}

// made is a repository with one commit, and its origin, which every test gets a copy of.
var made struct {
	sync.Once
	dir string
}

// tree makes a repository with one commit, in w, and its origin, o.git, beside it.
func tree(t testing.TB) string {
	t.Helper()
	needGit(t)
	made.Do(func() {
		dir, err := os.MkdirTemp("", "gittrees-")
		fstest.Must(t, err)
		git(t, dir, "clone", "--quiet", origin(t, dir, "o", "one\n"), "w")
		git(t, filepath.Join(dir, "w"), "config", "remote.origin.url", "../o.git")
		made.dir = dir
	})
	dir := t.TempDir()
	fstest.Must(t, os.CopyFS(dir, os.DirFS(made.dir)))
	return filepath.Join(dir, "w")
}

// pipeline changes one to two where a file has it, fails where a file has "bad", and leaves all else alone.
func pipeline(t testing.TB) millrace.Pipeline {
	t.Helper()
	p, err := millrace.Decoder{}.Decode([]byte(`{"name": "p", "steps": [
		{"id": "bad", "action": "search", "params": {"pattern": "bad", "include": ["*.txt"]}, "expect": {"max_files": 0}},
		{"id": "s", "action": "pattern_replace", "params": {"file_pattern": "*.txt", "sed_pattern": "s/one/two/g"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// campaign runs the pipeline on targets and returns the outcomes by id.
func campaign(t testing.TB, trees gittrees.Trees, targets ...fleet.Target) map[string]fleet.Outcome {
	t.Helper()
	outcomes := make(map[string]fleet.Outcome)
	f := fleet.Fleet{Scheduler: local(trees)}
	_, err := f.Run(t.Context(), fleet.Campaign{ID: trees.Campaign, Pipeline: pipeline(t)}, fleet.Targets(targets...),
		func(o fleet.Outcome) error { outcomes[o.Target.ID] = o; return nil })
	fstest.Must(t, err)
	return outcomes
}

// key signs what is stored.
var key = []byte(strings.Repeat("k", 32))

func executor() millrace.Executor {
	return millrace.Executor{State: millrace.State{Key: key, NoSync: true}}
}

func local(trees fleet.Trees) fleet.Local {
	return fleet.Local{Parallel: 4, Worker: fleet.Worker{Executor: executor(), Trees: trees, Retries: -1}}
}

// one runs the pipeline on one directory.
func one(t testing.TB, trees gittrees.Trees, dir string) fleet.Outcome {
	t.Helper()
	return campaign(t, trees, fleet.Target{ID: "t", Root: dir})["t"]
}

// commits returns how many commits a branch has beyond main, -1 if the branch is missing.
func commits(t testing.TB, dir, branch string) int {
	t.Helper()
	if exec.Command("git", "-C", dir, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch).Run() != nil {
		return -1
	}
	n := 0
	_, err := fmt.Sscan(git(t, dir, "rev-list", "--count", "refs/heads/"+branch, "--not", "refs/heads/main"), &n)
	fstest.Must(t, err)
	return n
}

// until waits for something.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it was waited too long for: %s", what)
		}
	}
}

// gitCheck asks git for a name of a branch.
func gitCheck(dir, name string) error {
	cmd := exec.Command("git", "check-ref-format", "--branch", name)
	cmd.Dir = dir
	return cmd.Run()
}

// globbed returns the names below a directory that a pattern takes.
func globbed(t testing.TB, dir, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	fstest.Must(t, err)
	return names
}
