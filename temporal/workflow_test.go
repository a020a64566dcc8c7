package millracetemporal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/millracetest"
)

// all returns the latest outcome of each target, by index.
func all(t *testing.T, c Client, p Progress) []fleet.Outcome {
	t.Helper()
	list := make([]fleet.Outcome, p.Targets)
	err := c.deliver(t.Context(), p, func(o fleet.Outcome) error { list[o.Index] = o; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestCampaign(t *testing.T) {
	t.Parallel()
	f, targets, w, c := plant(t, 7)
	if err := f.trees["t03"].Remove("a.txt"); err != nil {
		t.Fatal(err)
	}
	targets[5].ID = "bad\x00id"
	p, runs, err := finish(t, w, begun(t, c, targets, nil), nil)
	if err != nil || runs != 1 || p.Phase != PhaseDone || p.Targets != 7 || p.Active != 0 {
		t.Fatalf("%+v, %d runs, %v", p, runs, err)
	}
	want := fleet.Counts{Success: 5, Failed: 2, Files: 5, Edits: 5, Risks: p.Sum.Risks}
	if p.Sum != want || f.texts(t) != "y y y - y x y" {
		t.Errorf("%+v, %s", p.Sum, f.texts(t))
	}
	for i, o := range all(t, c, p) {
		code := map[int]string{3: "step_failed", 5: "invalid_target"}[i]
		if o.Code != code || o.Index != i || o.Target.Root != targets[i].Root || o.Attempts != 1 || (o.Status == fleet.Failed) != (code != "") {
			t.Errorf("%d: %+v", i, o)
		}
	}
	// The same campaign again runs the failed targets.
	millracetest.Plant(t, f.trees["t03"], "-- a.txt --\nx\n")
	p, _, err = finish(t, w, begun(t, c, targets, nil), nil)
	if err != nil || p.Sum.Success != 6 || p.Sum.Replayed != 5 || f.texts(t) != "y y y y y x y" {
		t.Errorf("%+v, %v, %s", p.Sum, err, f.texts(t))
	}
}

// After a number of targets a campaign waits for the targets in progress and continues as new, with its whole state.
func TestContinueAsNew(t *testing.T) {
	t.Parallel()
	f, targets, w, c := plant(t, 8)
	if err := f.trees["t01"].Remove("a.txt"); err != nil {
		t.Fatal(err)
	}
	s := begun(t, c, targets, func(s *settings) { s.Page = 3 })
	p, runs, err := finish(t, w, s, nil)
	if err != nil || runs != 3 || p.Sum.Success != 7 || p.Sum.Failed != 1 || f.texts(t) != "y - y y y y y y" {
		t.Errorf("%+v, %d runs, %v, %s", p, runs, err, f.texts(t))
	}
	if o := all(t, c, p)[1]; o.Code != "step_failed" {
		t.Errorf("%+v", o)
	}
	// The server may ask for a continuation earlier.
	_, targets, w, c = plant(t, 5)
	p, runs, err = finish(t, w, begun(t, c, targets, nil), func(env *testsuite.TestWorkflowEnvironment, run int) {
		if run == 1 {
			env.RegisterDelayedCallback(func() { env.SetContinueAsNewSuggested(true) }, 0)
		}
	})
	if err != nil || runs > 2 || p.Sum.Success != 5 {
		t.Errorf("%+v, %d runs, %v", p, runs, err)
	}
}

// The server retries only errors that another attempt may fix.
func TestWorkerErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fails    int
		err      error
		attempts int
		code     string
	}{
		"comes back":      {2, os.ErrNotExist, 3, ""},
		"stays away":      {99, os.ErrNotExist, 5, "tree_unavailable"},
		"is no target":    {99, &fleet.TargetError{ID: "x", Reason: "r"}, 1, "invalid_target"},
		"panics for ever": {99, nil, 1, "tree_unavailable"},
	} {
		f, targets, w, c := plant(t, 1)
		opened := 0
		f.open = func(context.Context, fleet.Target) error {
			if opened++; opened > test.fails {
				return nil
			}
			if test.err == nil {
				panic("oops")
			}
			return test.err
		}
		p, _, err := finish(t, w, begun(t, c, targets, nil), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if o := all(t, c, p)[0]; o.Code != test.code || (test.code == "") != (p.Sum.Success == 1) || test.attempts != opened && name != "panics for ever" {
			t.Errorf("%s: %+v after %d attempts", name, o, opened)
		} else if o.Attempts != opened {
			t.Errorf("%s: %d attempts, not %d", name, o.Attempts, opened)
		}
	}
}

// A canceled campaign stops its current targets, and starts no more targets.
func TestCancel(t *testing.T) {
	t.Parallel()
	f, targets, w, c := plant(t, 6)
	var env *testsuite.TestWorkflowEnvironment
	f.open = func(ctx context.Context, target fleet.Target) error {
		if target.Root != "t02" {
			return nil
		}
		env.CancelWorkflow()
		<-ctx.Done()
		return context.Cause(ctx)
	}
	p, _, err := finish(t, w, begun(t, c, targets, func(s *settings) { s.Parallel = 1 }), func(e *testsuite.TestWorkflowEnvironment, _ int) { env = e })
	if err != nil || p.Sum.Success != 2 || p.Sum.Canceled != 1 || p.Sum.Skipped != 3 || p.Sum.Stopped != "canceled" ||
		f.texts(t) != "y y x x x x" {
		t.Errorf("%+v, %v, %s", p, err, f.texts(t))
	}
	for i, o := range all(t, c, p) {
		if want := []fleet.Status{fleet.Success, fleet.Success, fleet.Canceled, fleet.Skipped, fleet.Skipped, fleet.Skipped}[i]; o.Status != want || o.Target.ID != targets[i].ID {
			t.Errorf("%d: %+v", i, o)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for code, change := range map[string]func(*settings){
		fleet.CodeStopped:   func(s *settings) { s.StopAfter = 2 },
		"deadline_exceeded": func(s *settings) { s.Deadline = 25 * time.Second },
	} {
		f, targets, w, c := plant(t, 6)
		for i := range 6 {
			if err := f.trees[targets[i].Root].Remove("a.txt"); err != nil {
				t.Fatal(err)
			}
		}
		p, _, err := finish(t, w, begun(t, c, targets, func(s *settings) { s.Parallel = 1; change(s) }), func(env *testsuite.TestWorkflowEnvironment, _ int) {
			env.OnActivity(runTargetActivity, mock.Anything, mock.Anything).After(20*time.Second).Return(report{}, temporal.NewNonRetryableApplicationError("no", "step_failed", nil))
		})
		if err != nil || p.Sum.Failed != 2 || p.Sum.Skipped != 4 || p.Sum.Stopped != code {
			t.Errorf("%s: %+v, %v", code, p, err)
		}
		if o := all(t, c, p)[5]; o.Status != fleet.Skipped || o.Code != code || !strings.HasPrefix(o.Message, "not begun: ") {
			t.Errorf("%+v", o)
		}
	}
}

// asked receives the answer to an update.
type asked struct {
	t        *testing.T
	progress Progress
	rejected error
	err      error
	done     bool
}

func (a *asked) Accept() {}

func (a *asked) Reject(err error) { a.rejected, a.done = err, true }

func (a *asked) Complete(value any, err error) {
	a.err, a.done = err, true
	if p, ok := value.(Progress); ok {
		a.progress = p
	}
}

// A gate holds the campaign until its plans are approved by their common digest, and targets that have changed since
// are refused.
func TestGate(t *testing.T) {
	t.Parallel()
	f, targets, w, c := plant(t, 5)
	if err := f.trees["t04"].Remove("a.txt"); err != nil {
		t.Fatal(err)
	}
	s := begun(t, c, targets, func(s *settings) { s.Gate = true; s.Page = 2 })
	wrong, right, twice := &asked{t: t}, &asked{t: t}, &asked{t: t}
	held := false
	p, runs, err := finish(t, w, s, func(env *testsuite.TestWorkflowEnvironment, run int) {
		env.RegisterDelayedCallback(func() {
			value, err := env.QueryWorkflow(progressQuery)
			var now Progress
			if err != nil || value.Get(&now) != nil || now.Phase != PhaseHeld {
				return
			}
			held = true
			if now.Sum.Success != 4 || now.Sum.Failed != 1 || now.Sum.Files != 4 || len(now.PlanDigest) != 64 || f.texts(t) != "x x x x -" {
				t.Errorf("held: %+v with %s", now, f.texts(t))
			}
			millracetest.Plant(t, f.trees["t01"], "-- a.txt --\nx x\n") // another plan
			millracetest.Plant(t, f.trees["t04"], "-- a.txt --\nx\n")   // a file that no plan has seen
			env.UpdateWorkflow(playUpdate, "", wrong, playInput{strings.Repeat("0", 64)})
			env.UpdateWorkflow(playUpdate, "", right, playInput{now.PlanDigest})
			env.UpdateWorkflow(playUpdate, "", twice, playInput{now.PlanDigest})
		}, time.Minute)
	})
	if err != nil || !held || f.texts(t) != "y x x y y x" {
		t.Errorf("%+v, %d runs, %v, %s", p, runs, err, f.texts(t))
	}
	if wrong.rejected == nil || !strings.Contains(wrong.rejected.Error(), "the plan has the digest "+p.PlanDigest) {
		t.Errorf("a wrong digest: %v", wrong.rejected)
	}
	if right.rejected != nil || right.err != nil || !right.done || twice.rejected == nil {
		t.Errorf("right: %+v, twice: %+v", right, twice)
	}
	if p.Sum.Success != 3 || p.Sum.Failed != 2 {
		t.Errorf("%+v", p.Sum)
	}
	for i, o := range all(t, c, p) {
		if want := map[int]string{1: fleet.CodePlanChanged, 4: fleet.CodePlanChanged}[i]; o.Code != want {
			t.Errorf("%d: %+v", i, o)
		}
	}
}

// A campaign without Play ends after a while, and a canceled campaign ends immediately.
func TestHeldEnds(t *testing.T) {
	t.Parallel()
	f, targets, w, c := plant(t, 2)
	s := begun(t, c, targets, func(s *settings) { s.Gate = true })
	_, _, err := finish(t, w, s, nil)
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || app.Type() != "held" || f.texts(t) != "x x" {
		t.Errorf("%v, %s", err, f.texts(t))
	}
	p, _, err := finish(t, w, s, func(env *testsuite.TestWorkflowEnvironment, _ int) {
		env.RegisterDelayedCallback(env.CancelWorkflow, time.Minute)
	})
	if err != nil || p.Sum.Skipped != 2 || p.Sum.Stopped != "canceled" || f.texts(t) != "x x" {
		t.Errorf("%+v, %v", p, err)
	}
	if o := all(t, c, p)[1]; o.Status != fleet.Skipped {
		t.Errorf("%+v", o)
	}
}

// Targets can be retried and canceled one by one while the others continue.
func TestUpdates(t *testing.T) {
	t.Parallel()
	f, targets, w, c := plant(t, 6)
	if err := f.trees["t00"].Remove("a.txt"); err != nil {
		t.Fatal(err)
	}
	var env *testsuite.TestWorkflowEnvironment
	updates := make(map[string]*asked)
	update := func(name string, args any) {
		a := &asked{t: t}
		updates[fmt.Sprint(name, args)] = a
		env.UpdateWorkflow(name, "", a, args)
	}
	done := make(chan bool)
	f.open = func(ctx context.Context, target fleet.Target) error {
		if target.Root == "t02" {
			env.RegisterDelayedCallback(func() {
				millracetest.Plant(t, f.trees["t00"], "-- a.txt --\nx\n")
				update(cancelTargetUpdate, cancelInput{4})
				update(cancelTargetUpdate, cancelInput{1})
				update(cancelTargetUpdate, cancelInput{9})
				update(retryUpdate, retryInput{[]int{1}})
				update(retryUpdate, retryInput{})
				update(playUpdate, playInput{})
				close(done)
			}, 0)
			<-done
		}
		return nil
	}
	p, _, err := finish(t, w, begun(t, c, targets, func(s *settings) { s.Parallel = 1 }), func(e *testsuite.TestWorkflowEnvironment, _ int) { env = e })
	if err != nil || p.Sum.Success != 5 || p.Sum.Failed != 0 || p.Sum.Skipped != 1 || f.texts(t) != "y y y y x y" {
		t.Errorf("%+v, %v, %s", p, err, f.texts(t))
	}
	var refused []string
	for what, a := range updates {
		if !a.done || a.err != nil {
			t.Errorf("%s: %+v", what, a)
		}
		if a.rejected != nil {
			refused = append(refused, what)
		}
	}
	slices.Sort(refused)
	if got := fmt.Sprint(refused); got != "[cancel_target{1} cancel_target{9} play{} retry{[1]}]" {
		t.Errorf("refused: %s", got)
	}
	if o := all(t, c, p); o[0].Status != fleet.Success || o[4].Status != fleet.Skipped || o[4].Code != "canceled" {
		t.Errorf("%+v\n%+v", o[0], o[4])
	}
}

// The server retries a target whose lock is held by another process.
func TestLocked(t *testing.T) {
	t.Parallel()
	f, targets, w, c := plant(t, 1)
	n := 0
	f.open = func(context.Context, fleet.Target) error {
		if n++; n == 1 {
			return fmt.Errorf("wait: %w", fsutil.ErrLocked)
		}
		return nil
	}
	if p, _, err := finish(t, w, begun(t, c, targets, nil), nil); err != nil || p.Sum.Success != 1 || n != 2 {
		t.Errorf("%+v, %v, %d", p, err, n)
	}
}
