package gocode

import (
	"context"
	"fmt"
	"go/format"
	"os"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/millracetest"
)

// loading is an action that loads the packages of the tree once for all cases of a table.
type loading struct {
	Of func(t *tree) error `json:"-"`
}

func (loading) Spec() actions.Spec {
	return actions.Spec{Name: "loading", Summary: "A test", Exclusive: true}
}

func (l loading) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	return actions.Outcome{}, inPackages(ctx, c, "", []string{"./...", "errors", "io", "os", "slices", "strings"}, l.Of)
}

// withTree calls do with the packages of some files.
func withTree(t *testing.T, files string, do func(t *tree) error) error {
	t.Helper()
	policy := command.Policy{Allow: []string{"go list *"}, Scratch: os.Getenv("GOCODE_TEST_SCRATCH")}
	if policy.Supported() != nil {
		policy.Sandbox = command.Off // the command only reads the tree
	}
	policy, err := command.Toolchains(policy, "", "go")
	if err != nil {
		t.Fatal(err)
	}
	p, err := millrace.New("test").Step("load", loading{do}).Build()
	if err != nil {
		t.Fatal(err)
	}
	_, err = millrace.Executor{Commands: policy}.Run(t.Context(), millracetest.Tree(t, files), p)
	return err
}

// rewriteCase is a file, without the package clause, and the result of a step.
type rewriteCase struct {
	of   Rewrite
	old  string
	want string // "" for an error
	err  string
}

