package gocode_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/gocode"
	"github.com/millrace-go/millrace/millracetest"
)

func TestFormat(t *testing.T) {
	const ugly, nice = "package a\nfunc  F( ) { }\n", "package a\n\nfunc F() {}\n"
	const files = "-- a.go --\n" + ugly + "-- sub/b.go --\n" + ugly + "-- nice.go --\n" + nice + "-- text.txt --\n" + ugly
	fsys := millracetest.Tree(t, files)
	res := must(t, millrace.Executor{}, fsys, `{"id": "list", "action": "list", "params": {"depth": -1}},
		{"id": "format", "action": "go_format", "input_from": "list"}`)
	wantChanged(t, fsys, files, "-- a.go --\n"+nice+"-- sub/b.go --\n"+nice)
	if got := strings.Join(res.Results[1].FilesMatched, " "); got != "a.go sub/b.go" || res.TotalEdits != 2 {
		t.Errorf("the step has %q and %d edits", got, res.TotalEdits)
	}
}

// Without files, the step formats only the Go files that the run has changed so far.
func TestFormatChanged(t *testing.T) {
	const ugly, nice = "package a\nfunc  F( ) { }\n", "package a\n\nfunc G() {}\n"
	fsys := millracetest.Tree(t, "-- a.go --\n"+ugly+"-- b.go --\n"+ugly+"-- gone.go --\n"+ugly)
	must(t, millrace.Executor{}, fsys, `{"id": "edit", "action": "edit",
			"params": {"files": ["a.go"], "old_text": "F", "new_text": "G"}},
		{"id": "drop", "action": "delete", "params": {"files": ["gone.go"]}},
		{"id": "new", "action": "create", "params": {"path": "new.go", "content": "package  a\n"}},
		{"id": "text", "action": "create", "params": {"path": "new.txt", "content": "package  a\n"}},
		{"id": "format", "action": "go_format"}`)
	millracetest.Equal(t, fsys,
		"-- a.go --\n"+nice+"-- b.go --\n"+ugly+"-- new.go --\npackage a\n-- new.txt --\npackage  a\n")
	// An input step without files differs from no input step.
	fsys = millracetest.Tree(t, "-- a.go --\n"+ugly)
	must(t, millrace.Executor{}, fsys, `{"id": "edit", "action": "edit",
			"params": {"files": ["a.go"], "old_text": "F", "new_text": "G"}},
		{"id": "none", "action": "search", "params": {"pattern": "no such text"}},
		{"id": "format", "action": "go_format", "input_from": "none"}`)
	millracetest.Equal(t, fsys, "-- a.go --\npackage a\nfunc  G( ) { }\n")
}

// TestContract: the actions that need no command follow the rules of package actions. A file that does not parse fails
// the step, or is left.
func TestContract(t *testing.T) {
	const ugly, nice, wrong = "-- a.go --\npackage  a\n", "-- a.go --\npackage a\n", "-- b.go --\npackage a\n\nfunc F( {\n"
	both := []string{"a.go", "b.go"}
	for _, with := range []func(files []string, onError string) actions.Action{
		func(files []string, onError string) actions.Action {
			return gocode.Format{Files: files, OnError: onError}
		},
		func(files []string, onError string) actions.Action {
			return gocode.Imports{Files: files, OnError: onError}
		},
	} {
		millracetest.Action(t, with(nil, ""),
			millracetest.Case{Input: actions.List{}, Tree: ugly, Want: nice},
			millracetest.Case{Action: with(both, ""), Tree: ugly + wrong, Error: "b.go: 3:9: expected"},
			millracetest.Case{Action: with(both, "continue"), Tree: ugly + wrong, Want: nice + wrong},
			millracetest.Case{Action: with(nil, "maybe"), Invalid: "unsupported_value"},
		)
		p := millrace.New("test").Step("x", with(both, "continue")).MustBuild()
		res, err := millrace.Run(t.Context(), millracetest.Tree(t, ugly+wrong), p)
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(res.AllWarnings(), "\n"); !strings.Contains(text, "b.go: 3:9: expected") {
			t.Errorf("the warnings are %q", text)
		}
	}
}
