package sandboxed_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
)

// project runs commands on a tree, in the sandbox, and returns their step.
func project(t *testing.T, p command.Policy, files []string, words ...string) (millrace.StepResult, error) {
	t.Helper()
	if err := p.Supported(); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	p.Scratch = t.TempDir()
	_, fsys := suite.Rooted(t, files...)
	x := millrace.Executor{State: millrace.State{NoSync: true}, Commands: p}
	res, err := x.Run(t.Context(), fsys, suite.One(actions.Exec{Command: words[0], Args: words[1:]}))
	if res == nil || len(res.Results) == 0 {
		t.Fatal(err)
	}
	return res.Results[0], err
}

// works checks that a command succeeds, prints a text, and changes some files.
func works(t *testing.T, p command.Policy, files []string, prints string, changes []string, words ...string) {
	t.Helper()
	step, err := project(t, p, files, words...)
	if err != nil || !strings.Contains(step.Output, prints) {
		t.Errorf("%s: %v\n%s\nwant %q", words, err, step.Output, prints)
	}
	if got := strings.Join(step.FilesMatched, " "); got != strings.Join(changes, " ") {
		t.Errorf("%s: changed %q, want %q", words, got, changes)
	}
}

// answer returns the output of a tool outside of any sandbox.
func answer(t *testing.T, words ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it calls compilers")
	}
	out, err := exec.Command(words[0], words[1:]...).Output()
	if err != nil {
		t.Skipf("NOT TESTED: %s: %v", words, err)
	}
	return strings.TrimSpace(string(out))
}

// A module that requires another module is formatted, vetted, built and tested.
func TestGoPolicy(t *testing.T) {
	modules := answer(t, "go", "env", "GOMODCACHE")
	if filepath.Dir(answer(t, "go", "env", "GOROOT")) != "/usr/local" {
		t.Skip("NOT TESTED: the page is about a Go in a directory of the system")
	}
	sums, err := os.ReadFile("../../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	files := []string{
		"go.mod", "module example.com/app\n\ngo 1.21\n\nrequire github.com/google/go-cmp v0.7.0\n", "go.sum", string(sums),
		"sum.go", "package app\n\nfunc  Sum(a, b int) int { return a+b }\n",
		"sum_test.go", "package app\n\nimport (\n\t\"testing\"\n\n\t\"github.com/google/go-cmp/cmp\"\n)\n\nfunc TestSum(t *testing.T) {\n" +
			"\tif d := cmp.Diff(3, Sum(1, 2)); d != \"\" {\n\t\tt.Error(d)\n\t}\n}\n",
	}
	p := goPolicy(answer(t, "go", "env", "GOCACHE"), modules) // the commands here are trusted
	works(t, p, files, "", []string{"sum.go"}, "gofmt", "-w", ".")
	if fstest.Runs(0, 1, 1) == 0 {
		t.Skip("NOT TESTED: compilers. MILLRACE_SAMPLES=full tries them")
	}
	works(t, goPolicy(t.TempDir(), modules), files[:6], "", nil, "go", "build", "./...") // an empty cache is filled
	works(t, p, files, "", nil, "go", "vet", "./...")
	works(t, p, files, "", nil, "go", "build", "./...")
	works(t, p, files, "ok  \texample.com/app", nil, "go", "test", "./...")
	goProject{files, p}.example(t)
}

// example runs the example of the page: it commits a change whose tests pass, and leaves the tree alone if they fail.
func (g goProject) example(t *testing.T) {
	page, err := os.ReadFile("../../../docs/exec.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```json\n")
	text, _, _ = strings.Cut(text, "```")
	p, err := millrace.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"good": "", "bad": "pipeline failed at step 3, rolled back: exec failed: exit status 1: FAIL (step 'test', /steps/2)"} {
		files := slices.Clone(g.files)
		if name == "bad" {
			files = append(files, "bad_test.go", "package app\n\nimport \"testing\"\n\nfunc TestBad(t *testing.T) { t.Fail() }\n")
		}
		dir, fsys := suite.Rooted(t, files...)
		x := millrace.Executor{State: millrace.State{NoSync: true}, Commands: g.policy}
		x.Commands.Scratch = t.TempDir()
		res, err := x.Run(t.Context(), fsys, p)
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Fatalf("%s: %v, want %q", name, err, want)
		}
		data, _ := json.Marshal(res.Results[2].Data.(map[string]any)["sandbox"])
		if !strings.HasPrefix(string(data), `{"files":"landlock `) || !strings.HasSuffix(string(data), `,"network":"seccomp"}`) {
			t.Errorf("%s: the sandbox was %s", name, data)
		}
		sum, err := os.ReadFile(filepath.Join(dir, "sum.go"))
		if want := map[string]string{"good": "package app\n\nfunc Total(a, b int) int { return a + b }\n", "bad": files[5]}[name]; err != nil || string(sum) != want {
			t.Errorf("%s: %s, %v", name, sum, err)
		}
	}
}

