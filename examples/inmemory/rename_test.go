package inmemory_test

import (
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/examples/inmemory"
)

func TestRenamePackage(t *testing.T) {
	fsys := afero.NewMemMapFs()
	for name, text := range map[string]string{
		"old/a.go":   "package old\n\nfunc F() {}\n",
		"old/b/b.go": "package b\n",
		"main.go":    "package main\n\nimport \"example.com/old\"\n\nfunc main() { old.F() }\n",
	} {
		if err := afero.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := inmemory.RenamePackage("old", "fresh", "old", "fresh")
	if err != nil {
		t.Fatal(err)
	}

	res, err := millrace.Run(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := res.String(), "OK: 5/5 steps | 2 files | 3 edits"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for name, want := range map[string]string{
		"fresh/a.go": "package fresh\n\nfunc F() {}\n",
		"old/b/b.go": "package b\n",
		"main.go":    "package main\n\nimport \"example.com/fresh\"\n\nfunc main() { fresh.F() }\n",
	} {
		if got, err := afero.ReadFile(fsys, name); err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	if ok, _ := afero.Exists(fsys, "old/a.go"); ok {
		t.Error("old/a.go is still there")
	}
}
