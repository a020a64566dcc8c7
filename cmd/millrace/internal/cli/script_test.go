package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/millrace-go/millrace/cmd/millrace/internal/cli"
)

func TestMain(m *testing.M) {
	if strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test") {
		detach() // not in the program itself
	}
	testscript.Main(m, map[string]func(){
		"millrace": func() { os.Exit(cli.Main()) }, "progress-line": progressForTests,
		"terminal": terminalForTests, "browse": browseForTests,
	})
}

// The scripts of testdata/script run the program like a user, each in a tree and with its own home.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               newHome,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"status": status},
		Condition:           condition,
	})
}

// newHome makes a home for a script.
func newHome(e *testscript.Env) error {
	home := filepath.Join(e.WorkDir, ".home")
	e.Setenv("HOME", home)
	e.Setenv("USERPROFILE", home)
	e.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	return os.MkdirAll(filepath.Join(home, ".config"), 0o700)
}
