package gocode_test

import (
	"errors"
	"go/ast"
	"go/token"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/gocode"
	"github.com/millrace-go/millrace/millracetest"
)

// shaped are rules, each with the declarations of a file and the result. If the text is unchanged, the rule does not
// match.
var shaped = []struct{ name, params, old, new string }{
	{"parentheses of the code", `"pattern": "len(a) + 1", "replacement": "cap(a)"`,
		"var v = (len)((([]int)(nil))) + (1)", "var v = cap((([]int)(nil)))"},
	{"parentheses of the pattern", `"pattern": "(len(a)) + 1", "replacement": "cap(a)"`, "var v = len([]int{}) + 1",
		"var v = cap([]int{})"},
	{"a spread argument", `"pattern": "append(a, b...)", "replacement": "join(a, b)"`,
		"func join(a, b []int) []int { return a }\n\nvar v, w = append([]int{}, []int{1}...), append([]int{}, 1)",
		"func join(a, b []int) []int { return a }\n\nvar v, w = join([]int{}, []int{1}), append([]int{}, 1)"},
	{"fewer arguments", `"pattern": "append(a, b, rest)", "replacement": "a", "where": {"rest": "args"}`,
		"var v, w = append([]int{}), append([]int{}, 1, 2)", "var v, w = append([]int{}), []int{}"},
	{"a name", `"pattern": "len(x)", "replacement": "cap(x)", "where": {"x": "ident"}`,
		"var s []int\n\nvar v, w = len(s), len(s[1:])", "var s []int\n\nvar v, w = cap(s), len(s[1:])"},
	{"a type is not a value", `"pattern": "len(x)", "replacement": "cap(x)", "where": {"x": "[]int"}`,
		"func F(s string) int { l := []int{1}; return len(l) + len(s) }",
		"func F(s string) int { l := []int{1}; return cap(l) + len(s) }"},
	{"a declaration", `"pattern": "x := 1", "replacement": "x := 2", "where": {"x": "int"}`,
		"func F() int {\n\ta := 1\n\tb := \"\"\n\treturn a + len(b)\n}",
		"func F() int {\n\ta := 2\n\tb := \"\"\n\treturn a + len(b)\n}"},
	{"a statement", `"pattern": "if c {\n\ts\n}", "replacement": "for c {\n\ts\n}", "where": {"s": "stmt"}`,
		"func F(c bool) {\n\tif c {\n\t\tprintln(1)\n\t}\n\tif c {\n\t\tprintln(1)\n\t\tprintln(2)\n\t}\n}",
		"func F(c bool) {\n\tfor c {\n\t\tprintln(1)\n\t}\n\tif c {\n\t\tprintln(1)\n\t\tprintln(2)\n\t}\n}"},
	{"the same statements twice",
		`"pattern": "if c {\n\tb\n} else {\n\tb\n}", "replacement": "b", "where": {"b": "stmts"}`,
		"func F(c bool) {\n\tif c {\n\t\tprintln(1)\n\t} else {\n\t\tprintln(2)\n\t}\n}", ""},
	{"an optional part", `"pattern": "for i := range n {\n\tb\n}", "replacement": "for range n {\n\tb\n}", ` +
		`"where": {"b": "stmts"}`,
		"func F(n int) {\n\tfor range n {\n\t\tprintln(1)\n\t}\n}", ""},
	{"the direction of a channel", `"pattern": "make(chan<- int)", "replacement": "make(chan int)"`,
		"var v, w, u = make(chan<- int), make(<-chan int), make(chan string)",
		"var v, w, u = make(chan int), make(<-chan int), make(chan string)"},
	{"a case of a select", `"pattern": "println(a)\nreturn", "replacement": "return"`,
		"func F(c chan int) {\n\tselect {\n\tcase <-c:\n\t\tprintln(1)\n\t\treturn\n\tdefault:\n\t}\n}",
		"func F(c chan int) {\n\tselect {\n\tcase <-c:\n\t\treturn\n\tdefault:\n\t}\n}"},
	{"code around an operand", `"pattern": "id(x)", "replacement": "x"`,
		"func id[T any](x T) T { return x }\n\nvar v = id(func() int { return 1 })()\n\n" +
			"var w = id([]int{1})[0] + -id(-1)*id(1+2)\n\nvar u, z = 1-id(-1), 1 - id(-1)",
		"func id[T any](x T) T { return x }\n\nvar v = func() int { return 1 }()\n\n" +
			"var w = []int{1}[0] + -(-1)*(1+2)\n\nvar u, z = 1-(-1), 1 - -1"},
	{"an import in a group", `"pattern": "len(s)", "replacement": "strings.Count(s, \"\")"`,
		"import (\n\t\"os\" // why\n\n\t\"example.com/m/z\"\n)\n\nvar v, w, u = os.Args, z.Z, len(\"a\")",
		"import (\n\t\"os\" // why\n\t\"strings\"\n\n\t\"example.com/m/z\"\n)\n\n" +
			"var v, w, u = os.Args, z.Z, strings.Count(\"a\", \"\")"},
	{"an import before another", `"pattern": "cap(s)", "replacement": "bytes.Count(s, nil)"`,
		"import (\n\t\"os\"\n)\n\nvar v, w = os.Args, cap([]byte{})",
		"import (\n\t\"bytes\"\n\t\"os\"\n)\n\nvar v, w = os.Args, bytes.Count([]byte{}, nil)"},
	{"an import that is not needed", `"pattern": "os.Getpid()", "replacement": "1"`,
		"import (\n\t// It has a number.\n\t\"os\" // why\n\t\"strings\"\n)\n\nvar v, w = os.Getpid(), strings.ToUpper(\"\")",
		"import (\n\t\"strings\"\n)\n\nvar v, w = 1, strings.ToUpper(\"\")"},
	{"line ends", `"pattern": "len(s)", "replacement": "strings.Count(s, \"\")"`,
		"import (\r\n\t\"os\"\r\n)\r\n\r\nvar v, w = os.Args, len(\"a\")",
		"import (\r\n\t\"os\"\r\n\t\"strings\"\r\n)\r\n\r\nvar v, w = os.Args, strings.Count(\"a\", \"\")"},
}

