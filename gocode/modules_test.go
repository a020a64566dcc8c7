package gocode_test

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"golang.org/x/tools/imports"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/millracetest"
)

// modules are real modules of other projects, the small modules first. A test uses the first module. With
// MILLRACE_SAMPLES=quick it uses no module, with full as many as it requests, and with a number, which .ci/run torture
// sets, all.
var modules = []string{
	"github.com/google/uuid@v1.6.0", "github.com/spf13/pflag@v1.0.10", "golang.org/x/sync@v0.24.0",
	"github.com/dustin/go-humanize@v1.0.1", "github.com/fatih/structtag@v1.2.0", "github.com/fatih/color@v1.18.0",
	"github.com/davecgh/go-spew@v1.1.1", "github.com/mattn/go-runewidth@v0.0.23", "github.com/fatih/camelcase@v1.0.0",
	"github.com/kr/text@v0.2.0",
	"github.com/rogpeppe/go-internal@v1.16.0", "github.com/spf13/cobra@v1.10.2", "github.com/google/go-cmp@v0.7.0",
	"github.com/bmatcuk/doublestar/v4@v4.10.4", "github.com/spf13/afero@v1.15.0", "golang.org/x/mod@v0.41.0",
	"github.com/creack/pty@v1.1.24",
}

// small is the number of modules with tests that finish within seconds.
const small = 10

// likeGoFix is the number of modules, from the first on, that "go fix" changes to the same result. The analyzers of
// x/tools are newer than the analyzers of the go command, so they find more in the other modules, such as loops that
// slices.Backward can replace.
const likeGoFix = 2

func eachModule(t *testing.T, full, most int, do func(t *testing.T, dir string)) {
	switch samples := os.Getenv("MILLRACE_SAMPLES"); samples {
	case "quick":
		t.Skip("NOT TESTED: MILLRACE_SAMPLES=quick uses no modules of other projects")
	case "", "few":
		most = min(most, 1)
	case "full":
		most = min(most, full)
	}
	for _, module := range modules[:most] {
		t.Run(strings.ReplaceAll(module, "/", "-"), func(t *testing.T) { do(t, download(t, module)) })
	}
}

// download returns a copy of a module, with its requirements in the module cache.
func download(t *testing.T, module string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	cmd.Dir = t.TempDir() // away from other go.mod files
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	var got struct{ Dir, Error string }
	if json.Unmarshal(out, &got) != nil || got.Dir == "" {
		t.Skipf("NOT TESTED: the go command has no %s: %v %s", module, err, got.Error)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(got.Dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		path, _, _ := strings.Cut(module, "@")
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+path+"\n\ngo 1.21\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := goIn(t, dir, "mod", "download"); err != nil {
		t.Skipf("NOT TESTED: the modules that %s requires are missing: %v %s", module, err, text)
	}
	return dir
}

func goIn(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func openRoot(t *testing.T, dir string) afero.Fs {
	t.Helper()
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

// fixed runs go_fix until nothing is left, formats, and returns the tree.
func fixed(t *testing.T, fsys afero.Fs) string {
	t.Helper()
	for range 5 {
		res := must(t, goCommand(t), fsys,
			`{"id": "fix", "action": "go_fix"}, {"id": "imports", "action": "go_imports", "input_from": "fix"}`)
		t.Log(res, res.AllWarnings())
		if data := res.Results[0].Data.(map[string]any); data["fixed"] == int64(0) {
			return millracetest.Text(t, fsys)
		}
	}
	t.Error("there is always something to fix")
	return ""
}

// TestModules: the result of go_fix on real modules is the same in memory and on disk, and the tests of the modules and
// go vet still pass.
func TestModules(t *testing.T) {
	eachModule(t, small, len(modules), func(t *testing.T, dir string) {
		outcome := func() (all []bool) {
			for _, args := range [][]string{{"vet", "./..."}, {"test", "-short", "./..."}} {
				text, err := goIn(t, dir, args...)
				if all = append(all, err == nil); err != nil {
					t.Logf("go %v: %v\n%s", args, err, text)
				}
			}
			return all
		}
		before := outcome()
		inMemory := fixed(t, millracetest.FromDir(t, dir))
		root := openRoot(t, dir)
		fixed(t, root)
		millracetest.Equal(t, root, inMemory)
		for i, ok := range outcome() {
			if before[i] && !ok {
				t.Error("go vet or the tests of the module fail after go_fix")
			}
		}
	})
}

// TestLikeGoFix: the command "go fix" has the same result for real modules.
func TestLikeGoFix(t *testing.T) {
	eachModule(t, likeGoFix, likeGoFix, func(t *testing.T, dir string) {
		got := fixed(t, millracetest.FromDir(t, dir))
		for range 5 {
			if text, err := goIn(t, dir, "fix", "./..."); err != nil {
				t.Skipf("NOT TESTED: go fix fails: %v\n%s", err, text)
			}
		}
		millracetest.Equal(t, openRoot(t, dir), got)
	})
}

// TestLikeGoimports: if the imports of real files are removed, go_imports adds the same imports as goimports.
func TestLikeGoimports(t *testing.T) {
	eachModule(t, 3, len(modules), func(t *testing.T, dir string) {
		same, other := 0, 0
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.Contains(name, "testdata") ||
				strings.HasPrefix(d.Name(), "_") {
				return err
			}
			tree := millracetest.FromDir(t, dir)
			text, err := afero.ReadFile(tree, name)
			if err != nil {
				return err
			}
			stripped, ok := withoutImports(string(text))
			if !ok {
				return nil
			}
			want, err := imports.Process(filepath.Join(dir, filepath.FromSlash(name)), []byte(stripped), nil)
			if err != nil {
				return err
			}
			if err := afero.WriteFile(tree, name, []byte(stripped), 0o644); err != nil {
				return err
			}
			must(t, millrace.Executor{}, tree, `{"id": "imports", "action": "go_imports", "params": {"files": ["`+name+`"]}}`)
			got, err := afero.ReadFile(tree, name)
			if err != nil {
				return err
			}
			if string(got) == string(want) {
				same++
				return nil
			}
			other++
			t.Logf("%s differs:\n%.600s\n--- goimports\n%.600s", name, got, want)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d files are the same, %d differ", same, other)
		if other*20 > same { // two packages of the tree can provide the same name
			t.Error("go_imports and goimports differ")
		}
	})
}

// withoutImports returns a file without its imports, except those without a name.
func withoutImports(text string) (string, bool) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.ImportsOnly)
	if err != nil || len(file.Imports) == 0 {
		return "", false
	}
	for _, spec := range file.Imports {
		if spec.Name != nil || spec.Path.Value == `"C"` {
			return "", false
		}
	}
	first, last := fset.Position(file.Decls[0].Pos()).Offset, fset.Position(file.Decls[len(file.Decls)-1].End()).Offset
	return text[:first] + text[last:], true
}
