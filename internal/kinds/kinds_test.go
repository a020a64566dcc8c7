package kinds_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The command line and the other modules name the kinds as strings. Each kind is in the documentation, and the prompt
// uses no other kind.
func TestKindsAreDocumented(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, m := range regexp.MustCompile(`wording\.Kind = "(\w+)"`).FindAllStringSubmatch(read(t, "kinds.go"), -1) {
		known[m[1]] = true
	}
	if len(known) < 30 {
		t.Fatalf("only %d kinds were found", len(known))
	}
	page := read(t, "../../docs/embedding.md")
	for kind := range known {
		if !strings.Contains(page, "`"+kind+"`") {
			t.Errorf("docs/embedding.md does not list the kind %s", kind)
		}
	}
	phrases := regexp.MustCompile(`(?m)^\t"(\w+)": +\{(\{|$)`)
	used := phrases.FindAllStringSubmatch(read(t, "../../cmd/millrace/internal/cli/words.go"), -1)
	if len(used) < 20 {
		t.Fatalf("only %d phrases of the prompt were found", len(used))
	}
	for _, m := range used {
		if !known[m[1]] {
			t.Errorf("the prompt words the kind %s, which no message has", m[1])
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
