package resume_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/risk"
)

// held checks that the error is that of a held run, closes its plan at the end of the test, and returns the error.
func held(t *testing.T, res *millrace.Result, err error) *millrace.HeldError {
	t.Helper()
	h, ok := errors.AsType[*millrace.HeldError](err)
	if !ok || res == nil || h.Plan == nil {
		t.Fatalf("the run is not held: %v, %+v", err, res)
	}
	t.Cleanup(func() { h.Plan.Close() })
	if res.Success || res.ErrorCode != "held" || millrace.ErrorCode(err) != "held" || res.DryRun || res.RollbackPerformed || millrace.Written(err) ||
		res.Commit.State != millrace.CommitNone {
		t.Errorf("the result of a held run: %+v", res)
	}
	return h
}

// review returns a pipeline that edits a file, waits, and edits another file.
func review() millrace.Builder {
	return millrace.New("review").
		Step("first", actions.Edit{Files: []string{"a"}, OldText: "x", NewText: "y"}).
		Step("deploy", actions.Edit{Files: []string{"b"}, OldText: "x", NewText: "y"}).Manual().
		Step("last", actions.Create{Path: "c", Content: "c\n"}).Builder
}

func TestManual(t *testing.T) {
	t.Parallel()
	for _, parallel := range []bool{false, true} {
		t.Run(fmt.Sprintf("parallel=%v", parallel), func(t *testing.T) {
			t.Parallel()
			fsys, s := suite.Tree("a", "x\n", "b", "x\n", "z", "z\n"), new(store)
			p := review().Step("look", actions.ReadRanges{Files: []string{"z"}}).Builder.Options(millrace.Options{Parallel: parallel}).MustBuild()
			var began []string
			x := millrace.Executor{Checkpoints: s, Observe: func(e millrace.Event) {
				if e, ok := e.(millrace.StepFinished); ok && e.Result.ErrorCode == "" {
					began = append(began, e.Step)
				}
			}}
			res, err := x.Run(t.Context(), fsys, p)
			h := held(t, res, err)
			if want := (millrace.Position{Step: "deploy", Index: 1, Visit: 1, Attempt: 1}); h.At != want {
				t.Errorf("it is held at %+v, want %+v", h.At, want)
			}
			if want := "run is held: step 'deploy' is manual: play to run it"; err.Error() != want {
				t.Errorf("error %q, want %q", err, want)
			}
			if !slices.Equal(began, []string{"first"}) {
				t.Errorf("%q were done before the wait", began)
			}
			if changes := h.Plan.Changes(); len(changes) != 1 || changes[0].Path != "a" || !strings.Contains(h.Plan.Diff(), "+y") {
				t.Errorf("the plan has the changes %+v", changes)
			}
			if digest, err := h.Plan.Digest(); len(digest) != 64 || err != nil {
				t.Errorf("digest %q, %v", digest, err)
			}
			if _, err := h.Plan.Commit(t.Context()); !suite.Is[*millrace.HeldError](err) {
				t.Errorf("the plan of a held run is committed: %v", err)
			}
			if _, err := h.Plan.WithForce(true).Commit(t.Context()); !suite.Is[*millrace.HeldError](err) {
				t.Errorf("a plan made from it is committed: %v", err)
			}
			if _, err := json.Marshal(h.Plan); err == nil {
				t.Error("the plan of a held run can be stored, and so committed elsewhere")
			}
			if got := suite.Read(t, fsys, "a"); got != "x\n" {
				t.Errorf("a held run has written %q", got)
			}
			// No lock is held: another run is done during the wait.
			other := millrace.New("other").Step("d", actions.Create{Path: "d", Content: "d\n"}).MustBuild()
			if _, err := millrace.Run(t.Context(), fsys, other); err != nil {
				t.Fatal(err)
			}
			res, err = x.Resume(t.Context(), fsys, p, s.saved())
			if err != nil || res.CompletedSteps != 4 || !slices.Equal(res.FilesChanged.Modified, []string{"a", "b"}) {
				t.Fatalf("%v, %+v", err, res)
			}
			if slices.Sort(began[2:]); !slices.Equal(began, []string{"first", "deploy", "last", "look"}) {
				t.Errorf("the steps done are %q", began)
			}
			if got := suite.Read(t, fsys, "a") + suite.Read(t, fsys, "b") + suite.Read(t, fsys, "c"); got != "y\ny\nc\n" {
				t.Errorf("the tree has %q", got)
			}
		})
	}
}

