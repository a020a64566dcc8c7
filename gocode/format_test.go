package gocode_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
)

func TestFormat(t *testing.T) {
	const ugly, nice = "package a\nfunc  F( ) { }\n", "package a\n\nfunc F() {}\n"
	fsys := inMemory(t, map[string]string{"a.go": ugly, "sub/b.go": ugly, "nice.go": nice, "text.txt": ugly})
	res := must(t, millrace.Executor{}, fsys, `{"id": "list", "action": "list", "params": {"depth": -1}},
		{"id": "format", "action": "go_format", "input_from": "list"}`)
	want(t, fsys, map[string]string{"a.go": nice, "sub/b.go": nice, "nice.go": nice, "text.txt": ugly})
	if got := strings.Join(res.Results[1].FilesMatched, " "); got != "a.go sub/b.go" || res.TotalEdits != 2 {
		t.Errorf("the step has %q and %d edits", got, res.TotalEdits)
	}
}

// Without files, the step formats only the Go files that the run has changed so far.
func TestFormatChanged(t *testing.T) {
	const ugly, nice = "package a\nfunc  F( ) { }\n", "package a\n\nfunc G() {}\n"
	fsys := inMemory(t, map[string]string{"a.go": ugly, "b.go": ugly, "gone.go": ugly})
	must(t, millrace.Executor{}, fsys, `{"id": "edit", "action": "edit",
			"params": {"files": ["a.go"], "old_text": "F", "new_text": "G"}},
		{"id": "drop", "action": "delete", "params": {"files": ["gone.go"]}},
		{"id": "new", "action": "create", "params": {"path": "new.go", "content": "package  a\n"}},
		{"id": "text", "action": "create", "params": {"path": "new.txt", "content": "package  a\n"}},
		{"id": "format", "action": "go_format"}`)
	want(t, fsys, map[string]string{"a.go": nice, "b.go": ugly, "new.go": "package a\n", "new.txt": "package  a\n"})
	// An input step without files differs from no input step.
	fsys = inMemory(t, map[string]string{"a.go": ugly})
	must(t, millrace.Executor{}, fsys, `{"id": "edit", "action": "edit",
			"params": {"files": ["a.go"], "old_text": "F", "new_text": "G"}},
		{"id": "none", "action": "search", "params": {"pattern": "no such text"}},
		{"id": "format", "action": "go_format", "input_from": "none"}`)
	want(t, fsys, map[string]string{"a.go": "package a\nfunc  G( ) { }\n"})
}

func TestDoesNotParse(t *testing.T) {
	for _, action := range []string{"go_format", "go_imports"} {
		const ugly, wrong = "package  a\n", "package a\n\nfunc F( {\n"
		files := map[string]string{"a.go": ugly, "b.go": wrong}
		fsys := inMemory(t, files)
		_, err := run(t, millrace.Executor{}, fsys,
			`{"id": "x", "action": "`+action+`", "params": {"files": ["a.go", "b.go"]}}`)
		wantError(t, err, "b.go: 3:9: expected")
		want(t, fsys, files)
		res := must(t, millrace.Executor{}, fsys,
			`{"id": "x", "action": "`+action+`", "params": {"files": ["a.go", "b.go"], "on_error": "continue"}}`)
		want(t, fsys, map[string]string{"a.go": "package a\n", "b.go": wrong})
		if text := strings.Join(res.AllWarnings(), "\n"); !strings.Contains(text, "b.go: 3:9: expected") {
			t.Errorf("%s: the warnings are %q", action, text)
		}
		_, err = decoder.Decode([]byte(`{"name": "t", "steps": [{"id": "x", "action": "` + action + `", "params": ` +
			`{"on_error": "maybe"}}]}`))
		wantError(t, err, "on_error")
	}
}
