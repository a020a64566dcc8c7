package gocode_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/millracetest"
)

// The steps below rename a function of a package, which other packages and tests call under different import names.
func TestRewrite(t *testing.T) {
	const files = `
-- go.mod --
module example.com/m

go 1.25
-- lib/lib.go --
package lib

func Old(n int, s string) int { return n }

func New(s string, n int) int { return n }

var v = Old(1, "a")
-- lib/lib_test.go --
package lib

var w = Old(2, "b")
-- lib/ext_test.go --
package lib_test

import . "example.com/m/lib"

var w = Old(3, "c")
-- use/use.go --
package use

import l "example.com/m/lib"

var w = l.Old(l.Old(4, "d"), /* why */ "e")
-- use/other.go --
package use

func Old(n int, s string) int { return n }

var x = Old(1, "a")
`
	fsys := millracetest.Tree(t, files)
	const step = `{"id": "r", "action": "go_rewrite", "params": {"pattern": "lib.Old(n, s)", "replacement": ` +
		`"lib.New(s, n)", "imports": ["example.com/m/lib"]}}`
	res := must(t, goCommand(t), fsys, step)
	wantChanged(t, fsys, files, `
-- lib/lib.go --
package lib

func Old(n int, s string) int { return n }

func New(s string, n int) int { return n }

var v = New("a", 1)
-- lib/lib_test.go --
package lib

var w = New("b", 2)
-- lib/ext_test.go --
package lib_test

import . "example.com/m/lib"

var w = New("c", 3)
-- use/use.go --
package use

import l "example.com/m/lib"

var w = l.New("e", l.New("d", 4))
`)
	if res.TotalEdits != 4 {
		t.Errorf("%d edits", res.TotalEdits)
	}
	res = must(t, goCommand(t), fsys, step)
	if text := strings.Join(res.AllWarnings(), "\n"); !strings.Contains(text,
		"the pattern matches nothing in 3 packages") {
		t.Errorf("the warnings are %q", text)
	}
}

// Packages and files limit the step.
func TestRewriteLimited(t *testing.T) {
	const files = `
-- go.mod --
module example.com/m
-- a/a.go --
package a

var a = len("a")
-- b/b.go --
package b

var b = len("b")
`
	for _, limit := range []string{`"packages": ["./b/..."]`, `"files": ["b/b.go"]`, `"dir": "b"`,
		`"packages": ["example.com/m/b"]`} {
		fsys := millracetest.Tree(t, files)
		must(t, goCommand(t), fsys,
			`{"id": "r", "action": "go_rewrite", "params": {"pattern": "len(s)", "replacement": "strings.Count(s, `+
				`\"\")", `+limit+`}}`)
		wantChanged(t, fsys, files,
			"-- b/b.go --\npackage b\n\nimport \"strings\"\n\nvar b = strings.Count(\"b\", \"\")\n")
	}
}

// Code with type errors is refused, and nothing is staged.
func TestRewriteChecks(t *testing.T) {
	const files = "-- go.mod --\nmodule example.com/m\n-- a.go --\npackage m\n\nvar a int = len(\"a\")\n"
	fsys := millracetest.Tree(t, files)
	_, err := run(t, goCommand(t), fsys,
		`{"id": "r", "action": "go_rewrite", "params": {"pattern": "len(s)", "replacement": "s"}}`)
	wantError(t, err, "a.go: the replacement makes code whose types do not check: line 3 of the new text: cannot "+
		"use \"a\"")
	millracetest.Equal(t, fsys, files)
}

// Mistakes are reported before anything runs, with the parameter.
func TestRewriteMistakes(t *testing.T) {
	for _, test := range []struct{ params, want string }{
		{`"pattern": "get(", "replacement": "put()"`, "/pattern"},
		{`"pattern": "", "replacement": ""`, "/pattern"},
		{`"pattern": "get(x)", "replacement": "put("`, "/replacement"},
		{`"pattern": "get(x)", "replacement": "put(y)"`, "the pattern has no hole 'y'"},
		{`"pattern": "x", "replacement": "put(x)"`, "nothing but a hole"},
		{`"pattern": "get(x)", "replacement": "x", "where": {"y": "int"}`, "the pattern has no 'y'"},
		{`"pattern": "get(x)", "replacement": "x", "where": {"x": "a b"}`, "write a type, such as io.Closer"},
		{`"pattern": "get(x)", "replacement": "x", "where": {"x y": "int"}`, "a hole has the name of a variable"},
		{`"pattern": "get(x)", "replacement": "x", "imports": ["a b"]`, "/imports/0"},
		{`"pattern": "get(x)", "replacement": "x", "imports": ["-x"]`, "/imports/0"},
		{`"pattern": "body\nget()\nmore", "replacement": "", "where": {"body": "stmts", "more": "stmts"}`,
			"two holes of the kind stmts"},
		{`"pattern": "}\nfunc get() {", "replacement": ""`, "more than statements of one function"},
		{`"pattern": "get(x)", "replacement": "x", "packages": ["-x"]`, "/packages/0"},
	} {
		_, err := decoder.Decode([]byte(`{"name": "t", "steps": [{"id": "r", "action": "go_rewrite", "params": ` +
			`{` + test.params + `}}]}`))
		wantError(t, err, test.want)
	}
	// The step checks the text that a template produces.
	fsys := millracetest.Tree(t, "-- go.mod --\nmodule example.com/m\n-- a.go --\npackage m\n")
	p := `{"name": "t", "variables": {"p": "f("}, "steps": [{"id": "r", "action": "go_rewrite", "params": ` +
		`{"pattern": "{{vars.p}}", "replacement": ""}}]}`
	pipeline, err := decoder.Decode([]byte(p))
	if err == nil {
		_, err = goCommand(t).Run(t.Context(), fsys, pipeline)
	}
	wantError(t, err, "pattern: ")
}
