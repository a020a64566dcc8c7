package told_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// The steps of a run and StepContext find the values that the host puts into the run's context. A commit has a context
// of its own.
func TestRunContextReachesTheSteps(t *testing.T) {
	t.Parallel()
	var told, found []string
	span := func(ctx context.Context) string { s, _ := ctx.Value(spanKey{}).(string); return s }
	x := millrace.Executor{
		RunID: "one",
		Observe: func(e millrace.Event) {
			switch e := e.(type) {
			case millrace.RunStarted:
				told = append(told, e.Phase)
			case millrace.RunFinished:
				told = append(told, "/"+e.Phase)
			}
		},
		RunContext: func(ctx context.Context, r millrace.RunStarted) (context.Context, func(millrace.RunFinished)) {
			told = append(told, fmt.Sprintf("%s/%s/%s in %s", r.Phase, r.Pipeline, r.RunID, span(ctx)))
			return context.WithValue(ctx, spanKey{}, r.Phase), func(f millrace.RunFinished) {
				told = append(told, fmt.Sprintf("end of %s, success %v", f.Phase, f.Result.Success))
			}
		},
		StepContext: func(ctx context.Context, s millrace.StepStarted) context.Context {
			found = append(found, "step in "+span(ctx))
			return ctx
		},
	}
	p := doing(func(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
		found = append(found, "action in "+span(ctx))
		return actions.Outcome{}, afero.WriteFile(c.FS, "x", []byte("new"), 0o644)
	})
	in := func(name string) context.Context { return context.WithValue(t.Context(), spanKey{}, name) }
	fsys := suite.Tree("x", "x")
	plan, err := x.Plan(in("caller"), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	committed, err := plan.Commit(in("approver"))
	if err != nil {
		t.Fatal(err)
	}
	x.RunID = "two"
	if _, err := x.Run(in("caller"), fsys, p); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Restore(in("caller"), fsys, committed.BackupID); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"plan", "plan/p/one in caller", "/plan", "end of plan, success true",
		"commit", "commit/p/one in approver", "/commit", "end of commit, success true",
		"run", "run/p/two in caller", "/run", "end of run, success true",
		"commit", "commit/restore " + committed.BackupID + "/two in caller", "/commit", "end of commit, success true",
	}
	if d := cmp.Diff(want, told); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"step in plan", "action in plan", "step in run", "action in run"}, found); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func same(ctx context.Context) context.Context { return ctx }

// A context that does not descend from the given context is not used, and the result reports that, for every verb, with
// an observer and without.
func TestRunContextThatIsNone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		make func(context.Context) context.Context
		end  func(millrace.RunFinished)
		want string // in the warning
	}{
		"nil":        {func(context.Context) context.Context { return nil }, nil, "RunContext was not heeded"},
		"background": {func(context.Context) context.Context { return context.Background() }, nil, "RunContext was not heeded"},
		"panic":      {func(context.Context) context.Context { panic("no span") }, nil, "RunContext failed, the run went on: panic: no span"},
		"end":        {same, func(millrace.RunFinished) { panic("no end") }, "the end of the host's RunContext failed, the run went on: panic: no end"},
		"goexit":     {same, func(millrace.RunFinished) { runtime.Goexit() }, "the end of the host's RunContext failed"},
	} {
		for _, observe := range []func(millrace.Event){nil, func(millrace.Event) {}} {
			x := millrace.Executor{
				Observe: observe,
				RunContext: func(ctx context.Context, _ millrace.RunStarted) (context.Context, func(millrace.RunFinished)) {
					return test.make(ctx), test.end
				},
			}
			fsys := suite.Tree("a", "x\n")
			plan, err := x.Plan(t.Context(), fsys, suite.Edit("a"))
			if err != nil {
				t.Fatal(name, err)
			}
			committed, err := plan.Commit(t.Context())
			if err != nil {
				t.Fatal(name, err)
			}
			restored, err := x.Restore(t.Context(), fsys, committed.BackupID)
			if err != nil {
				t.Fatal(name, err)
			}
			x.DryRun = true
			dry, err := x.Run(t.Context(), fsys, suite.Edit("a"))
			if err != nil {
				t.Fatal(name, err)
			}
			for i, res := range []*millrace.Result{plan.Result(), committed, restored, dry} {
				if n := strings.Count(strings.Join(res.Warnings, "\n"), test.want); n != 1 {
					t.Errorf("%s, %d: warnings %q, want %q", name, i, res.Warnings, test.want)
				}
			}
		}
	}
}

// The run ends with the context of its caller, whatever the host makes of it, and earlier if the host wants that.
func TestRunContextEndsWithTheCaller(t *testing.T) {
	t.Parallel()
	errHost, errCaller := errors.New("the host has enough"), errors.New("the caller has enough")
	ended := func(ctx context.Context) context.Context {
		ctx, end := context.WithCancelCause(ctx)
		end(errHost)
		return ctx
	}
	for name, test := range map[string]struct {
		make   func(context.Context) context.Context
		caller bool
		cause  error
	}{
		"host":           {ended, false, errHost},
		"caller":         {same, true, errCaller},
		"caller, cutoff": {context.WithoutCancel, true, errCaller},
		"neither":        {same, false, nil},
	} {
		ctx, end := context.WithCancelCause(t.Context())
		began := []string{}
		x := millrace.Executor{
			RunContext: func(ctx context.Context, _ millrace.RunStarted) (context.Context, func(millrace.RunFinished)) {
				return test.make(ctx), nil
			},
			Observe: func(e millrace.Event) {
				if e, ok := e.(millrace.StepStarted); ok {
					began = append(began, e.Step)
				}
			},
		}
		act := doing(func(ctx context.Context, _ *actions.Call) (actions.Outcome, error) {
			if test.caller {
				end(errCaller)
				<-ctx.Done()
			}
			return actions.Outcome{}, nil
		})
		res, err := x.Run(ctx, suite.Tree("x", "x"), act)
		end(nil)
		if test.cause == nil {
			if err != nil || !slices.Equal(began, []string{"s0"}) {
				t.Errorf("%s: %v, began %q", name, err, began)
			}
			continue
		}
		if millrace.ErrorCode(err) != "canceled" || !errors.Is(err, test.cause) || len(res.Warnings) > 0 {
			t.Errorf("%s: %v, want %v; warnings %q", name, err, test.cause, res.Warnings)
		}
	}
}
