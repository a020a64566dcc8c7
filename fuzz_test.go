package millrace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/txtarfs"
	"github.com/millrace-go/millrace/millracetest"
)

// FuzzDecode: a decoded pipeline can be written and decoded again to an equal pipeline, and a refused text has a
// *ValidationError with a message.
func FuzzDecode(f *testing.F) {
	archives, err := filepath.Glob("testdata/run/*.txtar")
	if err != nil || len(archives) == 0 {
		f.Fatal("no scenarios", err)
	}
	for _, file := range archives {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		source, _ := txtarfs.Parse(data).Get("pipeline.json")
		f.Add(source)
	}
	f.Add([]byte(`{"name":"p","steps":[{"id":"a","action":"read_ranges","params":{"files":["{{a.files}}"],"start_line":"{{a.count}}"},"raw":true}]}`))
	f.Add([]byte(`{"name":"p","variables":{"a":[1.0,null,"{{vars.a}}"],"b":{"type":"number","enum":[1,2e0],"default":2}},"steps":[{"id":"a","action":"search","params":{"pattern":"{{vars.b}}"}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := millrace.Decode(data)
		if err != nil {
			invalid, ok := errors.AsType[*millrace.ValidationError](err)
			if !ok || len(invalid.Problems) == 0 || invalid.Problems[0].Message == "" {
				t.Fatalf("error %#v", err)
			}
			return
		}
		written, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := millrace.Decode(written)
		if err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		if !p.Equal(again) || p.Digest() != again.Digest() {
			t.Fatalf("the pipeline has changed:\n%s\n%s", data, written)
		}
	})
}

// planTree returns a tree in which only src may be written to.
func planTree(t testing.TB) afero.Fs {
	t.Helper()
	return millracetest.Tree(t, "-- src/a.txt --\none two\n-- src/b.txt --\ntwo\n-- secret/c.txt --\nkeep\n"+
		"-- .git/config --\nkeep\n-- src/.git/config --\nkeep\n")
}

// FuzzOpenPlan: a stored plan of any author is refused, or does nothing that the host forbids; an accepted plan can be
// stored and opened again.
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
		review(t, plan)
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

// review reviews a plan: it reads all hunks, and rejects all their parts.
func review(t *testing.T, plan *millrace.Plan) {
	t.Helper()
	files, err := plan.Files()
	if err != nil {
		return // it has a wrong text for the tree

	}
	for _, f := range files {
		var parts []millrace.Part
		for _, h := range f.Hunks {
			if got := len(h.Lines()); got != strings.Count(h.Text, "\n") {
				t.Fatalf("%d lines of %q", got, h.Text)
			}
			for _, part := range h.Split() {
				parts = append(parts, millrace.Part{Hunk: part})
			}
		}
		less, err := plan.Revise(f.Path, parts...)
		if err != nil {
			continue // a file that is created, say
		}
		for _, c := range less.Changes() {
			if c.Path == f.Path && len(parts) > 0 && c.Old.Hash != c.New.Hash {
				t.Fatalf("%s is changed, though all was rejected", f.Path)
			}
		}
	}
}
