package bounded_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/risk"
)

// change makes two files, deletes one and renames another: four files and five edits. The created and edited files have
// 10 bytes.
func change(limit budget.Limit) millrace.Builder {
	return millrace.New("p").Budget(limit).
		Step("made", work{file: "made", text: "12345", edits: 2, log: new(log)}).
		Step("edited", actions.Edit{Files: []string{"edited"}, OldText: "old", NewText: "new"}).
		Step("gone", actions.Delete{Files: []string{"gone"}}).
		Step("moved", actions.Rename{Files: []string{"moved"}, To: "there"}).Builder
}

var treeToChange = []string{"edited", "old!\n", "gone", "gone", "moved", "much longer text", "x", "x"}

// A run whose use exceeds the budget before a step ends there. So does a dry run.
func TestSizeBeforeAStep(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		limit budget.Limit
		want  millrace.BudgetError
		text  string
	}{
		{budget.Limit{Files: 2}, millrace.BudgetError{What: "files", Limit: 2, Spent: 3, Step: "moved"}, "budget of 2 files is exceeded (3) before step 'moved'"},
		{budget.Limit{Files: 3}, millrace.BudgetError{What: "files", Limit: 3, Spent: 4, Step: "look"}, "budget of 3 files is exceeded (4) before step 'look'"},
		{budget.Limit{Edits: 1, Files: 9}, millrace.BudgetError{What: "edits", Limit: 1, Spent: 2, Step: "edited"}, "budget of 1 edits is exceeded (2) before step 'edited'"},
		{budget.Limit{Bytes: 4}, millrace.BudgetError{What: "bytes", Limit: 4, Spent: 5, Step: "edited"}, "budget of 4 bytes is exceeded (5) before step 'edited'"},
		{budget.Limit{Bytes: 9, Files: 9}, millrace.BudgetError{What: "bytes", Limit: 9, Spent: 10, Step: "gone"}, "budget of 9 bytes is exceeded (10) before step 'gone'"},
	} {
		p := change(test.limit).Step("look", actions.Search{Pattern: "q"}).MustBuild()
		for _, options := range []millrace.Options{{}, {Force: true}, {DryRun: true}, {ContinueOnError: true}, {Parallel: true}} {
			fsys := suite.Tree(treeToChange...)
			res, err := millrace.Run(t.Context(), fsys, p.WithOptions(options))
			stop, ok := errors.AsType[*millrace.BudgetError](err)
			if !ok || *stop != test.want || err.Error() != test.text || millrace.ErrorCode(err) != "budget_exceeded" {
				t.Errorf("%+v, %+v: got %v", test.limit, options, err)
				continue
			}
			if res.Success || res.WouldBlock || !res.RollbackPerformed || res.FilesChanged.Count() != 0 {
				t.Errorf("%+v, %+v: %+v", test.limit, options, res)
			}
			measures := map[string]*budget.Measure{"files": res.Budget.Files, "edits": res.Budget.Edits, "bytes": res.Budget.Bytes}
			if d := cmp.Diff(&budget.Measure{Limit: test.want.Limit, Spent: test.want.Spent, Exceeded: true}, measures[test.want.What]); d != "" {
				t.Errorf("%+v: budget (-want +got):\n%s", test.limit, d)
			}
			if suite.Read(t, fsys, "edited") != "old!\n" {
				t.Errorf("%+v, %+v: the tree was written to", test.limit, options)
			}
		}
	}
}

// After the last step the change is blocked, as by the risk. Force does not help.
func TestSizeAtTheEnd(t *testing.T) {
	t.Parallel()
	fits := budget.Limit{Files: 4, Edits: 3, Bytes: 10}
	fsys := suite.Tree(treeToChange...)
	res, err := millrace.Run(t.Context(), fsys, change(fits).MustBuild())
	measure := func(n int64) *budget.Measure { return &budget.Measure{Limit: n, Spent: n} }
	if d := cmp.Diff(&budget.Report{Files: measure(4), Edits: measure(3), Bytes: measure(10)}, res.Budget); err != nil || d != "" {
		t.Fatalf("%v, budget (-want +got):\n%s", err, d)
	}
	if suite.Read(t, fsys, "made") != "12345" {
		t.Error("it was not committed")
	}
	const reason = "budget of 3 files is exceeded (4), force does not help"
	for _, force := range []bool{false, true} {
		fsys := suite.Tree(treeToChange...)
		p := change(budget.Limit{Files: 3}).Options(millrace.Options{Force: force}).MustBuild()
		dry, err := millrace.Executor{DryRun: true}.Run(t.Context(), fsys, p)
		if err != nil || !dry.Success || !dry.WouldBlock || dry.BlockReason != reason || !dry.Budget.Files.Exceeded {
			t.Errorf("dry run, force %v: %v, %+v", force, err, dry)
		}
		res, err := millrace.Run(t.Context(), fsys, p)
		blocked, ok := errors.AsType[*millrace.BlockedError](err)
		if !ok || !blocked.Host || blocked.Reason != reason || blocked.Files != 4 || millrace.ErrorCode(err) != "budget_exceeded" {
			t.Fatalf("force %v: %v", force, err)
		}
		if want := (millrace.BudgetError{What: "files", Limit: 3, Spent: 4}); blocked.Budget == nil || *blocked.Budget != want {
			t.Errorf("force %v: %+v", force, blocked.Budget)
		}
		if res.BlockReason != reason || res.Success || suite.Read(t, fsys, "gone") != "gone" {
			t.Errorf("force %v: %+v", force, res)
		}
	}
}

