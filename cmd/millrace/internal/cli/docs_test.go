package cli_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/cmd/millrace/internal/cli"
)

var update = flag.Bool("update", false, "write docs/cli.md")

// docs/cli.md is generated from the help of the commands.
func TestDocument(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := cli.Document(&b); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("..", "..", "..", "..", "docs", "cli.md")
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(have), b.String()); diff != "" {
		t.Errorf("docs/cli.md is not the help of the commands, run this test with -update (-file +commands):\n%s", diff)
	}
}
