package runs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/risk"
)

// TestEditFilesHunks: each hunk of a plan names the edits of the file that made it, even if a whole text was replaced.
func TestEditFilesHunks(t *testing.T) {
	fsys := suite.Tree("a.txt", suite.Far, "b.txt", suite.Far)
	create := actions.CreateText(strings.Replace(suite.Far, "last x", "last y", 1))
	create.Overwrite = true
	p := millrace.New("lines").Step("e", actions.EditFiles{FileEdits: []actions.FileEdits{
		{Path: "a.txt", Edits: []actions.LineEdit{
			actions.AppendText("end\n"), actions.ReplaceText("last", "LAST"), actions.ReplaceLines(1, 1, "first y\n"), actions.InsertAfter(0, "top\n"),
		}},
		{Path: "b.txt", Edits: []actions.LineEdit{actions.InsertAfter(0, "top\n"), create}},
	}}).MustBuild()
	plan, err := (millrace.Executor{}).Plan(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	files, err := plan.Files()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		for _, h := range f.Hunks {
			got = append(got, fmt.Sprint(f.Path, " ", h.OldStart, " ", h.By))
		}
	}
	want := []string{"a.txt 1 [{e 3} {e 2}]", "a.txt 8 [{e 1} {e 0}]", "b.txt 1 [{e 0}]", "b.txt 8 [{e 1}]"}
	if !slices.Equal(got, want) {
		t.Errorf("hunks %q, want %q", got, want)
	}
}

// TestEditFilesRoundTrip: a pipeline built in Go is the same after JSON, with its explicit zero and empty values and
// its bindings.
func TestEditFilesRoundTrip(t *testing.T) {
	edits := []actions.LineEdit{
		actions.CreateText(""), actions.ReplaceText("a", ""), actions.InsertAfter(0, "top\n"), actions.InsertAfter(-1, ""),
		actions.AppendText("{{find.files}}"), actions.ReplaceLines(2, -1, ""), {Command: "replace_lines", EndLine: 3, NewStr: new("")},
		{Command: "insert", NewStr: new("")},
	}
	p := millrace.New("all").
		Step("find", actions.Search{Pattern: "a"}).
		Step("e", actions.EditFiles{OnError: "continue", EOL: "as_given", Binary: true, FileEdits: []actions.FileEdits{{Path: "{{find.files[0]}}", Edits: edits}}}).
		Bind("/file_edits/0/edits/6/start_line", "{{find.files_count}}").
		Bind("/file_edits/0/edits/7/insert_line", "{{find.files_count}}").
		Step("c", actions.Create{Content: ""}).Bind("paths", "{{find.files}}").
		MustBuild()
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := millrace.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Equal(again) {
		t.Errorf("%s is a different pipeline", data)
	}
	_, err = millrace.New("bad").Step("find", actions.Search{Pattern: "a"}).
		Step("e", actions.EditFiles{FileEdits: []actions.FileEdits{{Path: "a", Edits: []actions.LineEdit{{Command: "insert", NewStr: new("")}}}}}).
		Build()
	if invalid, ok := errors.AsType[*millrace.ValidationError](err); !ok || len(invalid.Problems) != 1 || invalid.Problems[0].Pointer != "/steps/1/params/file_edits/0/edits/0/insert_line" {
		t.Errorf("an insert without a line: %v", err)
	}
}

// TestEditFilesMany: ten thousand edits of one file are counted, judged, shown and committed.
func TestEditFilesMany(t *testing.T) {
	const n = 10_000
	fsys := afero.NewMemMapFs()
	if err := afero.WriteFile(fsys, "a.txt", []byte(strings.Repeat("line\nother\n", n)), 0o644); err != nil {
		t.Fatal(err)
	}
	edits := make([]actions.LineEdit, n)
	for i := range edits {
		edits[i] = actions.ReplaceLines(2*i+1, 2*i+1, "LINE\n")
	}
	p := millrace.New("many").Step("e", actions.EditFiles{FileEdits: []actions.FileEdits{{Path: "a.txt", Edits: edits}}}).Builder.
		Options(millrace.Options{Force: true}).MustBuild()
	plan, err := (millrace.Executor{}).Plan(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	if res := plan.Result(); res.TotalEdits != n || res.OverallRiskLevel != risk.Critical {
		t.Errorf("%d edits, risk %v", res.TotalEdits, res.OverallRiskLevel)
	}
	if lines := strings.Count(plan.Diff(), "\n-line"); lines != n {
		t.Errorf("the diff has %d removed lines", lines)
	}
	if by := len(plan.Changes()[0].By); by != n {
		t.Errorf("%d edits have made the change", by)
	}
	if _, err := plan.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := suite.Read(t, fsys, "a.txt"); got != strings.Repeat("LINE\nother\n", n) {
		t.Errorf("%d bytes are wrong", len(got))
	}
}

// TestEditFilesTypedErrors: the cause of a failed step has a type in the error.
func TestEditFilesTypedErrors(t *testing.T) {
	fsys := afero.NewMemMapFs()
	if err := afero.WriteFile(fsys, "a.txt", []byte("a\na\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	stale := actions.AppendText("x")
	stale.ContentHash = change.HashOf(nil).String()
	p := millrace.New("wrong").Step("e", actions.EditFiles{FileEdits: []actions.FileEdits{
		{Path: "a.txt", Edits: []actions.LineEdit{
			actions.InsertAfter(3, "x"), actions.ReplaceText("b", "c"), actions.ReplaceText("a", "c"), stale,
			actions.ReplaceLines(1, 2, "x"), actions.InsertAfter(1, "y"),
		}},
		{Path: "gone.txt", Edits: []actions.LineEdit{actions.AppendText("x")}},
	}}).MustBuild()
	_, err := millrace.Run(t.Context(), fsys, p)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"a.txt: edit 0 (insert): Line number out of range: line 3 of 2; ",
		"a.txt: edit 1 (str_replace): String not found in file",
		"a.txt: edit 3 (append): File has changed: ",
		"a.txt: edit 5 (insert): Lines overlap: edits 4 and 5 ",
		"gone.txt: File not found",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nhas no %q", err, want)
		}
	}
	first, ok := errors.AsType[*actions.FileError](err)
	if !ok || first.Path != "a.txt" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the first file is %+v", first)
	}
	paths := millrace.DescribeError(err).Paths
	if !slices.Equal(paths, []string{"a.txt", "gone.txt"}) {
		t.Errorf("the paths are %q", paths)
	}
}
