package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
)

// ciTree is the initial tree of docs/ci.md.
var ciTree = map[string]string{
	"src/mail.go":  "package mail\n\n// Get returns mails that we recieve.\nfunc Get() {}\n",
	"docs/mail.md": "# Mail\n\nTo recieve mail, call Get.\n",
}

// block is a part of a page between two lines of three backquotes: its language and its text.
var block = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

// TestCI follows docs/ci.md: it writes the files in it, and runs the sessions. With -update it writes the output of the
// commands.
func TestCI(t *testing.T) {
	t.Parallel()
	needMake(t)
	name := filepath.Join("..", "..", "..", "..", "docs", "ci.md")
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	home, dir := t.TempDir(), t.TempDir()
	write(t, dir, ciTree)
	shellAs(t, home, dir, "git init -q -b main")
	seen := make(map[string]int)
	now := block.ReplaceAllStringFunc(string(page), func(text string) string {
		parts := block.FindStringSubmatch(text)
		seen[parts[1]]++
		if parts[1] == "console" {
			return "```console\n" + replay(t, home, dir, parts[2]) + "```"
		}
		writeBlock(t, dir, parts[2])
		return text
	})
	if seen["console"] < 5 || seen["sh"] < 2 || seen["make"] != 1 || seen["yaml"] != 3 || len(seen) != 4 {
		t.Errorf("docs/ci.md has other blocks than the test expects: %v", seen)
	}
	diff := cmp.Diff(string(page), now)
	if diff != "" && *update {
		if err := os.WriteFile(name, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff != "" {
		t.Errorf("docs/ci.md and the output differ (-update writes it):\n%s", diff)
	}
	shellAs(t, home, dir, "make -s fix && git add . && git commit -qm 'Mend the spelling'")
	t.Run("hook", func(t *testing.T) { hook(t, home, dir) })
	t.Run("pre-commit", func(t *testing.T) { preCommit(t, home, dir) })
	t.Run("workflow", func(t *testing.T) { workflow(t, home, dir) })
}

func needMake(t *testing.T) {
	t.Helper()
	for _, program := range []string{"git", "bash", "sed", "mktemp"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s, which runs the page, is not installed", program)
		}
	}
	out, err := exec.Command("make", "--version").Output()
	if err != nil || !strings.HasPrefix(string(out), "GNU Make 4") {
		t.Skipf("make is not GNU make 4, whose errors the page shows: %v", err)
	}
}

// writeBlock writes the file that a block names in a comment in its first two lines.
func writeBlock(t *testing.T, dir, text string) {
	t.Helper()
	name := regexp.MustCompile(`\A(?:#!.*\n)?# (\S+)\n`).FindStringSubmatch(text)
	if name == nil {
		t.Fatalf("no line '# FILE' begins this block:\n%s", text)
	}
	write(t, dir, map[string]string{name[1]: text})
	if strings.HasPrefix(text, "#!") {
		if err := os.Chmod(filepath.Join(dir, name[1]), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// hook commits files that differ from the files in the working tree.
func hook(t *testing.T, home, dir string) {
	for _, row := range []struct {
		staged, working string
		ok              bool
	}{
		{"receive\n", "recieve\n", true},
		{"recieve\n", "receive\n", false},
	} {
		tree := duplicate(t, dir)
		write(t, tree, map[string]string{"docs/new.md": row.staged})
		shellAs(t, home, tree, "git add docs")
		write(t, tree, map[string]string{"docs/new.md": row.working})
		out, err := tryShell(t, home, tree, "git commit -qm new")
		if (err == nil) != row.ok || !row.ok && !strings.Contains(out, "docs/new.md\n") {
			t.Errorf("%q is staged: %v %s", row.staged, err, out)
		}
	}
}

func readYAML(t *testing.T, name string, to any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = yaml.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// preCommit runs the command that the program pre-commit would run.
func preCommit(t *testing.T, home, dir string) {
	var c struct {
		Repos []struct {
			Hooks []struct{ Entry, Language string }
		}
	}
	readYAML(t, filepath.Join(dir, ".pre-commit-config.yaml"), &c)
	hook := c.Repos[0].Hooks[0]
	if out, err := tryShell(t, home, dir, hook.Entry); err != nil || out != "" || hook.Language != "system" {
		t.Errorf("%s: %v %s", hook.Entry, err, out)
	}
	broken := duplicate(t, dir)
	write(t, broken, map[string]string{"docs/new.md": "recieve\n"})
	if out, err := tryShell(t, home, broken, hook.Entry); err == nil || out != "docs/new.md\n" {
		t.Errorf("%s: %v %q", hook.Entry, err, out)
	}
}

// step is a step of a workflow of GitHub.
type step struct{ Name, Uses, If, Run string }

// workflow runs the workflow in a tree that follows the rule, and in a tree that does not.
func workflow(t *testing.T, home, dir string) {
	var w struct {
		On   map[string]any
		Jobs map[string]struct{ Steps []step }
	}
	readYAML(t, filepath.Join(dir, ".github", "workflows", "rules.yml"), &w)
	steps := w.Jobs["rules"].Steps
	if len(w.On) != 2 || len(steps) < 6 {
		t.Fatalf("%+v", w)
	}
	checks := withoutInstall(steps)
	if os.Getenv("MILLRACE_SAMPLES") != "full" {
		steps = checks
		t.Log("NOT TESTED: the step install, which builds the program: MILLRACE_SAMPLES=full runs it")
	}
	for _, row := range []struct {
		name, text, out, diff string
		ok                    bool
	}{
		{name: "the rule holds", text: "receive\n", ok: true},
		{
			name: "the rule is broken", text: "recieve\n",
			out: "::error file=docs/a name.md::run make fix\n", diff: "+receive\n",
		},
		{name: "a rule is wrong", text: "recieve\n", out: "rules/wrong.yaml:1:1: "},
	} {
		t.Run(row.name, func(t *testing.T) {
			tree, temp := duplicate(t, dir), t.TempDir()
			write(t, tree, map[string]string{"docs/a name.md": row.text})
			if strings.HasPrefix(row.out, "rules/wrong.yaml") {
				write(t, tree, map[string]string{"rules/wrong.yaml": "name: wrong\n"})
			}
			out, err := job(t, home, tree, temp, steps)
			steps = checks // one installation is enough
			if (err == nil) != row.ok || !strings.Contains(out, row.out) || row.ok && out != "" {
				t.Errorf("%v: %q, want %q", err, out, row.out)
			}
			diff, _ := os.ReadFile(filepath.Join(temp, "fix.diff"))
			if row.diff != "" && !strings.HasSuffix(string(diff), row.diff) || row.ok && diff != nil {
				t.Errorf("the artifact is %q", diff)
			}
		})
	}
}

func withoutInstall(steps []step) (rest []step) {
	for _, s := range steps {
		if s.Name != "install" {
			rest = append(rest, s)
		}
	}
	return rest
}

// job runs the steps of a job as GitHub does: after a failure only steps with "if: failure()" run. The repository of
// millrace is this checkout.
func job(t *testing.T, home, dir, temp string, steps []step) (string, error) {
	t.Helper()
	top, err := filepath.Abs(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	env := strings.Join([]string{
		"export RUNNER_TEMP='" + temp + "' GOBIN='" + temp + "/bin' PATH='" + temp + "/bin':\"$PATH\"",
		"export GOCACHE='" + goEnv(t, "GOCACHE") + "' GOMODCACHE='" + goEnv(t, "GOMODCACHE") + "'",
		"export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0='url.file://" + top + ".insteadOf'",
		"export GIT_CONFIG_VALUE_0=https://github.com/millrace-go/millrace",
	}, "\n")
	var all strings.Builder
	var failed error
	for _, s := range steps {
		if s.Run == "" || (failed != nil) != (s.If == "failure()") {
			continue
		}
		write(t, temp, map[string]string{"step.sh": s.Run})
		out, err := tryShell(t, home, dir, env+"\nexec bash -e '"+temp+"/step.sh'")
		all.WriteString(out)
		if err != nil && failed == nil {
			failed = err
		}
	}
	return all.String(), failed
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
