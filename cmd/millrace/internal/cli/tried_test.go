package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryFlagIsTried: each command and each flag of docs/cli.md is in a script or a test. A short form counts for the
// long form.
func TestEveryFlagIsTried(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	var tried strings.Builder
	for _, pattern := range []string{"testdata/script/*.txtar", "testdata/week/*.txtar", "*_test.go", "../../*_test.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(names), err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tried.Write(text)
		}
	}
	words := regexp.MustCompile(`[\w-]+`).FindAllString(tried.String(), -1)
	is := make(map[string]bool, len(words))
	for _, w := range words {
		is[w] = true
	}
	flags := regexp.MustCompile("(?m)^\\| `(?:(-\\w), )?(--[\\w-]+)").FindAllStringSubmatch(string(page), -1)
	commands := regexp.MustCompile(`(?m)^### millrace ([\w -]+)$`).FindAllStringSubmatch(string(page), -1)
	if len(flags) < 100 || len(commands) < 25 {
		t.Fatalf("%d flags and %d commands can be read", len(flags), len(commands))
	}
	for _, f := range flags {
		if !is[f[2]] && !is[f[1]] {
			t.Errorf("%s is tried nowhere", f[2])
		}
	}
	for _, c := range commands {
		if !strings.Contains(tried.String(), "millrace "+c[1]) && !strings.Contains(tried.String(), `"`+c[1]+`"`) {
			t.Errorf("millrace %s is tried nowhere", c[1])
		}
	}
}
