package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const opening, closing = "```console\n", "```\n"

// readmeTree is the tree for the session at the beginning of README.md.
var readmeTree = map[string]string{
	"src/mail.go":  "package mail\n\n// Get returns what we recieve.\nfunc Get() string { return recieve() }\n",
	"docs/mail.md": "# Mail\n\nTo recieve mail, call Get.\n",
}

// TestSessions runs the sessions of README.md and of the tutorial, each page in its own tree, and compares the output
// with the page. With -update it updates the page.
func TestSessions(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"sh", "grep", "gofmt"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s, which runs the sessions, is not installed", program)
		}
	}
	for page, tree := range map[string]map[string]string{"README.md": readmeTree, "docs/start.md": nil} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			replayPage(t, filepath.Join("..", "..", "..", "..", page), tree)
		})
	}
}

func replayPage(t *testing.T, name string, tree map[string]string) {
	t.Helper()
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	home, dir, commands := t.TempDir(), t.TempDir(), 0
	write(t, dir, tree)
	blocks := strings.Split(string(page), opening)
	for i, block := range blocks[1:] {
		session, tail, found := strings.Cut(block, closing)
		if !found {
			t.Fatalf("a session of %s has no end", name)
		}
		commands += strings.Count(session, "$ ")
		blocks[i+1] = replay(t, home, dir, session) + closing + tail
	}
	if commands < 5 {
		t.Fatalf("%s has %d commands", name, commands)
	}
	got := strings.Join(blocks, opening)
	if diff := cmp.Diff(string(page), got); diff != "" && *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff != "" {
		t.Errorf("%s and the output differ (-update writes it):\n%s", name, diff)
	}
}