// The result is the same on every file system, even if hashes of edited files are computed as late as possible.
func TestSizeOnFileSystems(t *testing.T) {
	t.Parallel()
	for name, open := range suite.Backends() {
		t.Run(name, func(t *testing.T) {
			fsys := open(t)
			for i := 0; i < len(treeToChange); i += 2 {
				if err := afero.WriteFile(fsys, treeToChange[i], []byte(treeToChange[i+1]), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for bytes, want := range map[int64]string{
				4: "budget of 4 bytes is exceeded (5) before step 'edited'", 9: "budget of 9 bytes is exceeded (10) before step 'gone'", 10: "",
			} {
				res, err := millrace.Executor{DryRun: true}.Run(t.Context(), fsys, change(budget.Limit{Bytes: bytes, Files: 4}).MustBuild())
				if res.Error != want || (err == nil) != (want == "") || res.WouldBlock {
					t.Errorf("%d bytes: %v, %+v", bytes, err, res.Budget)
				}
				if want == "" && (res.Budget.Bytes.Spent != 10 || res.Budget.Files.Spent != 4) {
					t.Errorf("%+v, %+v", res.Budget.Bytes, res.Budget.Files)
				}
			}
		})
	}
}

// The host's ceiling is checked first, then the budget, then the limit on files and the risk.
func TestOrderOfWhatBlocks(t *testing.T) {
	t.Parallel()
	p := change(budget.Limit{Files: 3}).MustBuild()
	strict := risk.Policy{Medium: risk.Threshold{Files: 1}, High: risk.Threshold{Files: 2}}
	for _, test := range []struct {
		x      millrace.Executor
		p      millrace.Pipeline
		reason string
		code   string
	}{
		{
			millrace.Executor{Ceiling: risk.Low, Risk: strict, MaxFiles: 1}, p,
			"operation blocked due to HIGH risk. The host allows no more than LOW, force does not help", "blocked",
		},
		{millrace.Executor{Risk: strict, MaxFiles: 1}, p, "budget of 3 files is exceeded (4), force does not help", "budget_exceeded"},
		{millrace.Executor{Risk: strict, MaxFiles: 1}, change(budget.Limit{}).MustBuild(), "too many files affected (4 > 1). Use force=true to bypass", "blocked"},
		{millrace.Executor{Risk: strict}, change(budget.Limit{}).MustBuild(), "operation blocked due to HIGH risk. Use force=true to proceed", "blocked"},
	} {
		_, err := test.x.Run(t.Context(), suite.Tree(treeToChange...), test.p)
		if blocked, ok := errors.AsType[*millrace.BlockedError](err); !ok || blocked.Reason != test.reason || millrace.ErrorCode(err) != test.code {
			t.Errorf("got %v, want %q", err, test.reason)
		}
		if suite.Is[*millrace.BudgetError](err) != (test.code == "budget_exceeded") {
			t.Errorf("%v is a BudgetError, or should be", err)
		}
	}
}

// Changes that steps have staged and removed again do not count at the end, but count before a later step begins.
func TestSizeIsThatOfTheStage(t *testing.T) {
	t.Parallel()
	b := millrace.New("p").Budget(budget.Limit{Files: 1}).
		Step("a", work{file: "a", text: "a", log: new(log)}).
		Step("again", work{file: "a", text: "aa", log: new(log)}).
		Step("gone", actions.Delete{Files: []string{"a"}}).
		Step("b", work{file: "b", text: "b", log: new(log)})
	fsys := suite.Tree("x", "x")
	res, err := millrace.Run(t.Context(), fsys, b.MustBuild())
	if err != nil || res.Budget.Files.Spent != 1 || suite.Read(t, fsys, "b") != "b" {
		t.Errorf("%v, %+v", err, res.Budget)
	}
	// A pipeline that only reads has a report too.
	p := millrace.New("p").Budget(budget.Limit{USD: budget.Dollar, Files: 1}).Step("ask", work{costs: dollars(5), log: new(log)}).MustBuild()
	res, err = millrace.Run(t.Context(), suite.Tree("x", "x"), p)
	if d := cmp.Diff(&budget.Report{Limit: budget.Dollar, Spent: 5 * budget.Cent, Files: &budget.Measure{Limit: 1}}, res.Budget); err != nil || d != "" {
		t.Errorf("%v, budget (-want +got):\n%s", err, d)
	}
	// A step that fails leaves no changes, so its files do not count.
	p = millrace.New("p").Budget(budget.Limit{Files: 1, Bytes: 1}).
		Step("fails", work{file: "a", text: "much", fails: 1, log: new(log)}).OnFail("b").
		Step("b", work{file: "b", text: "b", log: new(log)}).Step("c", work{log: new(log)}).MustBuild()
	if res, err = millrace.Run(t.Context(), suite.Tree("x", "x"), p); err != nil || res.Budget.Bytes.Spent != 1 {
		t.Errorf("%v, %+v", err, res.Budget)
	}
}
