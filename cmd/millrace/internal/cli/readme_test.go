package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readmeTree is what the session at the beginning of README.md works on.
var readmeTree = map[string]string{
	"src/mail.go":  "package mail\n\n// Get says what we recieve.\nfunc Get() string { return recieve() }\n",
	"docs/mail.md": "# Mail\n\nTo recieve mail, call Get.\n",
}

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
	dir := t.TempDir()
	write(t, dir, readmeTree)
	got := replay(t, t.TempDir(), dir, session)
	diff := cmp.Diff(session, got)
	if diff != "" && *update {
		if err := os.WriteFile(name, []byte(head+opening+got+"```\n"+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff != "" {
		t.Errorf("README.md and what is printed differ (-update writes it):\n%s", diff)
	}
}