var rewriteCases = []rewriteCase{
	// Single letters match any expression.
	{Rewrite{Pattern: "a == nil", Replacement: "nil == a"}, "func F(e error) bool { return e == nil }",
		"func F(e error) bool { return nil == e }", ""},
	{Rewrite{Pattern: "a[b:len(a)]", Replacement: "a[b:]"}, "func F(s []int) []int { return s[1:len(s)] }",
		"func F(s []int) []int { return s[1:] }", ""},
	{Rewrite{Pattern: "a[b:len(a)]", Replacement: "a[b:]"}, "func F(s, r []int) []int { return s[1:len(r)] }", "",
		"matches nothing"},
	{Rewrite{Pattern: "len(a) > 0", Replacement: "len(a) != 0"}, "func F(s []int) bool { return (len(s) > 0) }",
		"func F(s []int) bool { return (len(s) != 0) }", ""},
	{Rewrite{Pattern: "len(a)", Replacement: "cap(a)"},
		"func len(x []int) int { return 0 }\n\nfunc F(s []int) int { return len(s) }", "", "matches nothing"},
	{Rewrite{Pattern: "interface{}", Replacement: "any"}, "func F(x interface{}, y map[string]interface{}) {}",
		"func F(x any, y map[string]any) {}", ""},
	// Nested matches, and the parentheses that they need.
	{Rewrite{Pattern: "Twice(x)", Replacement: "2 * x"},
		"func Twice(n int) int { return n + n }\n\nfunc F(n int) int { return Twice(Twice(n+1)) - Twice(n) }",
		"func Twice(n int) int { return n + n }\n\nfunc F(n int) int { return 2*(2*(n+1)) - 2*n }", ""},
	{Rewrite{Pattern: "Add(x, y)", Replacement: "x + y"},
		"func Add(a, b int) int { return 0 }\n\nvar v = 2 * Add(1, 2) * -Add(3, 4)",
		"func Add(a, b int) int { return 0 }\n\nvar v = 2 * (1 + 2) * -(3 + 4)", ""},
	{Rewrite{Pattern: "Get(x)", Replacement: "x.F"},
		"type T struct{ F int }\n\nfunc Get(t *T) int { return 0 }\n\nvar v = Get(&T{1})",
		"type T struct{ F int }\n\nfunc Get(t *T) int { return 0 }\n\nvar v = (&T{1}).F", ""},
	// Packages are matched by their path, not by the file's name for them.
	{Rewrite{Pattern: "ioutil.ReadFile(f)", Replacement: "os.ReadFile(f)"},
		"import \"io/ioutil\"\n\nvar b, _ = ioutil.ReadFile(\"x\")",
		"import \"os\"\n\nvar b, _ = os.ReadFile(\"x\")", ""},
	{Rewrite{Pattern: "ioutil.ReadFile(f)", Replacement: "os.ReadFile(f)"},
		"import (\n\tu \"io/ioutil\"\n\tsys \"os\"\n)\n\nvar b, _ = u.ReadFile(sys.Args[0])",
		"import (\n\tsys \"os\"\n)\n\nvar b, _ = sys.ReadFile(sys.Args[0])", ""},
	{Rewrite{Pattern: "ioutil.ReadFile(f)", Replacement: "os.ReadFile(f)"},
		"type r struct{}\n\nfunc (r) ReadFile(string) int { return 1 }\n\nvar ioutil r\n\nvar b = ioutil.ReadFile(\"x\")",
		"", "matches nothing"},
	{Rewrite{Pattern: `errors.New(fmt.Sprintf(rest))`, Replacement: "fmt.Errorf(rest)",
		Where: map[string]string{"rest": "args"}},
		"import (\n\t\"errors\"\n\t\"fmt\"\n)\n\nfunc F(l ...any) error {\n\t_ = errors.New(fmt.Sprintf(\"%d\", 1))\n" +
			"\treturn errors.New(fmt.Sprintf(\"%d\", l...))\n}",
		"import (\n\t\"fmt\"\n)\n\nfunc F(l ...any) error {\n\t_ = fmt.Errorf(\"%d\", 1)\n" +
			"\treturn fmt.Errorf(\"%d\", l...)\n}", ""},
	{Rewrite{Pattern: `Log(x, rest)`, Replacement: "Print(rest, x)", Where: map[string]string{"rest": "args"}},
		"func Log(l ...any) {}\n\nfunc Print(l ...any) {}\n\nfunc F() { Log(1); Log(2, 3, 4) }", "", "not parse"},
	{Rewrite{Pattern: `Log(x, rest)`, Replacement: "Print(x, rest)", Where: map[string]string{"rest": "args"}},
		"func Log(l ...any) {}\n\nfunc Print(l ...any) {}\n\nfunc F() { Log(1); Log(2, 3, 4) }",
		"func Log(l ...any) {}\n\nfunc Print(l ...any) {}\n\nfunc F() { Print(1); Print(2, 3, 4) }", ""},
	// Types.
	{Rewrite{Pattern: "x.Close()", Replacement: "Shut(x)", Where: map[string]string{"x": "io.Closer"}},
		"import \"os\"\n\ntype D struct{}\n\nfunc (D) Close() {}\n\nfunc Shut(x any) error { return nil }\n\n" +
			"func F(f *os.File, d D) { f.Close(); d.Close() }",
		"import \"os\"\n\ntype D struct{}\n\nfunc (D) Close() {}\n\nfunc Shut(x any) error { return nil }\n\n" +
			"func F(f *os.File, d D) { Shut(f); d.Close() }", ""},
	{Rewrite{Pattern: "x + y", Replacement: "Join(x, y)", Where: map[string]string{"x": "string", "y": "string"}},
		"func Join(a, b string) string { return a }\n\nfunc F(s string, n int) (string, int) { return s + \"x\", n + 1 }",
		"func Join(a, b string) string { return a }\n\n" +
			"func F(s string, n int) (string, int) { return Join(s, \"x\"), n + 1 }", ""},
	{Rewrite{Pattern: "x.Run()", Replacement: "x.Go()", Where: map[string]string{"x": "*T"}},
		"type T struct{}\n\nfunc (*T) Run() {}\n\nfunc (*T) Go() {}\n\ntype U struct{}\n\nfunc (U) Run() {}\n\n" +
			"func F(t *T, u U) { t.Run(); u.Run() }",
		"type T struct{}\n\nfunc (*T) Run() {}\n\nfunc (*T) Go() {}\n\ntype U struct{}\n\nfunc (U) Run() {}\n\n" +
			"func F(t *T, u U) { t.Go(); u.Run() }", ""},
	{Rewrite{Pattern: "Sort(x)", Replacement: "slices.Sort(x)", Where: map[string]string{"x": "[]string"}},
		"func Sort(x any) {}\n\nfunc F(s []string, n []int) { Sort(s); Sort(n) }",
		"import \"slices\"\n\nfunc Sort(x any) {}\n\nfunc F(s []string, n []int) { slices.Sort(s); Sort(n) }", ""},
	{Rewrite{Pattern: "Old(e)", Replacement: "New(e)", Where: map[string]string{"e": "error"}},
		"func Old(e error) {}\n\nfunc New(e error) {}\n\nfunc F(err error) { Old(err); Old(nil) }",
		"func Old(e error) {}\n\nfunc New(e error) {}\n\nfunc F(err error) { New(err); Old(nil) }", ""},
	// Statements.
	{Rewrite{Pattern: "if err != nil {\n\treturn err\n}\nreturn nil", Replacement: "return err"},
		"func F(err error) error {\n\tif err != nil { // why\n\t\treturn err\n\t}\n\treturn nil\n}",
		"func F(err error) error {\n\treturn err\n}", ""},
	{Rewrite{Pattern: "mu.Lock()\nbody\nmu.Unlock()", Replacement: "With(mu, func() {\n\tbody\n})",
		Where: map[string]string{"mu": "", "body": "stmts"}},
		"import \"sync\"\n\nfunc With(m *sync.Mutex, f func()) {}\n\nfunc F(m *sync.Mutex) {\n\tm.Lock()\n" +
			"\tprintln(1) // one\n\tprintln(2)\n\tm.Unlock()\n\tprintln(3)\n}",
		"import \"sync\"\n\nfunc With(m *sync.Mutex, f func()) {}\n\nfunc F(m *sync.Mutex) {\n\tWith(m, func() {\n" +
			"\t\tprintln(1) // one\n\t\tprintln(2)\n\t})\n\tprintln(3)\n}", ""},
	{Rewrite{Pattern: "println(x)", Replacement: ""}, "func F() {\n\tprintln(1)\n\tdefer println(2)\n}",
		"func F() {\n\tdefer println(2)\n}", ""},
	{Rewrite{Pattern: "v = append(v, x)\nv = append(v, y)", Replacement: "v = append(v, x, y)",
		Where: map[string]string{"v": "ident"}},
		"func F(l []int) []int {\n\tswitch {\n\tcase true:\n\t\tl = append(l, 1)\n\t\tl = append(l, 2)\n\t}\n\treturn l\n}",
		"func F(l []int) []int {\n\tswitch {\n\tcase true:\n\t\tl = append(l, 1, 2)\n\t}\n\treturn l\n}", ""},
	{Rewrite{Pattern: "for { s }", Replacement: "for range 9 { s }", Where: map[string]string{"s": "stmt"}},
		"func F() {\n\tfor {\n\t\tprintln(1)\n\t}\n}", "func F() {\n\tfor range 9 {\n\t\tprintln(1)\n\t}\n}", ""},
	// Within the package itself the name has no qualifier.
	{Rewrite{Pattern: "me.Old(x)", Replacement: "me.New(x)", Imports: []string{"me=SELF"}},
		"func Old(x int) {}\n\nfunc New(x int) {}\n\nfunc F() { Old(1) }",
		"func Old(x int) {}\n\nfunc New(x int) {}\n\nfunc F() { New(1) }", ""},
	// Fields and methods with the name are not objects of a package.
	{Rewrite{Pattern: "Old", Replacement: "New"},
		"type T struct{ Old int }\n\nvar Old, New = 1, 2\n\nvar v = T{Old: Old}.Old + Old",
		"type T struct{ Old int }\n\nvar Old, New = 1, 2\n\nvar v = T{Old: New}.Old + New", ""},
	// A result with type errors is refused.
	{Rewrite{Pattern: "len(a)", Replacement: "a"}, "func F(s []int) int { return len(s) }", "",
		"types do not check: line 3 of the new text: cannot use s"},
}

