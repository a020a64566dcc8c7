package gocode_test

import (
	"encoding/json"
	"go/ast"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/gocode"
	"github.com/millrace-go/millrace/millracetest"
)

// oldCode is a module that go fix can improve, with internal and external tests and a separate file.
const oldCode = `
-- go.mod --
module example.com/m

go 1.25
-- a.go --
package m

import "sort"

// F is old.
func F(x interface{}, l []int) bool {
	sort.Slice(l, func(i, j int) bool { return l[i] < l[j] })
	for _, v := range l {
		if v == 3 {
			return true
		}
	}
	return false
}

//go:fix inline
func Old(n int) int { return New(n, 1) }

func New(n, m int) int { return n + m }
-- a_test.go --
package m

var _ interface{} = Old(1)
-- x_test.go --
package m_test

import "example.com/m"

var _ interface{} = m.Old(2)
-- cmd/c/main.go --
package main

import "example.com/m"

func main() { println(m.Old(3)) }
`

const newA = `-- a.go --
package m

import "slices"

// F is old.
func F(x any, l []int) bool {
	slices.Sort(l)
	return slices.Contains(l, 3)
}

//go:fix inline
func Old(n int) int { return New(n, 1) }

func New(n, m int) int { return n + m }
`

const newMain = `-- cmd/c/main.go --
package main

import "example.com/m"

func main() { println(m.New(3, 1)) }
`

const newCode = newA + newMain + `-- a_test.go --
package m

var _ any = Old(1)
-- x_test.go --
package m_test

import "example.com/m"

var _ any = m.New(2, 1)
`

func TestFix(t *testing.T) {
	fsys := millracetest.Tree(t, oldCode)
	res := must(t, goCommand(t), fsys, `{"id": "fix", "action": "go_fix"}`)
	wantChanged(t, fsys, oldCode, newCode)
	data, err := json.Marshal(res.Results[0].Data)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`{"analyzer":"any","column":10,"edit":0,"file":"a.go","fixed":true,"line":6,"message":"interface{} can be ` +
			`replaced by any"}`,
		`"file":"x_test.go"`, `"fixed":7,"left":0`,
	} {
		if !strings.Contains(string(data), text) {
			t.Errorf("the data %s does not have %s", data, text)
		}
	}
	must(t, goCommand(t), fsys, `{"id": "fix", "action": "go_fix"}`)
	wantChanged(t, fsys, oldCode, newCode)
}

// A step can be limited to packages, to files, and to analyzers.
func TestFixLimited(t *testing.T) {
	for _, test := range []struct{ params, changed string }{
		{`{"packages": ["./cmd/..."]}`, newMain},
		{`{"dir": "cmd", "packages": ["./c"]}`, newMain},
		{`{"files": ["a.go"]}`, newA},
		{`{"analyzers": ["printf"]}`, ""},
		{`{"analyzers": ["inline"], "files": ["cmd/c/main.go", "a.go"]}`, newMain},
	} {
		fsys := millracetest.Tree(t, oldCode)
		must(t, goCommand(t), fsys, `{"id": "fix", "action": "go_fix", "params": `+test.params+`}`)
		wantChanged(t, fsys, oldCode, test.changed)
	}
}

// twice is an analyzer of a host whose changes overlap: they are in nested calls.
var twice = &analysis.Analyzer{Name: "twice", Doc: "a test", Run: func(pass *analysis.Pass) (any, error) {
	for _, file := range pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "old" {
					pass.Report(analysis.Diagnostic{Pos: id.Pos(), Message: "old",
						SuggestedFixes: []analysis.SuggestedFix{{TextEdits: []analysis.TextEdit{
							{Pos: call.Pos(), End: call.Args[0].Pos(), NewText: []byte("renewed(")},
							{Pos: call.Rparen, End: call.End(), NewText: []byte(", 1)")},
							{Pos: call.Args[0].Pos(), End: call.Args[0].End(),
								NewText: []byte(pass.TypesInfo.Types[call.Args[0]].Value.String())},
						}}}})
				}
			}
			return true
		})
	}
	return nil, nil
}}

