package commands_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// goModule returns the files of a small module.
func goModule(more ...string) []string {
	return append([]string{
		"go.mod", "module example.com/app\n\ngo 1.24\n",
		"sum.go", "package app\n\n// Sum adds.\nfunc Sum(a, b int) int { return a + b }\n",
		"sum_test.go", "package app\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(1, 2) != 3 {\n\t\tt.Error(\"wrong\")\n\t}\n}\n",
	}, more...)
}

// A formatter repairs the layout after an edit.
func TestGofmt(t *testing.T) {
	t.Parallel()
	x := host(t)
	installed(t, &x, "gofmt")
	_, fsys := suite.Rooted(t, goModule()...)
	p := millrace.New("p").
		Step("edit", actions.Edit{Files: []string{"sum.go"}, OldText: "return a + b", NewText: "  return a+b\n"}).
		Step("fmt", actions.Exec{Command: "gofmt", Args: []string{"-w", "{{edit.files}}"}}).
		Step("clean", actions.Exec{Command: "gofmt", Args: []string{"-l", "."}, Discard: true}).
		MustBuild()
	res := run(t, x, fsys, p)
	wantText(t, fsys, "sum.go", "package app\n\n// Sum adds.\nfunc Sum(a, b int) int {\n\treturn a + b\n}\n")
	if res.Results[2].Output != "" || len(res.FilesAffected) != 1 {
		t.Errorf("%+v", res)
	}
	res = run(t, x, fsys, suite.One(actions.Exec{Command: "gofmt", Args: []string{"-w", "."}}))
	if len(res.Results[0].FilesMatched) != 0 || len(res.FilesChanged.Modified) != 0 {
		t.Errorf("files that it has only read: %+v", res)
	}
}

// go vet and go test see a change that compiles only as a whole.
func TestGoVetAndTest(t *testing.T) {
	t.Parallel()
	x := goHost(t)
	_, fsys := suite.Rooted(t, goModule()...)
	renamed := millrace.New("p").
		Step("half", actions.Edit{Files: []string{"sum.go"}, OldText: "Sum(", NewText: "Total("}).
		Step("broken", actions.Exec{Command: "go", Args: []string{"vet", "./..."}, OKCodes: []int{1}, Discard: true}).
		Step("rest", actions.Edit{Files: []string{"sum_test.go"}, OldText: "Sum(1", NewText: "Total(1"}).
		Step("vet", actions.Exec{Command: "go", Args: []string{"vet", "./..."}, Discard: true}).
		Step("test", actions.Exec{Command: "go", Args: []string{"test", "-json", "./..."}, Discard: true}).
		MustBuild()
	res := run(t, x, fsys, renamed)
	if !strings.Contains(res.Results[1].Output, "undefined: Sum") || !strings.Contains(res.Results[4].Output, `"Action":"pass"`) {
		t.Errorf("%s\n%s", res.Results[1].Output, res.Results[4].Output)
	}
	if !strings.Contains(text(t, fsys, "sum.go"), "Total(a, b int)") {
		t.Error("nothing was committed")
	}
}

// The loop without a model: vet, else fix, then test, and back while the test fails.
func TestMendingLoop(t *testing.T) {
	t.Parallel()
	x := goHost(t)
	_, fsys := suite.Rooted(t, goModule("bug.go", "package app\n\nvar Steps = []int{BUG, BUG, BUG}\n", "bug_test.go",
		"package app\n\nimport \"testing\"\n\nfunc TestSteps(t *testing.T) {\n\tfor _, s := range Steps {\n\t\tif s != 1 {\n\t\t\tt.Fatal(\"a step is\", s)\n\t\t}\n\t}\n}\n")...)
	p := millrace.New("loop").
		Step("vet", actions.Exec{Command: "go", Args: []string{"vet", "./..."}, Discard: true}).OnFail("fix").
		Step("fix", actions.RegexTransform{Files: []string{"bug.go"}, Patterns: []actions.PatternEdit{{Pattern: `^(var .*?)(?:BUG|2)`, Replacement: "${1}1", Flags: "m"}, {Pattern: "BUG", Replacement: "2"}}}).
		Step("test", actions.Exec{Command: "go", Args: []string{"test", "./..."}, Discard: true}).RetryIf("fix", "a step is").
		MustBuild()
	res := run(t, x, fsys, p)
	wantText(t, fsys, "bug.go", "package app\n\nvar Steps = []int{1, 1, 1}\n")
	if got := res.Results[1].Visits; got != 3 || !res.Results[0].Handled {
		t.Errorf("fix was visited %d times: %+v", got, res)
	}
}