// TestRewriteShapes: rules match only the described code, and the rest of a file stays unchanged.
func TestRewriteShapes(t *testing.T) {
	const files = "-- go.mod --\nmodule example.com/m\n\ngo 1.25\n-- z/z.go --\npackage z\n\nvar Z int\n" +
		"-- a/a.go --\npackage a\n\n"
	x := goCommand(t)
	for _, c := range shaped {
		t.Run(c.name, func(t *testing.T) {
			if c.new == "" {
				c.new = c.old
			}
			fsys := millracetest.Tree(t, files+c.old+"\n")
			params := strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(c.params)
			must(t, x, fsys, `{"id": "r", "action": "go_rewrite", "params": {`+params+`, "packages": ["./a"]}}`)
			millracetest.Equal(t, fsys, files+c.new+"\n")
		})
	}
}

// TestTemplatesAreChecked: the step checks a parameter that a template produces.
func TestTemplatesAreChecked(t *testing.T) {
	for step, wanted := range map[string]string{
		`"go_format", "params": {"on_error": ` +
			`"{{vars.x}}"}`: "unsupported go_format on_error 'nonsense'",
		`"go_imports", "params": {"on_error": ` +
			`"{{vars.x}}"}`: "unsupported go_imports on_error 'nonsense'",
		`"go_fix", "params": {"analyzers": ` +
			`["{{vars.x}}"]}`: "unknown analyzer 'nonsense'",
		`"go_fix", "params": {"packages": ` +
			`["-{{vars.x}}"]}`: "'-nonsense' is not a pattern of packages",
		`"go_rewrite", "params": {"pattern": "len(a)", "replacement": "b(a)", "dir": "{{vars.x}}/../.."}`: "",
	} {
		fsys := millracetest.Tree(t, "-- go.mod --\nmodule example.com/m\n-- a.go --\npackage a\n")
		p, err := decoder.Decode([]byte(`{"name": "t", "variables": {"x": "nonsense"}, "steps": [{"id": "s", ` +
			`"action": ` + step + `}]}`))
		if err == nil {
			_, err = goCommand(t).Run(t.Context(), fsys, p)
		}
		wantError(t, err, wanted)
	}
}

