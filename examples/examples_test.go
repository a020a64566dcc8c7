package examples_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goRun runs an example as a user would.
func goRun(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"run", "-ldflags=-w"}, args...)...)
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go run %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestExpectedOutput runs every example that has an expected.txt and compares.
func TestExpectedOutput(t *testing.T) {
	expected, err := filepath.Glob("*/expected.txt")
	if err != nil || len(expected) < 2 {
		t.Fatalf("examples with expected output: %v, %v", expected, err)
	}
	for _, file := range expected {
		dir := filepath.Dir(file)
		t.Run(dir, func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), goRun(t, "./examples/"+dir)); d != "" {
				t.Errorf("output (-want +got):\n%s", d)
			}
		})
	}
}

func TestJSONFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.md")
	if err := os.WriteFile(file, []byte("to recieve\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	out := goRun(t, "./examples/jsonfile", "-n", "-dir", dir, "examples/jsonfile/fix-typo.json")
	if !strings.Contains(out, "-to recieve\n+to receive\n") || !strings.HasSuffix(out, "OK: 3/3 steps | 1 files | 1 edits\n") {
		t.Errorf("dry run:\n%s", out)
	}
	if data, _ := os.ReadFile(file); string(data) != "to recieve\n" {
		t.Errorf("the dry run has written: %q", data)
	}
	out = goRun(t, "./examples/jsonfile", "-dir", dir, "examples/jsonfile/fix-typo.json")
	if out != "OK: 3/3 steps | 1 files | 1 edits\n" {
		t.Errorf("run:\n%s", out)
	}
	if data, _ := os.ReadFile(file); string(data) != "to receive\n" {
		t.Errorf("the run has left %q", data)
	}
}

// TestStart runs the program of the tutorial. docs/start.md shows the program without main.
func TestStart(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.md")
	if err := os.WriteFile(file, []byte("to recieve\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	out := goRun(t, "./examples/start", dir)
	if !strings.Contains(out, "-to recieve\n+to receive\n") || !strings.HasSuffix(out, "OK: 2/2 steps | 1 files | 1 edits\n") {
		t.Errorf("run:\n%s", out)
	}
	if data, _ := os.ReadFile(file); string(data) != "to receive\n" {
		t.Errorf("the run has left %q", data)
	}
	program, err := os.ReadFile("start/main.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/start.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(program), "\nfunc replace(")
	if !strings.Contains(string(page), "```go\nfunc replace("+shown+"```\n") {
		t.Errorf("docs/start.md does not have the program of examples/start")
	}
}

func TestQuickstart(t *testing.T) {
	out := goRun(t, "./examples/quickstart")
	for _, want := range []string{
		"diff --git a/", "dry run:       OK: ", "📋 Pipeline: rename-type", "💾 Backup: ", "every byte, mode and link is back\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// If a pipeline changes more files than allowed without force, the program prints a message about -force.
func TestQuickstartForce(t *testing.T) {
	dir := t.TempDir()
	for i := range 101 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", i)), []byte("package a\n\ntype Old int\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "run", "./examples/quickstart", "-dir", dir, "-old", "Old", "-new", "New")
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "nothing was written") || !strings.Contains(string(out), "-force") {
		t.Errorf("without -force: %v\n%s", err, out)
	}
	out := goRun(t, "./examples/quickstart", "-force", "-dir", dir, "-old", "Old", "-new", "New")
	if !strings.HasSuffix(out, "every byte, mode and link is back\n") {
		t.Errorf("with -force:\n%s", out)
	}
}

func TestReport(t *testing.T) {
	out := goRun(t, "./examples/report")
	for _, want := range []string{
		"<!DOCTYPE html>\n", "<h1>From ioutil to os</h1>", "<dd>3</dd>", "<bdi>docs/guide.md</bdi> → <bdi>README.md</bdi>",
		`<mark>ioutil</mark>.ReadFile(path.Join(dir, name))`, "by <code>calls</code>, <code>imports</code>", "</html>\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// Any program that reads a prompt and prints JSON can be the agent. Its cost counts against the budget. Its changes
// are written after the tests pass, but not in a dry run.
func TestFixloopProgram(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("sh is missing, the language of the agent")
	}
	dir, bin := t.TempDir(), t.TempDir()
	const fixed = "package app\n\nfunc One() int { return 1 }\n"
	for name, text := range map[string]string{
		filepath.Join(dir, "go.mod"):      "module example.com/app\n\ngo 1.24\n",
		filepath.Join(dir, "one.go"):      "package app\n\nfunc One() int { return 2 }\n",
		filepath.Join(dir, "one_test.go"): "package app\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fail()\n\t}\n}\n",
		filepath.Join(bin, "agent"): "#!" + sh + `
grep -q 'has failed with this error' || exit 9
cat > one.go <<'END'
` + fixed + `END
echo "{\"result\": \"done, with $ANSWER\", \"total_cost_usd\": 0.25}"
`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("ANSWER", "42")
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"./examples/fixloop", "-cache", strings.TrimSpace(string(cache)), "-dir", dir, "-agent", filepath.Join(bin, "agent"), "-env", "ANSWER", "-budget", "1"}
	out := goRun(t, append(args, "-n")...)
	if !strings.Contains(out, "-func One() int { return 2 }\n+func One() int { return 1 }\n") || strings.Contains(out, "OK:") {
		t.Errorf("dry run:\n%s", out)
	}
	out = goRun(t, args...)
	if !strings.HasSuffix(out, "OK: 3/4 steps | 1 files | 1 edits\n") {
		t.Errorf("run:\n%s", out)
	}
	if data, _ := os.ReadFile(filepath.Join(dir, "one.go")); string(data) != fixed {
		t.Errorf("the run has left %q", data)
	}
}
