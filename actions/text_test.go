package actions_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/stage"
)

var pieceTexts = []string{"a", "b", "ab", "ba", "x", " ", "\n", "\n", "\r\n", "é", "\xff", "_1"}

// pieceParts also has parts that cannot be searched in pieces.
var pieceParts = []string{"a", "b", "(a)", "[ab]+", "a*", "(b)?", "^", "$", `\b`, ".", `\w`, "é", "[^\n]", `\s`, "\\n",
	"x"}

func pieceText(r *rand.Rand, from []string, least, most int) string {
	var b strings.Builder
	for range least + r.IntN(most-least+1) {
		b.WriteString(from[r.IntN(len(from))])
	}
	return b.String()
}

// pieceActions returns one to three actions that search, count or edit, with random patterns.
func pieceActions(r *rand.Rand) (list []actions.Action) {
	text := func() string { return pieceText(r, pieceTexts, 1, 3) }
	regex := func() string { return pieceText(r, pieceParts, 1, 3) }
	edits := func() (all []actions.TextEdit) {
		for range 1 + r.IntN(3) {
			all = append(all, actions.TextEdit{OldText: text(), NewText: pieceText(r, pieceTexts, 0, 3)})
		}
		return all
	}
	for range 1 + r.IntN(3) {
		switch r.IntN(9) {
		case 0:
			list = append(list, actions.Edit{OldText: text(), NewText: pieceText(r, pieceTexts, 0, 3), Mode: "literal"})
		case 1:
			list = append(list, actions.Edit{OldText: regex(), NewText: "$0" + text(), Mode: "regex"})
		case 2:
			list = append(list, actions.MultiEdit{Edits: edits()})
		case 3:
			list = append(list, actions.MultiEdit{Edits: edits(), Mode: "simultaneous"})
		case 4:
			var all []actions.PatternEdit
			for range 1 + r.IntN(3) {
				flags := []string{"m", "m", "im", "", "s"}[r.IntN(5)]
				all = append(all, actions.PatternEdit{Pattern: regex(), Replacement: []string{"$0\n", "", "a", "<$0>"}[r.IntN(4)],
					Flags: flags})
			}
			list = append(list, actions.RegexTransform{Patterns: all})
		case 5:
			list = append(list, actions.CountOccurrences{Pattern: text(), IgnoreCase: r.IntN(2) == 0})
		case 6:
			list = append(list, actions.CountOccurrences{Pattern: regex(), Mode: "regex"})
		case 7:
			list = append(list, actions.EditFiles{FileEdits: []actions.FileEdits{{Path: "f", Edits: pieceEdits(r)}}})
		case 8:
			ranges := []actions.Range{{Start: 1 + r.IntN(4)}, {Start: -1 - r.IntN(3), End: -1}, {End: 1 + r.IntN(4)}}
			list = append(list, actions.ReadRanges{Ranges: ranges[r.IntN(3):]})
		}
	}
	return list
}

// pieceEdits returns edits of one file.
func pieceEdits(r *rand.Rand) (edits []actions.LineEdit) {
	for range 1 + r.IntN(4) {
		text := pieceText(r, pieceTexts, 0, 3)
		switch r.IntN(6) {
		case 0:
			edits = append(edits, actions.InsertAfter(r.IntN(4)-1, text))
		case 1:
			first := 1 + r.IntN(3)
			edits = append(edits, actions.ReplaceLines(first, first+r.IntN(2), text))
		case 2:
			edits = append(edits, actions.AppendText(text))
		case 3:
			edits = append(edits, actions.ReplaceText(pieceText(r, pieceTexts, 1, 3), text))
		case 4:
			all := actions.ReplaceText(pieceText(r, pieceTexts, 1, 2), text)
			all.ReplaceAll = true
			edits = append(edits, all)
		case 5:
			if !slices.ContainsFunc(edits, func(e actions.LineEdit) bool { return e.Command == "create" }) {
				create := actions.CreateText(pieceText(r, pieceTexts, 0, 20))
				create.Overwrite = true
				edits = append(edits, create)
			}
		}
	}
	return edits
}

// pieceRun is the visible result of a run.
type pieceRun struct {
	Outcomes []actions.Outcome
	Errors   []string
	Warnings []string
	Bytes    int64
	Changes  []change.Change
	Tree     files
}