// goProject is a Go module and the policy for its commands.
type goProject struct {
	files  []string
	policy command.Policy
}

// The scripts of a package run, with programs of its node_modules.
func TestNodePolicy(t *testing.T) {
	answer(t, "node", "--version")
	files := []string{
		"package.json", `{"name": "app", "version": "1.0.0", "scripts": {"test": "node --test", "fix": "mend sum.js"}}`,
		".gitignore", "node_modules\n", "sum.js", "exports.sum = (a, b) => a + b",
		"sum.test.js", "const test = require('node:test'), assert = require('node:assert'), {sum} = require('./sum')\n" +
			"test('sum', () => assert.equal(sum(1, 2), 3))\n",
		"node_modules/.bin/mend", "#!/usr/bin/env node\nconst fs = require('fs'), f = process.argv[2]\nfs.appendFileSync(f, ';\\n')\n",
	}
	run := func(changes []string, prints string, words ...string) {
		p := nodePolicy(t.TempDir())
		if err := p.Supported(); err != nil {
			t.Skipf("NOT TESTED: %v", err)
		}
		p.Scratch = t.TempDir()
		dir, fsys := suite.Rooted(t, files...)
		if err := os.Chmod(filepath.Join(dir, "node_modules/.bin/mend"), 0o755); err != nil {
			t.Fatal(err)
		}
		x := millrace.Executor{State: millrace.State{NoSync: true}, Commands: p}
		res, err := x.Run(t.Context(), fsys, suite.One(actions.Exec{Command: words[0], Args: words[1:]}))
		if err != nil {
			t.Fatalf("%s: %v\n%+v", words, err, res)
		}
		if step := res.Results[0]; !strings.Contains(step.Output, prints) || strings.Join(step.FilesMatched, " ") != strings.Join(changes, " ") {
			t.Errorf("%s: changed %q\n%s", words, step.FilesMatched, step.Output)
		}
	}
	run(nil, "# pass 1", "npm", "test")
	run(nil, "# pass 1", "node", "--test", "sum.test.js")
	run([]string{"sum.js"}, "", "npm", "run", "fix")
	run([]string{"sum.js"}, "", "npx", "--no", "mend", "sum.js")
}

// The tests of a package run with the programs of a virtual environment.
func TestPythonPolicy(t *testing.T) {
	venv := filepath.Join(t.TempDir(), "venv")
	answer(t, "python3", "-m", "venv", "--without-pip", venv)
	base := answer(t, filepath.Join(venv, "bin", "python"), "-c", "import sys; print(sys.base_prefix)")
	files := []string{
		"app.py", "def total(a, b):\n    return a + b\n",
		"test_app.py", "import unittest\n\nimport app\n\n\nclass Test(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(app.total(1, 2), 3)\n",
	}
	works(t, pythonPolicy(venv, base), files, "OK", nil, "python", "-m", "unittest", "-v")
}

// The page shows exactly the policies of these tests.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/exec.md")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "policies_linux_test.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			source, err := os.ReadFile("policies_linux_test.go")
			if err != nil {
				t.Fatal(err)
			}
			text, err := format.Source(source[fset.Position(f.Pos()).Offset:fset.Position(f.End()).Offset])
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(page, text) {
				t.Errorf("docs/exec.md does not show\n%s", text)
			}
			shown++
		}
	}
	if shown != 3 {
		t.Errorf("%d policies are tested", shown)
	}
}
