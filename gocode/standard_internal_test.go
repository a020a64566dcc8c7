package gocode

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestStandardHasTheAPI: standard.txt has every name in the API files of the Go distribution.
func TestStandardHasTheAPI(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("NOT TESTED: the go command is not installed: ", err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "api", "go1*.txt"))
	if err != nil || len(files) == 0 {
		t.Skip("NOT TESTED: the Go distribution has no API files: ", err)
	}
	// Names of only one platform have the platform in parentheses after the path.
	//
	name := regexp.MustCompile(`(?m)^pkg ([^ ,]+), (?:const|func|type|var) ([A-Z]\w*)`)
	known, names := standard(), 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range name.FindAllStringSubmatch(string(data), -1) {
			if names++; !known[found[1]][found[2]] {
				t.Errorf("%s: standard.txt lacks %s.%s", filepath.Base(file), found[1], found[2])
			}
		}
	}
	if names < 1_000 {
		t.Errorf("the API files have %d names", names)
	}
}