// If a run dies before it is held at a manual step, it is held when it is resumed. If it dies after the hold, it passes
// the step, whenever it dies.
func TestManualKilled(t *testing.T) {
	t.Parallel()
	p := review().MustBuild()
	// The calls: Enter first, Keep first, Keep that it was held | Enter deploy, Keep deploy, Enter last, Keep last,
	// Enter commit.
	for kill := 1; kill <= 3; kill++ {
		for _, late := range []bool{false, true} {
			fsys, s := suite.Tree("a", "x\n", "b", "x\n"), new(store)
			x := millrace.Executor{Checkpoints: s}
			s.next(kill, late)
			if _, err := x.Run(t.Context(), fsys, p); !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			s.next(0, false)
			res, err := x.Resume(t.Context(), fsys, p, s.saved())
			if kill == 3 && late {
				if err != nil {
					t.Errorf("it is held a second time: %v", err)
				}
				continue
			}
			held(t, res, err)
		}
	}
	for kill := 1; kill <= 5; kill++ {
		for _, late := range []bool{false, true} {
			fsys, s := suite.Tree("a", "x\n", "b", "x\n"), new(store)
			x := millrace.Executor{Checkpoints: s}
			res, err := x.Run(t.Context(), fsys, p)
			held(t, res, err)
			s.next(kill, late)
			if _, err := x.Resume(t.Context(), fsys, p, s.saved()); !errors.Is(err, errKilled) {
				t.Fatalf("kill %d: %v", kill, err)
			}
			s.next(0, false)
			if res, err := x.Resume(t.Context(), fsys, p, s.saved()); err != nil || res.CompletedSteps != 3 {
				t.Errorf("killed at call %d of the process that a person has released: %v", kill, err)
			}
		}
	}
}

// Each visit waits. A skipped visit does not wait, and neither does a second attempt.
func TestManualVisits(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").
		Step("never", actions.Create{Path: "never", Content: ""}).When(condition.FileExists("nothing")).Manual().
		Step("again", suite.Action{Do: flaky()}).Manual().MaxRetries(3).
		Step("loop", actions.Edit{Files: []string{"a"}, OldText: "xx", NewText: "x"}).Manual().
		Retry(millrace.Retry{Step: "loop", When: condition.CountGT("loop", 0)}).
		MustBuild()
	fsys, s := suite.Tree("a", "xxxx\n"), new(store)
	x := millrace.Executor{Checkpoints: s}
	var at []string
	res, err := x.Run(t.Context(), fsys, p)
	for range 10 {
		if err == nil {
			break
		}
		h := held(t, res, err)
		at = append(at, fmt.Sprintf("%s/%d", h.At.Step, h.At.Visit))
		res, err = x.Resume(t.Context(), fsys, p, s.saved())
	}
	if want := []string{"again/1", "loop/1", "loop/2", "loop/3"}; err != nil || !slices.Equal(at, want) {
		t.Errorf("%v, it waited at %q, want %q", err, at, want)
	}
}