func runPieces(t *testing.T, content string, list []actions.Action, limits actions.Limits,
	set func(*actions.Call)) pieceRun {
	t.Helper()
	base := afero.NewMemMapFs()
	write(t, base, files{"f": content})
	fsys := stage.New(base)
	fsys.SetMaxRead(limits.MaxFileBytes)
	defer fsys.Close()
	var run pieceRun
	for i, a := range list {
		step := fmt.Sprint("step", i)
		c := &actions.Call{
			FS: (*fsutil.Stage)(fsys.For(step, a.Spec().ReadOnly)), Step: step, Files: []string{"f"}, Limits: limits,
			OnWarning: func(w string) { run.Warnings = append(run.Warnings, w) },
			OnBytes:   func(n int64) { run.Bytes += n },
		}
		set(c)
		out, err := a.Run(t.Context(), c)
		run.Outcomes, run.Errors = append(run.Outcomes, out), append(run.Errors, fmt.Sprint(err))
		if err != nil {
			break // the step would be rolled back
		}
		if run.Changes, err = fsys.Changes(); err != nil {
			t.Fatal(err)
		}
	}
	if len(run.Errors) == 0 || run.Errors[len(run.Errors)-1] == "<nil>" {
		data, err := afero.ReadFile(fsys, "f")
		if err != nil {
			t.Fatal(err)
		}
		run.Tree = files{"f": string(data)}
	}
	return run
}

// TestPiecesProperty runs random actions on files in memory and on the same files read in pieces. All visible results
// must be equal: outcomes, errors, warnings, bytes counted, splices with their authors, hashes.
func TestPiecesProperty(t *testing.T) {
	t.Parallel()
	seed := fstest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 2))
	rounds := fstest.Runs(500, 2_500, 100_000)
	edits, failed := 0, 0
	for round := range rounds {
		content := pieceText(r, pieceTexts, 1, 40)
		list := pieceActions(r)
		var limits actions.Limits
		if r.IntN(10) == 0 {
			limits = actions.Limits{MaxMatches: 3, MaxOutputBytes: 10}
		}
		if r.IntN(10) == 0 {
			limits.MaxFileBytes = int64(len(content) - r.IntN(2)) // edits may make it larger
		}
		want := runPieces(t, content, list, limits, func(c *actions.Call) { actions.SetPieces(c, math.MaxInt64, 0, 0) })
		window, maxLine := 1+r.IntN(10), 0
		if r.IntN(3) == 0 {
			maxLine = 1 + r.IntN(10)
		}
		got := runPieces(t, content, list, limits, func(c *actions.Call) { actions.SetPieces(c, 1, window, maxLine) })
		if maxLine > 0 || want.Errors[len(want.Errors)-1] != "<nil>" {
			got.Bytes, want.Bytes = 0, 0 // an abandoned reading counts too
		}
		opt := []cmp.Option{cmpopts.IgnoreUnexported(change.Change{}), cmpopts.EquateEmpty(),
			cmpopts.IgnoreFields(change.State{}, "ModTime"), cmpopts.IgnoreFields(actions.FileReport{}, "LastModified")}
		if diff := cmp.Diff(want, got, opt...); diff != "" {
			t.Fatalf("seed %d, round %d: %#v on %q, window %d, line %d\n(-whole +pieces):\n%s", seed, round, list, content, window, maxLine, diff)
		}
		for i, out := range want.Outcomes {
			edits += out.Edits
			if want.Errors[i] != "<nil>" {
				failed++
			}
		}
	}
	if edits < rounds || failed < rounds/100 {
		t.Errorf("only %d edits and %d errors in %d rounds", edits, failed, rounds)
	}
	fstest.Countf(t, "%d random runs of actions with %d edits and %d errors", rounds, edits, failed)
}