func TestRewriteTable(t *testing.T) {
	files := "-- go.mod --\nmodule example.com/m\n\ngo 1.25\n"
	for i, test := range rewriteCases {
		files += fmt.Sprintf("-- c%d/a.go --\npackage c%d\n\n%s\n", i, i, test.old)
	}
	err := withTree(t, files, func(loaded *tree) error {
		for i, test := range rewriteCases {
			name := fmt.Sprintf("c%d/a.go", i)
			self := fmt.Sprintf("example.com/m/c%d", i)
			for j, line := range test.of.Imports {
				test.of.Imports[j] = strings.Replace(line, "SELF", self, 1)
			}
			got, err := loaded.rewriteOne(test.of, self, name)
			head := fmt.Sprintf("package c%d\n\n", i)
			switch {
			case test.err != "":
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%s -> %s: error %v, want %q; made\n%s", test.of.Pattern, test.of.Replacement, err, test.err, got)
				}
			case err != nil:
				t.Errorf("%s -> %s: %v", test.of.Pattern, test.of.Replacement, err)
			default:
				nice, err := format.Source([]byte(got))
				if want := head + test.want + "\n"; err != nil || string(nice) != want {
					t.Errorf("%s -> %s: %v\n%s\nwant\n%s", test.of.Pattern, test.of.Replacement, err, got, want)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// rewriteOne rewrites a package and returns the text of a file.
func (t *tree) rewriteOne(of Rewrite, path, name string) (string, error) {
	rule, wrong := newRule(of)
	if wrong != nil {
		return "", wrong
	}
	w := &rewriting{tree: t, splices: map[string][]change.Splice{}, add: map[string][]newImport{}}
	for _, pkg := range t.roots {
		if pkg.PkgPath != path {
			continue
		}
		if problem := t.problems(pkg); problem != "" {
			return "", typeError(problem)
		}
		if err := w.rewrite(pkg, rule, nil); err != nil {
			return "", err
		}
	}
	if len(w.splices) == 0 {
		return "", fmt.Errorf("the pattern matches nothing")
	}
	text, err := w.result(name, t.textsInTree()[name])
	return string(text), err
}
