package plans_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

func TestPlanStoredAndCommittedElsewhere(t *testing.T) {
	for name, open := range suite.Backends() {
		t.Run(name, func(t *testing.T) {
			fsys := open(t)
			in := []txtarfs.File{{Name: "a.txt", Data: []byte(suite.Far)}, {Name: "b/c.txt", Data: []byte("c x\n")}, {Name: "gone.txt", Data: []byte("gone\n")}}
			if err := txtarfs.Write(fsys, in); err != nil {
				t.Fatal(err)
			}
			p := millrace.New("all").
				Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).
				Step("move", actions.Rename{Files: []string{"b/c.txt"}, Destination: "d"}).
				Step("edit-moved", actions.Edit{OldText: "x", NewText: "y"}).From("move").
				Step("copy", actions.Copy{Files: []string{"gone.txt"}, Destination: "d"}).
				Step("delete", actions.Delete{Files: []string{"gone.txt"}}).
				MustBuild()
			var x millrace.Executor
			plan, err := x.Plan(t.Context(), fsys, p)
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(plan)
			if err != nil {
				t.Fatal(err)
			}
			opened, err := x.OpenPlan(t.Context(), fsys, data)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(plan.Diff(), opened.Diff()); d != "" {
				t.Errorf("diff of the opened plan (-made +opened):\n%s", d)
			}
			res, err := opened.Commit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := []txtarfs.File{{Name: "a.txt", Data: []byte(strings.ReplaceAll(suite.Far, "x", "y"))}, {Name: "d/c.txt", Data: []byte("c y\n")}, {Name: "d/gone.txt", Data: []byte("gone\n")}}
			suite.CheckTree(t, "after the commit", fsys, want)
			if _, err := x.Restore(t.Context(), fsys, res.BackupID); err != nil {
				t.Fatal(err)
			}
			suite.CheckTree(t, "after the restore", fsys, in)
			if _, err := opened.Commit(t.Context()); !errors.Is(err, millrace.ErrCommitted) {
				t.Errorf("second commit: %v", err)
			}
		})
	}
}

