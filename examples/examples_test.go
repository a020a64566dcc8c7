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

// A tree of more files than a pipeline may change by itself asks for -force, and says so.
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