// TestListErrors: a tree that go list refuses, and a directory without packages, fail the step, and the error names
// them.
func TestListErrors(t *testing.T) {
	for _, c := range []struct{ mod, wanted string }{
		{"module example.com/m\n\ngo 1.25\n\nrequire (\n", "go list: go: errors parsing go.mod"},
		{"module example.com/m\n", "there are no Go packages in"},
	} {
		fsys := millracetest.Tree(t, "-- go.mod --\n"+c.mod+"-- sub/a.txt --\n")
		_, err := run(t, goCommand(t), fsys, `{"id": "s", "action": "go_fix", "params": {"packages": ["./..."]}}`)
		wantError(t, err, c.wanted)
	}
}

// odd is an analyzer of a host with unusual fixes: no fix, a fix without an end, and two fixes at the same position.
var odd = &analysis.Analyzer{Name: "odd", Doc: "a test", Run: func(pass *analysis.Pass) (any, error) {
	if pass.Pkg.Name() == "bad" {
		return nil, errors.New("it does not like the package")
	}
	for _, decl := range pass.Files[0].Decls {
		fixes := func(texts ...string) (all []analysis.SuggestedFix) {
			for _, text := range texts {
				all = append(all, analysis.SuggestedFix{TextEdits: []analysis.TextEdit{{Pos: decl.Pos(), End: token.NoPos,
					NewText: []byte(text)}}})
			}
			return all
		}
		if g, ok := decl.(*ast.GenDecl); ok && g.Tok == token.VAR {
			pass.Report(analysis.Diagnostic{Pos: decl.Pos(), Message: "no fix"})
			pass.Report(analysis.Diagnostic{Pos: decl.Pos(), Message: "a fix", SuggestedFixes: fixes("// One.\n")})
			pass.Report(analysis.Diagnostic{Pos: decl.Pos(), Message: "another", SuggestedFixes: fixes("// Two.\n")})
		}
	}
	return nil, nil
}}

// TestOddAnalyzer: a diagnostic without a fix is reported, two insertions at the same position need two visits, and a
// failing analyzer fails the step.
func TestOddAnalyzer(t *testing.T) {
	own := millrace.Decoder{Actions: actions.Builtin().With(gocode.Fix{Own: []*analysis.Analyzer{odd}})}
	p, err := own.Decode([]byte(`{"name": "t", "steps": [{"id": "fix", "action": "go_fix", "params": {"analyzers": ` +
		`["odd"]}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	const files = "-- go.mod --\nmodule example.com/m\n-- a.go --\npackage m\n\n"
	fsys := millracetest.Tree(t, files+"var v = 1\n")
	res, err := goCommand(t).Run(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	data := res.Results[0].Data.(map[string]any)
	if data["fixed"] != int64(1) || data["left"] != int64(1) || len(data["diagnostics"].([]any)) != 3 {
		t.Errorf("the data is %v", data)
	}
	millracetest.Equal(t, fsys, files+"// One.\nvar v = 1\n")
	fsys = millracetest.Tree(t, "-- go.mod --\nmodule example.com/m\n-- a.go --\npackage bad\n")
	_, err = goCommand(t).Run(t.Context(), fsys, p)
	wantError(t, err, "analyzer odd, package example.com/m: it does not like the package")
}
