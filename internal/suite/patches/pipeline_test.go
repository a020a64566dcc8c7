package patches_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/suite"
)

// decodeOne decodes a pipeline of one step with these parameters, and more steps before it.
func decodeOne(t *testing.T, d millrace.Decoder, params map[string]any, before ...string) (millrace.Pipeline, error) {
	t.Helper()
	text, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	steps := append(before, `{"id":"p","action":"patch","params":`+string(text)+`}`)
	return d.Decode([]byte(`{"name":"n","steps":[` + strings.Join(steps, ",") + `]}`))
}

const simple = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n"

// TestPatchAsJSON: problems of the parameters are reported before anything runs, each at its place.
func TestPatchAsJSON(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		params map[string]any
		want   string
	}{
		"good":                     {map[string]any{"patch": simple, "strip": 1, "fuzz": 3, "ambiguous": "nearest", "tolerance": "indent"}, ""},
		"no patch":                 {map[string]any{"format": "auto"}, "patch"},
		"unknown format":           {map[string]any{"patch": simple, "format": "ed"}, "/steps/0/params/format"},
		"unknown parameter":        {map[string]any{"patch": simple, "strips": 1}, "strips"},
		"too much fuzz":            {map[string]any{"patch": simple, "fuzz": 4}, "fuzz is 4, and can be 0 to 3"},
		"negative strip":           {map[string]any{"patch": simple, "strip": -1}, "strip"},
		"text that is not a patch": {map[string]any{"patch": "nothing"}, "this is not a patch"},
		"cut off":                  {map[string]any{"patch": "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n"}, "line 5 of the patch: the patch ends within a hunk"},
		"fuzz of another form":     {map[string]any{"patch": "f\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", "fuzz": 1}, "'fuzz' is only for unified diffs"},
		"reverse of an add":        {map[string]any{"patch": "*** Begin Patch\n*** Add File: f\n+a\n*** End Patch\n", "reverse": true}, "'reverse' is only for unified diffs"},
		"braces that stay text":    {map[string]any{"patch": strings.ReplaceAll(simple, "B", "{{ .Values.x }} {{p.files}}")}, ""},
	} {
		for _, d := range []millrace.Decoder{{}, {Lenient: true}} {
			p, err := decodeOne(t, d, test.params)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("%s: %v", name, err)
			case test.want == "":
				text, err := json.Marshal(p)
				if err != nil {
					t.Fatal(err)
				}
				if again, err := millrace.Decode(text); err != nil || !again.Equal(p) {
					t.Errorf("%s: after JSON it differs: %v\n%s", name, err, text)
				}
			case err == nil && !d.Lenient:
				t.Errorf("%s is accepted", name)
			case err != nil && !strings.Contains(err.Error(), test.want):
				t.Errorf("%s: %v, want %q", name, err, test.want)
			}
		}
	}
}

// TestPatchOfAnyBytes: JSON keeps a patch with bytes that are not UTF-8, such as the diff of a plan, and it applies.
func TestPatchOfAnyBytes(t *testing.T) {
	t.Parallel()
	fsys := suite.Tree("f", "caf\xe9\n")
	edit := actions.Edit{Files: []string{"f"}, OldText: "caf", NewText: "th"}
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, suite.One(edit))
	if err != nil {
		t.Fatal(err)
	}
	diff := plan.Diff()
	text, err := json.Marshal(suite.One(actions.Patch{Text: diff}))
	if err != nil {
		t.Fatal(err)
	}
	p, err := millrace.Decode(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if _, err := millrace.Run(t.Context(), fsys, p); err != nil {
		t.Fatalf("%v\n%q", err, diff)
	}
	if got, err := afero.ReadFile(fsys, "f"); err != nil || string(got) != "th\xe9\n" {
		t.Errorf("the file is %q, %v", got, err)
	}
}