// A host adds its own analyzers. Overlapping fixes are left out, counted, and made by a second visit.
func TestFixOwn(t *testing.T) {
	wide := *twice
	wide.Run = func(pass *analysis.Pass) (any, error) {
		ast.Inspect(pass.Files[0], func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "old" {
					pass.Report(analysis.Diagnostic{Pos: id.Pos(), Message: "old",
						SuggestedFixes: []analysis.SuggestedFix{{TextEdits: []analysis.TextEdit{
							{Pos: id.Pos(), End: id.End(), NewText: []byte("renewed")}, {Pos: call.Lparen, End: call.End(),
								NewText: []byte("(0)")},
						}}}})
				}
			}
			return true
		})
		return nil, nil
	}
	own := millrace.Decoder{Actions: actions.Builtin().With(gocode.Fix{Own: []*analysis.Analyzer{&wide}})}
	p, err := own.Decode([]byte(`{"name": "t", "steps": [{"id": "fix", "action": "go_fix", "params": {"analyzers": ` +
		`["twice"]}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	const text = "-- go.mod --\nmodule example.com/m\n-- a.go --\npackage m\n\nfunc old(n int) int { return n }\n\n" +
		"func renewed(n int) int { return n }\n\nvar v = old(old(1)) + old(2)\n"
	fsys := millracetest.Tree(t, text)
	plan, err := goCommand(t).Plan(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	splices := plan.Changes()[0].Splices
	if len(splices) == 0 || splices[0].By[0] != (change.Origin{Step: "fix"}) {
		t.Errorf("the splices are %v", splices)
	}
	res := plan.Result()
	if data := res.Results[0].Data.(map[string]any); data["fixed"] != int64(2) || data["left"] != int64(1) {
		t.Errorf("the data is %v", data)
	}
	if _, err := plan.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	millracetest.Equal(t, fsys, strings.Replace(text, "old(old(1)) + old(2)", "renewed(0) + renewed(0)", 1))
}

// Errors are reported before anything runs, or by the step, and the tree stays unchanged.
func TestFixErrors(t *testing.T) {
	for _, test := range []struct{ params, files, want string }{
		{`{"analyzers": ["nonsense"]}`, "", "unknown analyzer 'nonsense'"},
		{`{"packages": ["-exec"]}`, "", "'-exec' is not a pattern of packages"},
		{`{"packages": ["a.go"]}`, "", "'a.go' is not a pattern of packages"},
		{`{"dir": "nowhere"}`, "", "nowhere: file does not exist"},
		{`{"packages": ["./nowhere"]}`, "", "go_fix failed: stat nowhere: directory not found"},
		{`{}`, "var v int = \"\"", "the types do not check: a.go:3:13: cannot use"},
		{`{}`, "func (", "the types do not check: a.go:3:8: expected"},
		{`{}`, "import \"example.org/not/there\"", "the types do not check: a.go:3:8: "},
	} {
		files := "-- go.mod --\nmodule example.com/m\n-- a.go --\npackage m\n\n" + test.files + "\n"
		fsys := millracetest.Tree(t, files)
		p, err := decoder.Decode([]byte(`{"name": "t", "steps": [{"id": "fix", "action": "go_fix", ` +
			`"params": ` + test.params + `}]}`))
		if err == nil {
			_, err = goCommand(t).Run(t.Context(), fsys, p)
		}
		wantError(t, err, test.want)
		millracetest.Equal(t, fsys, files)
	}
}

// If the host does not allow the command, it does not run, and the error reports that.
func TestNotAllowed(t *testing.T) {
	for _, step := range []string{
		`{"id": "x", "action": "go_fix"}`,
		`{"id": "x", "action": "go_rewrite", "params": {"pattern": "len(a)", "replacement": "cap(a)"}}`,
	} {
		_, err := run(t, millrace.Executor{}, millracetest.Tree(t, oldCode), step)
		wantError(t, err, "does not allow")
		if code := millrace.ErrorCode(err); code != "exec_denied" {
			t.Errorf("the code is %s", code)
		}
	}
}

// A package with type errors is left out with a warning. The other packages are fixed.
func TestFixOthers(t *testing.T) {
	const files = `
-- go.mod --
module example.com/m

go 1.25
-- a/a.go --
package a

var v interface{}
-- b/b.go --
package b

var v interface{} = missing
`
	fsys := millracetest.Tree(t, files)
	res := must(t, goCommand(t), fsys, `{"id": "fix", "action": "go_fix"}`)
	wantChanged(t, fsys, files, "-- a/a.go --\npackage a\n\nvar v any\n")
	if text := strings.Join(res.AllWarnings(), "\n"); !strings.Contains(text,
		"package example.com/m/b is left out, for its types do not check: b/b.go:3:21: undefined: missing") {
		t.Errorf("the warnings are %q", text)
	}
}