// Version control is hidden: changes of a command to it are lost, and the command finds no repository in parent
// directories.
func TestGit(t *testing.T) {
	t.Parallel()
	tool(t, "git")
	x := host(t)
	dir, fsys := suite.Rooted(t, "a.txt", "one\n")
	if out, err := exec.Command("git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	res := run(t, x, fsys, suite.One(actions.Exec{Command: "git", Args: []string{"rev-parse", "--git-dir"}, OKCodes: []int{128}}))
	if !strings.Contains(res.Results[0].Output, "not a git repository") {
		t.Errorf("%q", res.Results[0].Output)
	}
	res = run(t, x, fsys, suite.One(script("git init -q . && git -c user.name=n -c user.email=e add a.txt && echo two > a.txt && git diff --stat | cat")))
	if len(res.FilesChanged.Created) != 0 || len(res.FilesChanged.Modified) != 1 {
		t.Errorf("%+v", res.FilesChanged)
	}
}

// sed -i replaces the file by another file of the same name, which does not count as a new file.
func TestSedInPlace(t *testing.T) {
	t.Parallel()
	tool(t, "sed")
	x := host(t)
	_, fsys := suite.Rooted(t, "a.txt", "one\n", "b.txt", "other\n", "c.txt", "one\n")
	p := millrace.New("p").
		Step("find", actions.Search{Pattern: "one"}).
		Step("sed", actions.Exec{Shell: "xargs sed -i.bak s/one/two/ && rm *.bak", Stdin: []string{"{{find.files}}"}}).
		MustBuild()
	res := run(t, x, fsys, p)
	if got := res.FilesChanged; !slices.Equal(got.Modified, []string{"a.txt", "c.txt"}) || len(got.Created)+len(got.Deleted)+len(got.Renamed) != 0 {
		t.Errorf("%+v", got)
	}
	if res.TotalEdits != 2 {
		t.Errorf("%d edits", res.TotalEdits)
	}
}

// Times are kept, so that make does not build up-to-date targets again.
func TestMake(t *testing.T) {
	t.Parallel()
	tool(t, "make")
	x := host(t)
	dir, fsys := suite.Rooted(t, "in", "1\n", "out", "1\n", "Makefile", "out: in\n\tcp in out\n\t@echo built\n")
	long := time.Now().Add(-time.Hour)
	for name, at := range map[string]time.Time{"in": long, "out": long.Add(time.Minute)} {
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	build := suite.One(actions.Exec{Command: "make"})
	if res := run(t, x, fsys, build); strings.Contains(res.Results[0].Output, "built") {
		t.Errorf("it was built: %q", res.Results[0].Output)
	}
	p := millrace.New("p").Step("edit", actions.Edit{Files: []string{"in"}, OldText: "1", NewText: "2"}).
		Step("make", actions.Exec{Command: "make"}).
		Step("again", actions.Exec{Command: "make"}).MustBuild()
	res := run(t, x, fsys, p)
	if !strings.Contains(res.Results[1].Output, "built") || strings.Contains(res.Results[2].Output, "built") {
		t.Errorf("%q, %q", res.Results[1].Output, res.Results[2].Output)
	}
	wantText(t, fsys, "out", "2\n")
}

// A Node.js program works on the tree, too.
func TestNode(t *testing.T) {
	t.Parallel()
	x := host(t)
	installed(t, &x, "node")
	_, fsys := suite.Rooted(t, "data.json", `{"b":1,"a":[1,2]}`)
	const format = `const fs = require("fs"); const f = "data.json";
		fs.writeFileSync(f, JSON.stringify(JSON.parse(fs.readFileSync(f)), null, 2) + "\n"); console.log(JSON.stringify({done: [f]}))`
	p := millrace.New("p").
		Step("format", actions.Exec{Command: "node", Args: []string{"-e", format}, Format: "json"}).
		Step("told", actions.Create{Path: "told", Content: "{{format.json.done[0]}}"}).MustBuild()
	run(t, x, fsys, p)
	wantText(t, fsys, "data.json", "{\n  \"b\": 1,\n  \"a\": [\n    1,\n    2\n  ]\n}\n")
	wantText(t, fsys, "told", "data.json")
}
