package gocode_test

import (
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/gocode"
)

// decoder decodes pipelines with the actions of this package.
var decoder = millrace.Decoder{Actions: actions.Builtin().With(gocode.Actions()...)}

// inMemory returns a tree in memory.
func inMemory(t *testing.T, files map[string]string) afero.Fs {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for name, text := range files {
		if err := fsys.MkdirAll(path.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := afero.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return fsys
}

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

// want compares the named files of a tree.
func want(t *testing.T, fsys afero.Fs, files map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		got, err := afero.ReadFile(fsys, name)
		if err != nil {
			t.Error(err)
		}
		if string(got) != files[name] {
			t.Errorf("%s is\n%s\nwant\n%s", name, got, files[name])
		}
	}
}

func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v, want %q", err, text)
	}
}
