package millrace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// planTree is a tree of which only src may be written to.
func planTree(t testing.TB) afero.Fs {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for name, text := range map[string]string{
		"src/a.txt": "one two\n", "src/b.txt": "two\n", "secret/c.txt": "keep\n", ".git/config": "keep\n", "src/.git/config": "keep\n",
	} {
		if err := afero.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return fsys
}

// FuzzOpenPlan: a stored plan, whoever has written it, is refused or does nothing that the host forbids; and one that is taken
// can be stored and taken again.
func FuzzOpenPlan(f *testing.F) {
	x := millrace.Executor{AllowedPaths: []string{"src"}}
	for _, p := range []millrace.Pipeline{
		millrace.New("edit").Step("e", actions.Edit{Files: []string{"src/a.txt", "src/b.txt"}, OldText: "two", NewText: "2"}).MustBuild(),
		millrace.New("move").Step("r", actions.Rename{Files: []string{"src/a.txt"}, Destination: "src/n"}).MustBuild(),
		millrace.New("delete").Step("d", actions.Delete{Files: []string{"src/a.txt"}}).MustBuild(),
	} {
		plan, err := x.Plan(f.Context(), planTree(f), p)
		if err != nil {
			f.Fatal(err)
		}
		data, err := json.Marshal(plan)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		for _, bad := range []string{"secret/c.txt", ".git/config", "src/.git/config", ".millrace/tx", "../x", "src"} {
			f.Add(bytes.ReplaceAll(data, []byte("src/a.txt"), []byte(bad)))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fsys := planTree(t)
		plan, err := x.OpenPlan(t.Context(), fsys, data)
		if err != nil {
			if plan != nil || err.Error() == "" {
				t.Fatalf("%v beside %v", plan, err)
			}
			return
		}
		stored, err := json.Marshal(plan)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.OpenPlan(t.Context(), fsys, stored); err != nil {
			t.Fatalf("taken once, but not again: %v\n%s\n%s", err, data, stored)
		}
		_, err = plan.Commit(t.Context())
		if _, unfinished := errors.AsType[*millrace.CommitError](err); unfinished {
			t.Fatal(err)
		}
		for _, name := range []string{"secret/c.txt", ".git/config", "src/.git/config"} {
			if text, err := afero.ReadFile(fsys, name); err != nil || string(text) != "keep\n" {
				t.Fatalf("%s is %q, %v", name, text, err)
			}
		}
	})
}
