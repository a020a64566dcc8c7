package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// weekModule is the module that the scripts of testdata/week change: code in two packages, documentation, YAML.
const weekModule = "github.com/spf13/cobra@v1.10.2"

// TestWeek runs the tasks of a developer's week, testdata/week, each on a repository with the files of a real module.
func TestWeek(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"git", "make", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("NOT TESTED: %s is not installed", program)
		}
	}
	module := download(t, weekModule)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "week"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			if err := newHome(e); err != nil {
				return err
			}
			return repository(e, module)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status},
	})
}

// TestWeekNeedsNoForce: no task needs --force, and only the script about terminals has a terminal.
func TestWeekNeedsNoForce(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join("testdata", "week", "*.txtar"))
	if err != nil || len(names) < 16 {
		t.Fatalf("%d scripts, %v", len(names), err)
	}
	flags := regexp.MustCompile(`(?m)^[^#\n]*(--force|force:|status \d+ terminal|--review| -p\b)`)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(name) == "terminal.txtar" {
			text = regexp.MustCompile(`(status \d+) terminal`).ReplaceAll(text, []byte("$1"))
		}
		if found := flags.FindSubmatch(text); found != nil {
			t.Errorf("%s has %s", name, found[1])
		}
	}
}

// download returns the directory of a module in the module cache, where the go command stores it.
func download(t *testing.T, module string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	cmd.Dir = t.TempDir() // no other go.mod is used
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	var got struct{ Dir, Error string }
	if json.Unmarshal(out, &got) != nil || got.Dir == "" {
		t.Skipf("NOT TESTED: the go command has no %s: %v %s", module, err, got.Error)
	}
	return got.Dir
}

// repository makes a repository in the directory repo, with the files of the module and of the script.
func repository(e *testscript.Env, module string) error {
	repo := filepath.Join(e.WorkDir, "repo")
	if err := os.MkdirAll(repo, 0o755); err != nil {
		return err
	}
	own, err := os.MkdirTemp(e.WorkDir, ".own")
	if err != nil {
		return err
	}
	if err := os.CopyFS(own, os.DirFS(repo)); err != nil { // CopyFS replaces no file, so the files of the script win
		return err
	}
	if err := os.RemoveAll(repo); err != nil {
		return err
	}
	for _, words := range [][]string{
		{"cp", "-R", module, repo}, {"chmod", "-R", "u+w", repo}, {"cp", "-R", own + "/.", repo}, {"rm", "-r", own},
		{"git", "-C", repo, "init", "-q", "-b", "main"}, {"git", "-C", repo, "config", "user.name", "a"},
		{"git", "-C", repo, "config", "user.email", "a@example.org"},
		{"git", "-C", repo, "add", "."}, {"git", "-C", repo, "commit", "-qm", "start"},
	} {
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			return &os.PathError{Op: string(out), Path: words[0], Err: err}
		}
	}
	e.Cd = repo
	return nil
}
