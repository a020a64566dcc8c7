package examples_test

import (
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
	cmd := exec.Command("go", append([]string{"run"}, args...)...)
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
