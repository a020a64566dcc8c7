package gocode_test

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/gocode"
	"github.com/millrace-go/millrace/millracetest"
)

// decoder decodes pipelines with the actions of this package.
var decoder = millrace.Decoder{Actions: actions.Builtin().With(gocode.Actions()...)}

// scratch is the directory for copies of trees. It also holds the cache of the go command.
var scratch string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "gocode")
	if err != nil {
		panic(err)
	}
	scratch = dir
	if err := os.Setenv("GOCODE_TEST_SCRATCH", dir); err != nil { // for the internal tests
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir) // in the system's temporary directory
	os.Exit(code)
}

// goCommand returns a host that allows only the command of go_fix and go_rewrite.
func goCommand(t *testing.T) millrace.Executor {
	t.Helper()
	policy := command.Policy{Allow: []string{"go list *"}, Scratch: scratch}
	if policy.Supported() != nil {
		policy.Sandbox = command.Off // the command only reads the tree
	}
	policy, err := command.Toolchains(policy, "", "go")
	if err != nil {
		t.Fatal(err)
	}
	return millrace.Executor{Commands: policy, MaxFiles: -1}
}

// run runs a pipeline of steps, in JSON.
func run(t *testing.T, x millrace.Executor, fsys afero.Fs, steps string) (*millrace.Result, error) {
	t.Helper()
	p, err := decoder.Decode([]byte(`{"name": "test", "force": true, "steps": [` + steps + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return x.Run(t.Context(), fsys, p)
}

// must is like run, for pipelines that do not fail.
func must(t *testing.T, x millrace.Executor, fsys afero.Fs, steps string) *millrace.Result {
	t.Helper()
	res, err := run(t, x, fsys, steps)
	if err != nil {
		t.Fatalf("%v\n%v", err, res)
	}
	return res
}

// wantChanged checks that a tree is the tree old with some other files, and no others.
func wantChanged(t *testing.T, fsys afero.Fs, old, files string) {
	t.Helper()
	want := millracetest.Tree(t, old)
	millracetest.Plant(t, want, files)
	millracetest.Equal(t, fsys, millracetest.Text(t, want))
}

func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v, want %q", err, text)
	}
}