// TestSearchInPieces is the same test for search, which reads only files larger than its buffer in pieces.
func TestSearchInPieces(t *testing.T) {
	t.Parallel()
	seed := fstest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 3))
	filler := strings.Repeat("a filler line\n", 10_000)
	matched, textual := 0, 0
	for round := range fstest.Runs(10, 40, 5_000) {
		content := filler + pieceText(r, pieceTexts, 0, 60)
		a := actions.Search{Pattern: pieceText(r, append(pieceParts, "f(x)", "x"), 1, 3),
			Mode: []string{"", "literal", "regex"}[r.IntN(3)], IgnoreCase: r.IntN(4) == 0}
		if r.IntN(5) == 0 {
			a.MaxFileBytes = int64(len(content)) - int64(r.IntN(2))
		}
		switch round % 5 {
		case 0:
			a, content = actions.Search{Pattern: "f(x)"}, filler+"f(x)" // found as text only
		case 1:
			a, content = actions.Search{Pattern: "f(x)"}, filler+"f(x) fx"
		}
		want := runPieces(t, content, []actions.Action{a}, actions.Limits{}, func(c *actions.Call) { actions.SetPieces(c, math.MaxInt64, 0, 0) })
		window := 100 + r.IntN(5000)
		maxLine := []int{0, 0, 3}[r.IntN(3)]
		if maxLine > 0 {
			window = 3
		}
		got := runPieces(t, content, []actions.Action{a}, actions.Limits{}, func(c *actions.Call) { actions.SetPieces(c, 1, window, maxLine) })
		got.Bytes, want.Bytes = 0, 0 // a file that passes the first check is read twice
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("seed %d: %#v, window %d, line %d\n(-whole +pieces):\n%s", seed, a, window, maxLine, diff)
		}
		matched += len(want.Outcomes[0].Files)
		textual += len(want.Warnings)
	}
	if matched == 0 || textual == 0 {
		t.Errorf("%d searches matched, %d warned", matched, textual)
	}
}

// TestPiecesCases checks cases that random runs seldom reach.
func TestPiecesCases(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		content string
		action  actions.Action
		edits   int
	}{
		"taken back":                  {"aXa", actions.MultiEdit{Edits: []actions.TextEdit{{OldText: "a", NewText: "b"}, {OldText: "b", NewText: "a"}}}, 0},
		"a long line in the second":   {"aa" + strings.Repeat("b", 20), actions.MultiEdit{Edits: []actions.TextEdit{{OldText: "a", NewText: "b"}, {OldText: "bX", NewText: "\n"}, {OldText: "bb", NewText: "\n"}}}, 13},
		"a long line":                 {strings.Repeat("b", 20), actions.Edit{OldText: "b", NewText: "c", Mode: "regex"}, 20},
		"line end of the line before": {"a\r\nb", actions.Edit{OldText: "b", NewText: "\n"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := []actions.Action{test.action}
			want := runPieces(t, test.content, list, actions.Limits{}, func(c *actions.Call) { actions.SetPieces(c, math.MaxInt64, 0, 0) })
			got := runPieces(t, test.content, list, actions.Limits{}, func(c *actions.Call) { actions.SetPieces(c, 1, 3, 4) })
			got.Bytes, want.Bytes = 0, 0
			opt := []cmp.Option{cmpopts.IgnoreUnexported(change.Change{}), cmpopts.EquateEmpty(),
				cmpopts.IgnoreFields(change.State{}, "ModTime"), cmpopts.IgnoreFields(actions.FileReport{}, "LastModified")}
			if diff := cmp.Diff(want, got, opt...); diff != "" || got.Outcomes[0].Edits != test.edits {
				t.Errorf("%d edits, want %d; (-whole +pieces):\n%s", got.Outcomes[0].Edits, test.edits, diff)
			}
		})
	}
}

// TestLargeFilesAreNotHeld: actions that read and edit lines and texts need memory only for the shown and changed text,
// for files of any size.
func TestLargeFilesAreNotHeld(t *testing.T) {
	const size = 64 << 20
	dir := t.TempDir()
	line := []byte("a line of a large file, of which there are very many\n")
	if err := os.WriteFile(filepath.Join(dir, "f"), bytes.Repeat(line, size/len(line)), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, test := range map[string]struct {
		action actions.Action
		edits  int
	}{
		"read_ranges": {actions.ReadRanges{Ranges: []actions.Range{{Start: 1, End: 3}, {Start: -2}}}, 0},
		"edit_files": {actions.EditFiles{FileEdits: []actions.FileEdits{{Path: "f", Edits: []actions.LineEdit{
			actions.InsertAfter(1000, "one\n"), actions.ReplaceLines(-3, -2, "two"), actions.AppendText("end"), actions.ReplaceText("one\na line", "one line"),
		}}}}, 4},
		"edit":  {actions.Edit{Files: []string{"f"}, OldText: "no such text", NewText: "x"}, 0},
		"count": {actions.CountOccurrences{Files: []string{"f"}, Pattern: "very many"}, 0},
	} {
		stage := fsutil.NewStage(root)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, err := test.action.Run(t.Context(), &actions.Call{FS: stage, Step: "s", Files: []string{"f"}})
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err != nil || out.Edits != test.edits || took > size/8 {
			t.Errorf("%s: %d edits, want %d; %d bytes of memory; %v", name, out.Edits, test.edits, took, err)
		}
		stage.Close()
	}
}
