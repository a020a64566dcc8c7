package runs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/txtarfs"
	"github.com/millrace-go/millrace/risk"
)

// readOnly fails the test when anything is written. It hides the type of the inner file system.
func readOnly(t *testing.T, inside afero.Fs) afero.Fs {
	t.Helper()
	return errorfs.Wrap(errorfs.Only(inside), errorfs.Failing(os.ErrPermission, func(op *errorfs.Op) bool {
		wrote := op.Kind != "close" && op.Writes || op.Flag != os.O_RDONLY
		if wrote {
			t.Errorf("the base was written to: %s %s", op.Kind, op.Name)
		}
		return wrote
	}))
}

func TestPlanWritesNothing(t *testing.T) {
	inside := suite.Tree("a.txt", "x\n", "b.txt", "x\n", "d/c.txt", "x\n")
	fsys := readOnly(t, inside)
	p := millrace.New("everything").
		Step("find", actions.Search{Pattern: "x"}).
		Step("edit", actions.Edit{OldText: "x", NewText: "y"}).From("find").
		Step("copy", actions.Copy{Files: []string{"a.txt"}, Destination: "copies"}).
		Step("move", actions.Rename{Files: []string{"b.txt"}, Destination: "moved"}).
		Step("gone", actions.Delete{Files: []string{"d/c.txt"}}).
		Step("own", suite.Action{Do: func(_ context.Context, c *actions.Call) (actions.Outcome, error) {
			if err := afero.WriteFile(c.FS, "new/file.txt", []byte("new"), 0o600); err == nil {
				t.Error("a file was made in a directory that does not exist")
			}
			if err := c.FS.MkdirAll("new", 0o755); err != nil {
				return actions.Outcome{}, err
			}
			return actions.Outcome{Files: []string{"new/file.txt"}}, afero.WriteFile(c.FS, "new/file.txt", []byte("new"), 0o600)
		}}).
		MustBuild()
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	if got := plan.Result().FilesChanged.Count(); got != 5 {
		t.Errorf("%d files changed: %+v", got, plan.Result().FilesChanged)
	}
	if res, err := (millrace.Executor{DryRun: true}).Run(t.Context(), fsys, p); err != nil || !res.DryRun {
		t.Errorf("dry run: %v, %v", res, err)
	}
	if plan.Diff() == "" {
		t.Error("no diff")
	}
}

func TestNilFileSystem(t *testing.T) {
	p := millrace.New("p").Step("s", actions.Search{Pattern: "x"}).MustBuild()
	var none *afero.MemMapFs
	for _, fsys := range []afero.Fs{nil, none} {
		if _, err := millrace.Run(t.Context(), fsys, p); !errors.Is(err, millrace.ErrNoFs) {
			t.Errorf("Run on %#v: %v", fsys, err)
		}
		if _, err := (millrace.Executor{}).Recover(t.Context(), fsys); !errors.Is(err, millrace.ErrNoFs) {
			t.Errorf("Recover on %#v: %v", fsys, err)
		}
	}
	if _, err := millrace.Run(t.Context(), suite.Tree(), millrace.Pipeline{}); err == nil || err.Error() != "at least one step is required" {
		t.Errorf("zero pipeline: %v", err)
	}
}

