package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readmeTree is what the session at the beginning of README.md works on.
var readmeTree = map[string]string{
	"src/mail.go":  "package mail\n\n// Get says what we recieve.\nfunc Get() string { return recieve() }\n",
	"docs/mail.md": "# Mail\n\nTo recieve mail, call Get.\n",
}

// What differs from run to run is written as in the first run.
var (
	commitID = regexp.MustCompile(`\b\d{8}_\d{6}_[0-9a-f]{16}\b`)
	moment   = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
)

// TestReadme runs the session of README.md, and compares what is printed with what stands there. With -update it
// writes that.
func TestReadme(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"sh", "grep"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s to run the session with", program)
		}
	}
	name := filepath.Join("..", "..", "..", "..", "README.md")
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const opening = "```console\n"
	head, rest, _ := strings.Cut(string(page), opening)
	session, tail, found := strings.Cut(rest, "```\n")
	if !found || strings.Count(session, "$ ") < 5 {
		t.Fatal("README.md has no session")
	}
	home, dir := t.TempDir(), t.TempDir()
	write(t, dir, readmeTree)
	var got strings.Builder
	for line := range strings.Lines(session) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			got.WriteString(line + shellAs(t, home, dir, command))
		}
	}
	same := func(s string) string { return moment.ReplaceAllString(commitID.ReplaceAllString(s, "ID"), "TIME") }
	diff := cmp.Diff(same(session), same(got.String()))
	if diff != "" && *update {
		if err := os.WriteFile(name, []byte(head+opening+got.String()+"```\n"+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff != "" {
		t.Errorf("README.md and what is printed differ (-update writes it):\n%s", diff)
	}
}