// TestPatchOfAStep: the text can come from a step before, as a whole; braces within a patch are text.
func TestPatchOfAStep(t *testing.T) {
	t.Parallel()
	fsys := suite.Tree("f", "a\nb\n", "f.new", "a\n{{p.files}}\n")
	p, err := decodeOne(t, millrace.Decoder{}, map[string]any{"patch": "{{d.aggregated_content}}"},
		`{"id":"d","action":"diff","params":{"file_a":"f","file_b":"f.new"}}`)
	if err != nil {
		t.Fatal(err)
	}
	result, err := (millrace.Executor{}).Run(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	if got := suite.Read(t, fsys, "f"); got != "a\n{{p.files}}\n" {
		t.Errorf("f is %q after %v", got, result.AllWarnings())
	}
}

// TestPatchResult: the result of a step.
func TestPatchResult(t *testing.T) {
	t.Parallel()
	fsys := suite.Tree("f", "a\nb\n", "g", "1\n2\n", "gone", "x\n", "bad", "q\n")
	text := simple + "@@ -9 +9 @@\n-zz\n+y\n" // the second hunk of f fails
	text = simple + "diff --git a/g b/h\nrename from g\nrename to h\n--- a/g\n+++ b/h\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n" +
		"--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+n\n" +
		"--- a/bad\n+++ b/bad\n@@ -1 +1 @@\n-a\n+b\n" + strings.TrimPrefix(text, simple)
	result, err := (millrace.Executor{}).Run(t.Context(), fsys, pipeline(actions.Patch{Text: text, OnError: "continue"}))
	if err != nil {
		t.Fatal(err)
	}
	s := result.Results[0]
	if d := cmp.Diff([]string{"f", "gone", "h", "n"}, s.FilesMatched); d != "" {
		t.Errorf("files: %s", d)
	}
	if d := cmp.Diff(map[string]int{"f": 1, "gone": 1, "h": 1, "n": 1}, s.Counts); d != "" {
		t.Errorf("counts: %s", d)
	}
	if d := cmp.Diff(map[string]string{"g": "h"}, s.Renames); d != "" {
		t.Errorf("renames: %s", d)
	}
	var reports []string
	for _, f := range s.Files {
		line := fmt.Sprint(f.Path, " ", f.Success, " ", *f.EditsApplied, " ", *f.EditsFailed)
		for _, e := range f.FailedEdits {
			line += fmt.Sprint(" ", e.Index, e.Command)
		}
		if (f.ContentHash == "") != (f.Path == "gone" || !f.Success) {
			line += " hash " + f.ContentHash
		}
		reports = append(reports, line)
	}
	if d := cmp.Diff([]string{"bad false 0 2 0hunk 1hunk", "f true 1 0", "gone true 1 0", "h true 1 0", "n true 1 0"}, reports); d != "" {
		t.Errorf("reports: %s", d)
	}
	if s.EditsApplied != 4 {
		t.Errorf("%d edits", s.EditsApplied)
	}
}

// TestPatchErrors: errors have types of their own, and nothing is changed.
func TestPatchErrors(t *testing.T) {
	t.Parallel()
	files := []string{"f", "a\nb\nx\na\nb\n", "d/secret", "s\n", "r", "r\n"}
	fsys := suite.Tree(files...)
	e := millrace.Executor{DeniedPaths: []string{"d/**"}, ReadOnlyPaths: []string{"r"}}
	for name, test := range map[string]struct {
		patch string
		is    error
		as    func(error) bool
	}{
		"ambiguous": {strings.ReplaceAll(simple, "-1,2 +1,2", "-9,2 +9,2"), nil, func(err error) bool {
			e, ok := errors.AsType[*actions.AmbiguousHunkError](err)
			return ok && cmp.Equal(e.Lines, []int{1, 4})
		}},
		"missing": {strings.ReplaceAll(simple, "\n a", "\n c"), nil, func(err error) bool {
			e, ok := errors.AsType[*actions.MissingHunkError](err)
			return ok && e.Line == 1 && e.Want == "c" && e.Found == "a"
		}},
		"no file":    {strings.ReplaceAll(simple, "/f", "/g"), fs.ErrNotExist, nil},
		"exists":     {"--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n", fs.ErrExist, nil},
		"denied":     {"--- a/d/secret\n+++ b/d/secret\n@@ -1 +1 @@\n-s\n+t\n", fsutil.ErrDenied, nil},
		"read-only":  {"--- a/r\n+++ b/r\n@@ -1 +1 @@\n-r\n+t\n", fsutil.ErrReadOnlyPath, nil},
		"made there": {"diff --git a/f b/d/g\nrename from f\nrename to d/g\n", fsutil.ErrDenied, nil},
		"removed":    {"--- a/r\n+++ /dev/null\n@@ -1 +0,0 @@\n-r\n", fsutil.ErrReadOnlyPath, nil},
	} {
		_, err := e.Run(t.Context(), fsys, pipeline(actions.Patch{Text: test.patch}))
		failed := millrace.DescribeError(err)
		if len(failed.Paths) != 1 || strings.Count(err.Error(), " of the patch): ") != 1 || test.is != nil && !errors.Is(err, test.is) || test.as != nil && !test.as(err) {
			t.Errorf("%s: %v", name, err)
		}
		for i := 0; i < len(files); i += 2 {
			if got, err := afero.ReadFile(fsys, files[i]); err != nil || string(got) != files[i+1] {
				t.Errorf("%s: %s is %q, %v", name, files[i], got, err)
			}
		}
		// If one file is refused, another file is patched nevertheless.
		result, err := e.Run(t.Context(), suite.Tree(append(files, "o", "1\n")...),
			pipeline(actions.Patch{Text: test.patch + "diff --git a/o b/o\n--- a/o\n+++ b/o\n@@ -1 +1 @@\n-1\n+2\n", OnError: "continue"}))
		if err != nil || !cmp.Equal(result.FilesAffected, []string{"o"}) {
			t.Errorf("%s, continued: %v, %v", name, result, err)
		}
	}
}

// TestPatchHunks: each hunk of a plan names the hunk of the patch that has made it.
func TestPatchHunks(t *testing.T) {
	t.Parallel()
	fsys := suite.Tree("f", suite.Far)
	text := "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-first x\n+first y\n 2\n@@ -10,2 +10,2 @@\n 10\n-last x\n+last y\n"
	plan, err := (millrace.Executor{}).Plan(t.Context(), fsys, pipeline(actions.Patch{Text: text}))
	if err != nil {
		t.Fatal(err)
	}
	files, err := plan.Files()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range files[0].Hunks {
		got = append(got, fmt.Sprint(h.OldStart, " ", h.By))
	}
	if d := cmp.Diff([]string{"1 [{p 0}]", "8 [{p 1}]"}, got); d != "" {
		t.Error(d)
	}
}