func TestConflictNamesEveryFile(t *testing.T) {
	for name, open := range suite.Backends() {
		t.Run(name, func(t *testing.T) {
			fsys := open(t)
			if err := txtarfs.Write(fsys, []txtarfs.File{{Name: "a.txt", Data: []byte("x a\n")}, {Name: "b.txt", Data: []byte("x b\n")}, {Name: "c.txt", Data: []byte("x c\n")}}); err != nil {
				t.Fatal(err)
			}
			plan, err := millrace.Executor{}.Plan(t.Context(), fsys, suite.Edit("a.txt", "b.txt", "c.txt"))
			if err != nil {
				t.Fatal(err)
			}
			// An editor saves one file, with the same length; another file is removed.
			if err := afero.WriteFile(fsys, "a.txt", []byte("x A\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := fsys.Remove("c.txt"); err != nil {
				t.Fatal(err)
			}
			res, err := plan.Commit(t.Context())
			conflict, ok := errors.AsType[*millrace.ConflictError](err)
			if !ok {
				t.Fatalf("error %v is not a *ConflictError", err)
			}
			var paths []string
			for _, c := range conflict.Conflicts {
				paths = append(paths, c.Path)
			}
			if !slices.Equal(paths, []string{"a.txt", "c.txt"}) {
				t.Errorf("conflicts %v", conflict.Conflicts)
			}
			suite.CheckTree(t, "after the conflict", fsys, []txtarfs.File{{Name: "a.txt", Data: []byte("x A\n")}, {Name: "b.txt", Data: []byte("x b\n")}})
			if res == nil || res.Success || res.Error == "" {
				t.Errorf("result %v", res)
			}
		})
	}
}

// TestConflictErrorIsShort: the text has ten paths and the number of the others, the error has all.
func TestConflictErrorIsShort(t *testing.T) {
	var conflict millrace.ConflictError
	for i := range 12 {
		conflict.Conflicts = append(conflict.Conflicts, millrace.Conflict{Path: fmt.Sprint("f", i), Reason: "moved"})
	}
	text := conflict.Error()
	if !strings.Contains(text, "f9") || strings.Contains(text, "f10") || !strings.Contains(text, " and 2 more. ") {
		t.Error(text)
	}
	if n := len(conflict.Paths()); n != 12 {
		t.Errorf("%d paths", n)
	}
}

func TestRejectHunks(t *testing.T) {
	fsys := suite.Tree("a.txt", suite.Far, "b.txt", "x\n")
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, suite.Edit("a.txt", "b.txt"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := plan.Files()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 2 || len(files[0].Hunks) != 2 || !slices.Equal(files[0].Hunks[1].By, []change.Origin{{Step: "e"}}) {
		t.Fatalf("files %+v", files)
	}
	less, err := plan.RejectHunks("a.txt", 0)
	if err != nil {
		t.Fatal(err)
	}
	if less, err = less.Reject("b.txt"); err != nil {
		t.Fatal(err)
	}
	if got := less.Result().TotalEdits; got != 1 {
		t.Errorf("total edits %d", got)
	}
	if got := plan.Result().TotalEdits; got != 3 {
		t.Errorf("the first plan has changed: total edits %d", got)
	}
	res, err := less.Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(millrace.FilesChanged{Modified: []string{"a.txt"}}, res.FilesChanged); d != "" {
		t.Errorf("files changed (-want +got):\n%s", d)
	}
	if got, want := suite.Read(t, fsys, "a.txt"), strings.Replace(suite.Far, "last x", "last y", 1); got != want {
		t.Errorf("got %q", got)
	}
	if got := suite.Read(t, fsys, "b.txt"); got != "x\n" {
		t.Errorf("the rejected file is %q", got)
	}
}

// Files of some paths returns a part of all files, in the same order, and reads no other file.
func TestFilesOfSomePaths(t *testing.T) {
	fsys := suite.Tree("a.txt", "x\n", "d/b.txt", "x\n", "d/c/c.txt", "x\n", "d-b.txt", "x\n", "d0", "x\n")
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, suite.Edit("a.txt", "d/b.txt", "d/c/c.txt", "d-b.txt", "d0"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := plan.Files()
	if err != nil || len(all) != 5 {
		t.Fatalf("%d files, %v", len(all), err)
	}
	for _, test := range []struct{ paths, want []string }{
		{[]string{"."}, []string{"a.txt", "d-b.txt", "d/b.txt", "d/c/c.txt", "d0"}},
		{[]string{"d"}, []string{"d/b.txt", "d/c/c.txt"}},
		{[]string{"d0", "d/c", "a.txt", "d0"}, []string{"a.txt", "d/c/c.txt", "d0"}},
	} {
		files, err := plan.Files(test.paths...)
		var want []millrace.FileDiff
		for _, f := range all {
			if slices.Contains(test.want, f.Path) {
				want = append(want, f)
			}
		}
		if d := cmp.Diff(suite.JSON(t, want), suite.JSON(t, files)); err != nil || d != "" {
			t.Errorf("%q: %v (-want +got):\n%s", test.paths, err, d)
		}
	}
	for _, paths := range [][]string{{""}, {"d/"}, {"b.txt"}, {"a.txt", "c"}, {"d/b.txt/x"}} {
		if files, err := plan.Files(paths...); err == nil || !strings.Contains(err.Error(), "changes nothing there") {
			t.Errorf("%q: %v, %v", paths, files, err)
		}
	}
	stored := suite.Stored(t, plan)
	if plan, err = (millrace.Executor{}).OpenPlan(t.Context(), fsys, stored); err != nil {
		t.Fatal(err)
	}
	if err := afero.WriteFile(fsys, "d/b.txt", []byte("other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Files("a.txt", "d/c"); err != nil {
		t.Errorf("files that were not requested are read: %v", err)
	}
	if _, err := plan.Files("d"); !errors.Is(err, fsutil.ErrDrift) {
		t.Errorf("a file that has changed: %v", err)
	}
}

// TestWriteDiffOfSomePaths writes the sections of some files and directories, and reads no other file.
func TestWriteDiffOfSomePaths(t *testing.T) {
	fsys := suite.Tree("a.txt", "x\n", "d/b.txt", "x\n", "d/c.txt", "x\n", "db.txt", "x\n", "e.txt", "e\n")
	p := millrace.New("some").
		Step("edit", actions.Edit{Files: []string{"a.txt", "d/b.txt", "d/c.txt", "db.txt"}, OldText: "x", NewText: "y"}).
		Step("move", actions.Rename{Files: []string{"e.txt"}, To: "d/e.txt"}).
		MustBuild()
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	diff := func(paths ...string) string {
		var b strings.Builder
		if err := plan.WriteDiff(&b, paths...); err != nil {
			t.Errorf("%q: %v", paths, err)
		}
		return b.String()
	}
	sections := strings.SplitAfter(strings.ReplaceAll(plan.Diff(), "diff --git", "\x00diff --git"), "\x00")
	for i := range sections {
		sections[i] = strings.TrimSuffix(sections[i], "\x00")
	}
	if len(sections) != 6 {
		t.Fatalf("sections %q", sections)
	}
	all := strings.Join(sections, "")
	for _, test := range []struct {
		paths []string
		want  string
	}{
		{nil, all},
		{[]string{"."}, all},
		{[]string{"a.txt"}, sections[1]},
		{[]string{"d"}, sections[2] + sections[3] + sections[4]},
		{[]string{"d/e.txt", "a.txt", "d/e.txt"}, sections[1] + sections[4]},
	} {
		if d := cmp.Diff(test.want, diff(test.paths...)); d != "" {
			t.Errorf("%q (-want +got):\n%s", test.paths, d)
		}
	}
	for _, bad := range []string{"", "b.txt", "e.txt", "a.txt/x"} {
		var b strings.Builder
		if err := plan.WriteDiff(&b, "a.txt", bad); err == nil || !strings.Contains(err.Error(), "the plan changes nothing there") || b.Len() > 0 {
			t.Errorf("%q: %v, %q", bad, err, b.String())
		}
	}
	stored, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	if plan, err = (millrace.Executor{}).OpenPlan(t.Context(), fsys, stored); err != nil {
		t.Fatal(err)
	}
	if err := afero.WriteFile(fsys, "a.txt", []byte("other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := diff("db.txt"); got != sections[5] {
		t.Errorf("after another file has changed: %q", got)
	}
}

func TestRejectWhatTheRestNeeds(t *testing.T) {
	fsys := suite.Tree("a.txt", "a\n", "b.txt", "b\n", "d/e/f.txt", "f\n")
	p := millrace.New("move").
		Step("away", actions.Rename{Files: []string{"a.txt"}, To: "c.txt"}).
		Step("over", actions.Rename{Files: []string{"b.txt"}, To: "a.txt"}).
		Step("copy", actions.Copy{Files: []string{"c.txt"}, Destination: "new/dir"}).
		MustBuild()
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"c.txt":   "a.txt would stay, but the plan puts something else in its place",
		"nowhere": "the plan changes nothing there",
	} {
		if _, err := plan.Reject(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Reject(%s): %v, want %q", path, err, want)
		}
	}
	less, err := plan.Reject("new")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := less.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	suite.CheckTree(t, "after the commit", fsys, []txtarfs.File{{Name: "a.txt", Data: []byte("b\n")}, {Name: "c.txt", Data: []byte("a\n")}, {Name: "d/e/f.txt", Data: []byte("f\n")}})
}

// TestOpenPlanChecksEverything changes a stored plan as an attacker would who wants to write to a forbidden path.
func TestOpenPlanChecksEverything(t *testing.T) {
	fsys := suite.Tree("src/a.txt", "x\n", ".git/config", "x\n", "other/b.txt", "x\n")
	x := millrace.Executor{AllowedPaths: []string{"src"}, MaxFiles: 1}
	plan, err := x.Plan(t.Context(), fsys, suite.Edit("src/a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	good, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.OpenPlan(t.Context(), fsys, good); err != nil {
		t.Fatalf("the unchanged plan: %v", err)
	}
	for name, change := range map[string][2]string{
		"escape":           {`"path":"src/a.txt"`, `"path":"../a.txt"`},
		"not clean":        {`"path":"src/a.txt"`, `"path":"src/../other/b.txt"`},
		"absolute":         {`"path":"src/a.txt"`, `"path":"/etc/passwd"`},
		"not allowed":      {`"path":"src/a.txt"`, `"path":"other/b.txt"`},
		"version control":  {`"path":"src/a.txt"`, `"path":"src/.git/config"`},
		"state directory":  {`"path":"src/a.txt"`, `"path":".millrace/x"`},
		"unknown field":    {`"version":1`, `"version":1,"extra":1`},
		"version":          {`"version":1`, `"version":2`},
		"trailing":         {`{"version":1`, `{} {"version":1`},
		"rename from afar": {`"kind":"modified"`, `"kind":"renamed","from":"other/b.txt"`},
		"device":           {`"new":{"kind":"file"`, `"new":{"kind":"other"`},
	} {
		t.Run(name, func(t *testing.T) {
			bad := strings.Replace(string(good), change[0], change[1], 1)
			if bad == string(good) {
				t.Fatalf("nothing was changed in %s", good)
			}
			_, err := x.OpenPlan(t.Context(), fsys, []byte(bad))
			if _, ok := errors.AsType[*millrace.PlanError](err); !ok {
				t.Errorf("error %v is not a *PlanError", err)
			}
		})
	}
	t.Run("other bytes", func(t *testing.T) {
		bad := strings.Replace(string(good), `"text":"eQ=="`, `"text":"eg=="`, 1)
		opened, err := x.OpenPlan(t.Context(), fsys, []byte(bad))
		if err != nil || bad == string(good) {
			t.Fatal(err)
		}
		if _, err := opened.Commit(t.Context()); err == nil {
			t.Error("a plan with other bytes than its hash was committed")
		}
		if got := suite.Read(t, fsys, "src/a.txt"); got != "x\n" {
			t.Errorf("src/a.txt is %q", got)
		}
	})
	t.Run("fewer edits claimed", func(t *testing.T) {
		fsys := suite.Tree("src/a.txt", strings.Repeat("x\n", 1200))
		plan, err := x.Plan(t.Context(), fsys, suite.Edit("src/a.txt"))
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(plan)
		if err != nil {
			t.Fatal(err)
		}
		bad := strings.Replace(string(data), `"total_edits":1200`, `"total_edits":0`, 1)
		opened, err := x.OpenPlan(t.Context(), fsys, []byte(bad))
		if err != nil || bad == string(data) {
			t.Fatal(err)
		}
		if _, err := opened.Commit(t.Context()); err == nil || err.Error() != "operation blocked due to CRITICAL risk. Use force=true to proceed" {
			t.Errorf("commit: %v", err)
		}
	})
}