// A run cannot be held without a Checkpointer, but a dry run reports the wait.
func TestManualWithout(t *testing.T) {
	t.Parallel()
	p, fsys := review().MustBuild(), suite.Tree("a", "x\n", "b", "x\n")
	if res, err := millrace.Run(t.Context(), fsys, p); !errors.Is(err, millrace.ErrManual) || res != nil {
		t.Errorf("%v, %+v", err, res)
	}
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	dry, err := millrace.Executor{DryRun: true, Checkpoints: new(store)}.Run(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, res := range []*millrace.Result{plan.Result(), dry} {
		if !slices.Contains(res.Warnings, "step 'deploy' is manual: a run waits there until a person lets it go on") || res.CompletedSteps != 3 {
			t.Errorf("%+v", res)
		}
	}
	plan.Close()
}

// approver holds the commit until the plan has the approved digest.
type approver struct {
	store
	approved string
	seen     []string // digests
}

// Approve implements [millrace.Approver].
func (a *approver) Approve(_ context.Context, plan *millrace.Plan) error {
	digest, err := plan.Digest()
	if err != nil {
		return err
	}
	a.seen = append(a.seen, digest)
	if digest != a.approved {
		return fmt.Errorf("risk %v waits for Ann: %w", plan.Result().OverallRiskLevel, millrace.ErrHold)
	}
	return nil
}

// Before the commit the host sees the plan, and may hold it. The plan that it approves is the plan that is committed.
func TestHeldAtTheCommit(t *testing.T) {
	t.Parallel()
	fsys, s := suite.Tree("a", "x\n", "b", "x\n"), new(approver)
	p := suite.Edit("a", "b")
	x := millrace.Executor{Checkpoints: s, RunID: "one"}
	res, err := x.Run(t.Context(), fsys, p)
	h := held(t, res, err)
	if h.At != (millrace.Position{Index: 1}) || h.Reason != "risk LOW waits for Ann" || len(res.FilesChanged.Modified) != 2 {
		t.Fatalf("%+v, %+v", h, res.FilesChanged)
	}
	if digest, _ := h.Plan.Digest(); digest != s.seen[0] {
		t.Errorf("the plan has digest %s, the host was shown %s", digest, s.seen[0])
	}
	s.approved = s.seen[0]
	if res, err = x.Resume(t.Context(), fsys, p, s.saved()); err != nil || res.Commit.State != millrace.CommitApplied {
		t.Fatalf("%v, %+v", err, res)
	}
	if got := suite.Read(t, fsys, "a"); got != "y\n" || len(s.seen) != 2 {
		t.Errorf("%q after %d calls of Approve", got, len(s.seen))
	}
	res, err = x.Resume(t.Context(), fsys, p, s.saved())
	if err != nil || !res.Replayed {
		t.Errorf("a committed run is resumed: %v, %+v", err, res)
	}
}

// Enter can hold the commit as well, with a reason.
func TestEnterHolds(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]string{"": "the host holds it before the commit", "e": "the host holds it before step 'e'"} {
		fsys, s := suite.Tree("a", "x\n"), new(store)
		s.hold = func(p millrace.Position) error {
			if p.Step == at {
				return millrace.ErrHold
			}
			return nil
		}
		x := millrace.Executor{Checkpoints: s}
		for range 2 {
			res, err := x.Resume(t.Context(), fsys, suite.Edit("a"), s.saved())
			if h := held(t, res, err); h.Reason != want || h.At.Step != at {
				t.Errorf("%+v, want %q", h, want)
			}
		}
		s.hold = nil
		if res, err := x.Resume(t.Context(), fsys, suite.Edit("a"), s.saved()); err != nil || res.TotalEdits != 1 {
			t.Errorf("%v, %+v", err, res)
		}
	}
}

// Force lifts the same limits for one run as the option force, and leaves the pipeline and its RunID unchanged.
func TestSavedForce(t *testing.T) {
	t.Parallel()
	fsys, s := suite.Tree("a", "x\n", "b", "x\n"), new(store)
	p, x := suite.Edit("a", "b"), millrace.Executor{Checkpoints: s, MaxFiles: 1, RunID: "one"}
	if _, err := x.Run(t.Context(), fsys, p); !suite.Is[*millrace.BlockedError](err) {
		t.Fatal(err)
	}
	saved := s.saved()
	saved.Force = true
	x.Ceiling, x.Risk.Medium.Files = risk.Low, 1
	if _, err := x.Resume(t.Context(), fsys, p, saved); !suite.Is[*millrace.BlockedError](err) {
		t.Errorf("force overrides the ceiling: %v", err)
	}
	x.Ceiling = 0
	if res, err := x.Resume(t.Context(), fsys, p, saved); err != nil || res.FilesChanged.Count() != 2 {
		t.Fatalf("%v, %+v", err, res)
	}
	if res, err := x.Run(t.Context(), fsys, p); err != nil || !res.Replayed {
		t.Errorf("%v, %+v", err, res)
	}
}

// flaky returns an action that works at the second attempt.
func flaky() func(context.Context, *actions.Call) (actions.Outcome, error) {
	return func(_ context.Context, c *actions.Call) (actions.Outcome, error) {
		if c.Attempt == 1 {
			return actions.Outcome{}, errors.New("not yet")
		}
		return actions.Outcome{}, nil
	}
}