func TestReadOnlyHost(t *testing.T) {
	x := millrace.Executor{ReadOnly: true}
	fsys := suite.Tree("a.txt", "x\n")
	if _, err := x.Run(t.Context(), fsys, suite.Edit("a.txt")); !errors.Is(err, millrace.ErrReadOnly) {
		t.Errorf("run: %v", err)
	}
	o := millrace.Options{DryRun: true}
	if res, err := x.Run(t.Context(), fsys, suite.Edit("a.txt").WithOptions(o)); err != nil || res.TotalEdits != 1 {
		t.Errorf("dry run: %v, %v", res, err)
	}
	plan, err := x.Plan(t.Context(), fsys, suite.Edit("a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Commit(t.Context()); !errors.Is(err, millrace.ErrReadOnly) {
		t.Errorf("commit: %v", err)
	}
	if got := suite.Read(t, fsys, "a.txt"); got != "x\n" {
		t.Errorf("a.txt is %q", got)
	}
}

// TestRiskAndLimits checks the documented table, the order of the limits, and that only the host's ceiling overrides
// force.
func TestRiskAndLimits(t *testing.T) {
	for _, test := range []struct {
		files, edits int
		force        bool
		ceiling      risk.Level
		maxFiles     int
		level        risk.Level
		blocked      string
	}{
		{files: 29, edits: 99, level: risk.Low},
		{files: 30, edits: 30, level: risk.Medium},
		{files: 1, edits: 100, level: risk.Medium},
		{files: 1, edits: 499, level: risk.Medium},
		{files: 50, edits: 50, level: risk.High, blocked: "operation blocked due to HIGH risk. Use force=true to proceed"},
		{files: 1, edits: 500, level: risk.High, blocked: "operation blocked due to HIGH risk. Use force=true to proceed"},
		{files: 80, edits: 80, level: risk.Critical, blocked: "operation blocked due to CRITICAL risk. Use force=true to proceed"},
		{files: 1, edits: 1000, level: risk.Critical, blocked: "operation blocked due to CRITICAL risk. Use force=true to proceed"},
		{files: 101, edits: 101, level: risk.Critical, blocked: "too many files affected (101 > 100). Use force=true to bypass"},
		{files: 120, edits: 120, force: true, level: risk.Critical},
		{files: 50, edits: 50, force: true, ceiling: risk.Medium, level: risk.High, blocked: "operation blocked due to HIGH risk. The host allows no more than MEDIUM, force does not help"},
		{files: 50, edits: 50, force: true, ceiling: risk.High, level: risk.High},
		{files: 30, edits: 30, ceiling: risk.Low, level: risk.Medium, blocked: "operation blocked due to MEDIUM risk. The host allows no more than LOW, force does not help"},
		{files: 3, edits: 3, maxFiles: 2, level: risk.Low, blocked: "too many files affected (3 > 2). Use force=true to bypass"},
	} {
		t.Run(fmt.Sprintf("%d files %d edits force %t ceiling %s max %d", test.files, test.edits, test.force, test.ceiling, test.maxFiles), func(t *testing.T) {
			var names, all []string
			for i := range test.files {
				n := 1
				if i == 0 {
					n = test.edits - test.files + 1
				}
				name := fmt.Sprintf("f%03d.txt", i)
				names, all = append(names, name), append(all, name, strings.Repeat("x\n", n))
			}
			fsys := suite.Tree(all...)
			x := millrace.Executor{Ceiling: test.ceiling, MaxFiles: test.maxFiles}
			p := suite.Edit(names...).WithOptions(millrace.Options{Force: test.force})

			plan, err := x.Plan(t.Context(), fsys, p)
			if err != nil {
				t.Fatal(err)
			}
			dry := plan.Result()
			if dry.WouldBlock != (test.blocked != "") || dry.BlockReason != test.blocked || !dry.Success {
				t.Errorf("dry run: would_block %t, %q, success %t", dry.WouldBlock, dry.BlockReason, dry.Success)
			}
			if dry.OverallRiskLevel != test.level || dry.Results[0].RiskLevel != test.level {
				t.Errorf("risk %s, of the step %s", dry.OverallRiskLevel, dry.Results[0].RiskLevel)
			}
			res, err := x.Run(t.Context(), fsys, p)
			if test.blocked == "" {
				if err != nil {
					t.Fatal(err)
				}
				if got := suite.Read(t, fsys, "f000.txt"); strings.Contains(got, "x") {
					t.Error("the run has not edited")
				}
				return
			}
			blocked, ok := errors.AsType[*millrace.BlockedError](err)
			if !ok || err.Error() != test.blocked || blocked.Level != test.level || blocked.Files != test.files || blocked.Edits != test.edits {
				t.Errorf("run: %#v", err)
			}
			if res.Success || res.String() != "FAIL: 1/1 steps | "+test.blocked {
				t.Errorf("result %s", res)
			}
			if got := suite.Read(t, fsys, "f000.txt"); strings.Contains(got, "y") {
				t.Error("the blocked run has written")
			}
			if _, err := plan.Commit(t.Context()); err == nil {
				t.Error("the blocked plan was committed")
			}
		})
	}
}

func TestEvents(t *testing.T) {
	fsys := suite.Tree("a.txt", "x\n", "b.txt", "x\n")
	p := millrace.New("events").
		Step("find", actions.Search{Pattern: "x"}).
		Step("edit", actions.Edit{OldText: "x", NewText: "y"}).From("find").
		Step("skip", actions.Search{Pattern: "x"}).When(condition.NoMatches("find")).
		MustBuild()
	var got []string
	var phases []string
	x := millrace.Executor{Observe: func(e millrace.Event) {
		switch e := e.(type) {
		case millrace.StepStarted:
			got = append(got, fmt.Sprintf("started %s %d %s", e.Step, e.Index, e.Action))
		case millrace.StepFinished:
			got = append(got, fmt.Sprintf("finished %s %t %t", e.Step, e.Result.Success, e.Result.Skipped))
		case millrace.FileStaged:
			got = append(got, "staged "+e.Step+" "+e.Path)
		case millrace.RiskJudged:
			got = append(got, fmt.Sprintf("risk %s %d %d", e.Level, e.Files, e.Edits))
		case millrace.CommitPhase:
			phases = append(phases, e.Phase)
		case millrace.RunStarted, millrace.RunFinished:
		case millrace.StepProgress:
			if e.Done < 1 || e.Total != 2 || e.Done > e.Total {
				t.Errorf("progress %+v", e)
			}
		default:
			t.Errorf("unknown event %T", e)
		}
	}}
	if _, err := x.Run(t.Context(), fsys, p); err != nil {
		t.Fatal(err)
	}
	want := "started find 0 search|finished find true false|started edit 1 edit|staged edit a.txt|staged edit b.txt|finished edit true false|" +
		"started skip 2 search|finished skip true true|risk LOW 2 2"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("events\n got %s\nwant %s", s, want)
	}
	if len(phases) < 3 || phases[0] != "verify" {
		t.Errorf("commit phases %v", phases)
	}
}

