package revise_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/suite"
)

const eight = "1\n2\n3\n4\n5\n6\n7\n8\n"

// planOf plans steps on one file, a.txt.
func planOf(t testing.TB, text string, steps ...actions.Action) (afero.Fs, *millrace.Plan) {
	t.Helper()
	fsys := suite.Tree("a.txt", text)
	b := millrace.New("plan")
	var last millrace.StepBuilder
	for i, a := range steps {
		last = b.Step(fmt.Sprint("s", i), a)
		b = last.Builder
	}
	p, err := last.Build()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	return fsys, plan
}

func lineEdits(edits ...actions.LineEdit) actions.Action {
	return actions.EditFiles{FileEdits: []actions.FileEdits{{Path: "a.txt", Edits: edits}}}
}

// TestRejectHunksKeepsEditsThatTheDiffMoves: a diff may show a change a line lower than it was made, or joined with
// another change. Such changes stay when the hunk above them is rejected, and their hunk names the right authors.
func TestRejectHunksKeepsEditsThatTheDiffMoves(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text  string
		steps []actions.Action
		by    []change.Origin // authors of the second hunk
		want  string
	}{
		"a line inserted above an equal line": {
			text:  "T\n" + eight + "}\nz\n",
			steps: []actions.Action{lineEdits(actions.ReplaceLines(1, 1, "U\n"), actions.InsertAfter(9, "}\n"), actions.InsertAfter(10, "new\n"))},
			by:    []change.Origin{{Step: "s0", Edit: 1}, {Step: "s0", Edit: 2}},
			want:  "T\n" + eight + "}\n}\nnew\nz\n",
		},
		"lines printed twice": {
			text:  "T\n" + eight + "foo\nfoo\nfoo2\n",
			steps: []actions.Action{actions.PatternReplace{FilePattern: "a.txt", SedPattern: []string{"s/T/U/;/foo/p"}}},
			by:    []change.Origin{{Step: "s0"}},
			want:  "T\n" + eight + "foo\nfoo\nfoo\nfoo\nfoo2\nfoo2\n",
		},
		"the first of equal lines removed": {
			text: "T\n" + eight + "x\nx\nx\ny\n",
			steps: []actions.Action{lineEdits(
				actions.ReplaceLines(1, 1, "U\n"), actions.ReplaceLines(10, 10, ""), actions.ReplaceLines(13, 13, "z\n"),
			)},
			by:   []change.Origin{{Step: "s0", Edit: 1}, {Step: "s0", Edit: 2}},
			want: "T\n" + eight + "x\nx\nz\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys, plan := planOf(t, test.text, test.steps...)
			hunks := hunksOf(t, plan)
			if len(hunks) != 2 {
				t.Fatalf("%d hunks: %v", len(hunks), hunks)
			}
			if d := cmp.Diff(test.by, hunks[1].By); d != "" {
				t.Errorf("who made the hunk (-want +got):\n%s", d)
			}
			less, err := plan.RejectHunks("a.txt", 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := less.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, suite.Read(t, fsys, "a.txt")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// threePlaces returns a plan with two hunks, the second of which has two parts.
func threePlaces(t testing.TB) (afero.Fs, *millrace.Plan) {
	return planOf(t, "x one\n"+eight+"x two\nbetween\nx three\n", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "yy"})
}

func TestRevise(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	for name, test := range map[string]struct {
		parts func(hunks []millrace.Hunk) []millrace.Part
		want  string
		edits int
		by    []change.Origin
	}{
		"nothing": {
			parts: func([]millrace.Hunk) []millrace.Part { return nil },
			want:  "yy one\n" + eight + "yy two\nbetween\nyy three\n", edits: 3, by: []change.Origin{{Step: "s0"}},
		},
		"a part of a hunk as it was": {
			parts: func(h []millrace.Hunk) []millrace.Part { return []millrace.Part{{Hunk: h[1].Split()[0]}} },
			want:  "yy one\n" + eight + "x two\nbetween\nyy three\n", edits: 2, by: []change.Origin{{Step: "s0"}},
		},
		"all parts refer to the one plan": {
			parts: func(h []millrace.Hunk) []millrace.Part { return []millrace.Part{{Hunk: h[1].Split()[1]}, {Hunk: h[0]}} },
			want:  "x one\n" + eight + "yy two\nbetween\nx three\n", edits: 1, by: []change.Origin{{Step: "s0"}},
		},
		"another text": {
			parts: func(h []millrace.Hunk) []millrace.Part {
				return []millrace.Part{{Hunk: h[0], Text: text("above\nzz one\n1\n2\n3\n")}, {Hunk: h[1]}}
			},
			want: "above\nzz one\n" + eight + "x two\nbetween\nx three\n", edits: 1, by: []change.Origin{{Step: "(review)"}},
		},
		"another text for a part": {
			parts: func(h []millrace.Hunk) []millrace.Part {
				return []millrace.Part{{Hunk: h[1].Split()[1], Text: text("between\nmine")}}
			},
			want: "yy one\n" + eight + "yy two\nbetween\nmine\n", edits: 3, by: []change.Origin{{Step: "s0"}, {Step: "(review)"}},
		},
		"two parts that show the same line": {
			parts: func(h []millrace.Hunk) []millrace.Part {
				p := h[1].Split()
				return []millrace.Part{{Hunk: p[1], Text: text("between\nthird\n")}, {Hunk: p[0], Text: text("6\n7\n8\nsecond\nbetween\n")}}
			},
			want:  "yy one\n" + eight + "second\nbetween\nthird\n",
			edits: 3, by: []change.Origin{{Step: "s0"}, {Step: "(review)", Edit: 1}, {Step: "(review)"}},
		},
		"the text that was planned": {
			parts: func(h []millrace.Hunk) []millrace.Part {
				return []millrace.Part{{Hunk: h[0], Text: text("yy one\n1\n2\n3\n")}}
			},
			want: "yy one\n" + eight + "yy two\nbetween\nyy three\n", edits: 3, by: []change.Origin{{Step: "s0"}},
		},
		"the text that was there": {
			parts: func(h []millrace.Hunk) []millrace.Part {
				return []millrace.Part{{Hunk: h[0], Text: text("x one\n1\n2\n3\n")}}
			},
			want: "x one\n" + eight + "yy two\nbetween\nyy three\n", edits: 2, by: []change.Origin{{Step: "s0"}},
		},
		"no lines at all": {
			parts: func(h []millrace.Hunk) []millrace.Part { return []millrace.Part{{Hunk: h[1], Text: text("")}} },
			want:  "yy one\n1\n2\n3\n4\n5\n", edits: 2, by: []change.Origin{{Step: "s0"}, {Step: "(review)"}},
		},
		"hunks that were stored": {
			parts: func(h []millrace.Hunk) []millrace.Part {
				data, err := json.Marshal(h[1].Split()[0])
				if err != nil {
					t.Fatal(err)
				}
				var back millrace.Hunk
				if err := json.Unmarshal(data, &back); err != nil {
					t.Fatal(err)
				}
				return []millrace.Part{{Hunk: back}}
			},
			want: "yy one\n" + eight + "x two\nbetween\nyy three\n", edits: 2, by: []change.Origin{{Step: "s0"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys, plan := threePlaces(t)
			revised, err := plan.Revise("a.txt", test.parts(hunksOf(t, plan))...)
			if err != nil {
				t.Fatal(err)
			}
			if got := revised.Result().TotalEdits; got != test.edits {
				t.Errorf("%d edits, want %d", got, test.edits)
			}
			if got := revised.Changes()[0].By; !cmp.Equal(got, test.by) {
				t.Errorf("by %v, want %v", got, test.by)
			}
			stored, err := json.Marshal(revised)
			if err != nil {
				t.Fatal(err)
			}
			opened, err := millrace.Executor{}.OpenPlan(t.Context(), fsys, stored)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := opened.Diff(), revised.Diff(); got != want || got == "" {
				t.Errorf("the diff of the stored plan is\n%s, not\n%s", got, want)
			}
			if got, want := opened.Result().TotalEdits, test.edits; got != want {
				t.Errorf("the stored plan has %d edits, want %d", got, want)
			}
			res, err := opened.Commit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, suite.Read(t, fsys, "a.txt")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if _, err := (millrace.Executor{}).Restore(t.Context(), fsys, res.BackupID); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRevisedPlansKeepTheirSplices: the remaining change of an edited file still consists of the original edits, so
// that a preview can show their bytes and a large file needs little memory.
func TestRevisedPlansKeepTheirSplices(t *testing.T) {
	t.Parallel()
	_, plan := threePlaces(t)
	all := plan.Changes()[0].Splices
	hunks := hunksOf(t, plan)
	mine := "between\nmine\n"
	for name, test := range map[string]struct {
		parts []millrace.Part
		want  []change.Splice
	}{
		"some":        {[]millrace.Part{{Hunk: hunks[1].Split()[0]}}, []change.Splice{all[0], all[2]}},
		"with a text": {[]millrace.Part{{Hunk: hunks[1].Split()[1], Text: &mine}}, []change.Splice{all[0], all[1]}},
	} {
		revised, err := plan.Revise("a.txt", test.parts...)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(test.want, revised.Changes()[0].Splices[:2]); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestReviseWhereTheDiffMoves: a reviewer's text may change unchanged lines in which the edit of another hunk, shown
// further down, was made.
func TestReviseWhereTheDiffMoves(t *testing.T) {
	t.Parallel()
	xs := strings.Repeat("x\n", 12)
	fsys, plan := planOf(t, "T\ns\n"+xs+"end\n", lineEdits(actions.ReplaceLines(1, 1, "U\n"), actions.InsertAfter(3, "x\n")))
	hunks := hunksOf(t, plan)
	if len(hunks) != 2 || hunks[0].OldLines != 4 {
		t.Fatalf("hunks %v", hunks)
	}
	mine := "mine\n"
	revised, err := plan.Revise("a.txt", millrace.Part{Hunk: hunks[0], Text: &mine})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := revised.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := suite.Read(t, fsys, "a.txt"), "mine\n"+xs[4:]+"x\nend\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestReviseAgain: texts of successive revisions have their own origins, and are not steps.
func TestReviseAgain(t *testing.T) {
	t.Parallel()
	_, plan := threePlaces(t)
	for i, line := range []string{"first\n1\n2\n3\n", "6\n7\n8\nsecond\nbetween\n"} {
		hunk := hunksOf(t, plan)[i].Split()[0]
		var err error
		if plan, err = plan.Revise("a.txt", millrace.Part{Hunk: hunk, Text: &line}); err != nil {
			t.Fatal(err)
		}
	}
	hunks := hunksOf(t, plan)
	want := []change.Origin{{Step: "s0"}, {Step: "(review)", Edit: 1}}
	if d := cmp.Diff(want, hunks[1].By); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := hunks[1].Steps(); !cmp.Equal(got, []string{"s0"}) {
		t.Errorf("steps %q", got)
	}
	if got := hunks[0].Steps(); len(got) != 0 {
		t.Errorf("steps %q", got)
	}
}

// TestReviseKeepsTheFormOfTheFile: line ends, the byte order mark, and whether the last line is complete.
func TestReviseKeepsTheFormOfTheFile(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, old, new, mine, want string }{
		"CRLF":                       {"x\r\nb\r\n", "x", "y", "z\nb\n", "z\r\nb\r\n"},
		"CRLF that is there":         {"x\r\nb\r\n", "x", "y", "z\r\nzz\nb\r\n", "z\r\nzz\r\nb\r\n"},
		"mixed":                      {"x\r\nb\n", "x", "y", "z\nb\n", "z\nb\n"},
		"no line end at the end":     {"a\nx", "x", "y", "a\nz\n", "a\nz"},
		"nor with CRLF":              {"a\r\nx", "x", "y", "a\nz\n", "a\r\nz"},
		"a line end at the end":      {"a\nx\n", "x", "y", "a\nz", "a\nz\n"},
		"only the line end changes":  {"a\nx", "x", "x\n", "a\nz\n", "a\nz\n"},
		"the line end is removed":    {"a\nx", "x", "x\n", "a\nz", "a\nz"},
		"byte order mark":            {"\ufeffx\nb\n", "x", "y", "z\nb\n", "\ufeffz\nb\n"},
		"byte order mark that stays": {"\ufeffx\nb\n", "x", "y", "\ufeffz\nb\n", "\ufeffz\nb\n"},
		"byte order mark alone":      {"\ufeffx\nb\n", "x", "y", "", "\ufeff"},
		"in the middle":              {"x\n" + eight, "x", "y", "z\n1\n2\n3", "z\n" + eight},
		"everything":                 {"x\nb\n", "x", "y", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys, plan := planOf(t, test.text, actions.Edit{Files: []string{"a.txt"}, OldText: test.old, NewText: test.new})
			revised, err := plan.Revise("a.txt", millrace.Part{Hunk: hunksOf(t, plan)[0], Text: &test.mine})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := revised.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := suite.Read(t, fsys, "a.txt"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
