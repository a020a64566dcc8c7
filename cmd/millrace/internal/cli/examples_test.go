package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamples: each example in the help of a one-line pipeline command is valid.
func TestExamples(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{
		".git/HEAD": "", "version.txt": "1", "old.go": "", "main.go": "", "LICENSE": "", "docs/x.md": "", "build/x": "", "words.csv": "old,new\n",
		"fix.diff": "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n",
	})
	seen := 0
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSpace(line)
		command, _, _ := strings.Cut(strings.TrimPrefix(line, "millrace "), " ")
		switch command {
		case "replace", "sed", "mv", "cp", "rm", "patch", "do":
		default:
			continue
		}
		if !strings.HasPrefix(line, "millrace ") {
			continue
		}
		seen++
		line = strings.TrimSuffix(line, " -y") // it cannot be combined with --emit
		line = strings.ReplaceAll(line, " -y ", " ")
		if out := shell(t, dir, line+" --emit json < /dev/null"); !strings.Contains(out, `"steps": [`) {
			t.Errorf("%s: %s", line, out)
		}
	}
	if seen < 20 {
		t.Errorf("there are only %d examples", seen)
	}
}