func TestPanicInActionIsItsError(t *testing.T) {
	var log bytes.Buffer
	fsys := suite.Tree("a.txt", "x\n")
	boom := errors.New("boom")
	p := millrace.New("panics").
		Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).
		Step("panic", suite.Action{Do: func(context.Context, *actions.Call) (actions.Outcome, error) { panic(boom) }}).
		MustBuild()
	x := millrace.Executor{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	res, err := x.Run(t.Context(), fsys, p)
	step, ok := errors.AsType[*millrace.StepError](err)
	if !ok || step.Step != "panic" || !errors.Is(err, boom) {
		t.Fatalf("error %v", err)
	}
	if _, ok := errors.AsType[*panics.Error](err); !ok || !res.RollbackPerformed ||
		res.Results[1].Error != "test failed: panic: boom" {
		t.Errorf("%+v", res.Results[1])
	}
	if !strings.Contains(log.String(), "executor_test.go") {
		t.Errorf("the log has no stack: %s", log.String())
	}
	if got := suite.Read(t, fsys, "a.txt"); got != "x\n" {
		t.Errorf("a.txt is %q", got)
	}
}

// TestGoexitInAction: an action that ends its goroutine, as t.FailNow does, has failed.
func TestGoexitInAction(t *testing.T) {
	fsys := suite.Tree("a.txt", "x\n")
	p := millrace.New("exits").
		Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).
		Step("exit", suite.Action{Do: func(context.Context, *actions.Call) (actions.Outcome, error) { runtime.Goexit(); panic("unreachable") }}).
		MustBuild()
	if _, err := millrace.Run(t.Context(), fsys, p); err == nil || !strings.Contains(err.Error(), "the action has ended its goroutine") {
		t.Errorf("error %v", err)
	}
	if got := suite.Read(t, fsys, "a.txt"); got != "x\n" {
		t.Errorf("a.txt is %q", got)
	}
}

// TestCancel cancels at every event of a run: the tree is old or new, and the error is the context's unless the tree is
// new.
func TestCancel(t *testing.T) {
	p := millrace.New("cancel").
		Step("find", actions.Search{Pattern: "x"}).
		Step("edit", actions.Edit{OldText: "x", NewText: "y"}).From("find").
		Step("move", actions.Rename{Files: []string{"b.txt"}, Destination: "d"}).
		MustBuild()
	in := []string{"a.txt", "x\n", "b.txt", "x\n", "c.txt", "x\n"}
	old := "-- a.txt --\nx\n-- b.txt --\nx\n-- c.txt --\nx\n"
	changed := "-- a.txt --\ny\n-- c.txt --\ny\n-- d/b.txt --\ny\n"
	for at := 0; ; at++ {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		x := millrace.Executor{Observe: func(millrace.Event) {
			if n == at {
				cancel()
			}
			n++
		}}
		fsys := suite.Tree(in...)
		_, err := x.Run(ctx, fsys, p)
		cancel()
		if at >= n {
			if at < 8 {
				t.Fatalf("only %d events", n)
			}
			return // the run had no event left at which it could be cancelled
		}
		files, rerr := txtarfs.Read(fsys, ".millrace")
		if rerr != nil {
			t.Fatal(rerr)
		}
		switch got := txtarfs.Format(files); {
		case err == nil && got != changed:
			t.Errorf("cancelled at event %d: no error, but the tree is\n%s", at, got)
		case err != nil && got != old:
			t.Errorf("cancelled at event %d: error %v, but the tree is\n%s", at, err, got)
		case err != nil && !errors.Is(err, context.Canceled):
			t.Errorf("cancelled at event %d: %v", at, err)
		}
	}
}

func TestReadOnlyActionCannotWrite(t *testing.T) {
	fsys := suite.Tree("a.txt", "x\n")
	p := millrace.New("liar").Step("s", liar{}).MustBuild()
	if _, err := millrace.Run(t.Context(), fsys, p); !errors.Is(err, names.ErrReadOnly) {
		t.Errorf("error %v", err)
	}
	if p.Mutates() {
		t.Error("the pipeline mutates")
	}
}

// liar claims to be read-only.
type liar struct{}

func (liar) Spec() actions.Spec { return actions.Spec{Name: "liar", Summary: "writes", ReadOnly: true} }

func (liar) Run(_ context.Context, c *actions.Call) (actions.Outcome, error) {
	return actions.Outcome{}, afero.WriteFile(c.FS, "a.txt", []byte("y"), 0o644)
}
