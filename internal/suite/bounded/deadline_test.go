package bounded_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
)

const second = time.Second

func TestDeadline(t *testing.T) {
	t.Parallel()
	// Each pipeline makes a file in its first step, and has a deadline of 10 seconds.
	begin := func(l *log) millrace.Builder {
		return millrace.New("p").Deadline(10*second).Step("made", work{file: "a", text: "a", takes: 4 * second, log: l}).Builder
	}
	for _, test := range []struct {
		name     string
		pipeline func(l *log) millrace.Builder
		step     string // the step at which the deadline passes, "" if it does not
		took     time.Duration
		ran      string
		shown    string // the ids of the steps in the result
		code     string // error code of the last step
	}{
		{
			name: "met",
			pipeline: func(l *log) millrace.Builder {
				return begin(l).Step("b", work{takes: 5999 * time.Millisecond, log: l}).Builder
			},
			took: 9999 * time.Millisecond, ran: "made b", shown: "made b",
		},
		{
			name:     "in an attempt",
			pipeline: func(l *log) millrace.Builder { return begin(l).Step("b", work{takes: 9 * second, log: l}).Builder },
			step:     "b", took: 10 * second, ran: "made b", shown: "made b",
		},
		{
			name: "in an attempt, which nothing handles",
			pipeline: func(l *log) millrace.Builder {
				return begin(l).Options(millrace.Options{ContinueOnError: true}).
					Step("b", work{takes: 9 * second, log: l}).MaxRetries(3).OnFail("d").
					Step("c", work{log: l}).When(condition.StepFailed("b")).Step("d", work{log: l}).Builder
			},
			step: "b", took: 10 * second, ran: "made b", shown: "made b",
		},
		{
			name:     "at the very end of an attempt",
			pipeline: func(l *log) millrace.Builder { return begin(l).Step("b", work{takes: 6 * second, log: l}).Builder },
			step:     "b", took: 10 * second, ran: "made b", shown: "made b",
		},
		{
			name: "in an attempt that goes on",
			pipeline: func(l *log) millrace.Builder {
				return begin(l).Step("b", work{takes: 9 * second, deaf: true, log: l}).Step("c", work{log: l}).Builder
			},
			step: "b", took: 13 * second, ran: "made b", shown: "made b",
		},
		{
			name: "before a timeout",
			pipeline: func(l *log) millrace.Builder {
				return begin(l).Step("b", work{takes: 9 * second, log: l}).Timeout(7 * second).MaxRetries(1).Builder
			},
			step: "b", took: 10 * second, ran: "made b", shown: "made b",
		},
		{
			name: "at the same time as a timeout",
			pipeline: func(l *log) millrace.Builder {
				return begin(l).Step("b", work{takes: 9 * second, log: l}).Timeout(6 * second).MaxRetries(1).Builder
			},
			step: "b", took: 10 * second, ran: "made b", shown: "made b",
		},
		{
			name: "after a timeout",
			pipeline: func(l *log) millrace.Builder {
				return begin(l).Step("b", work{takes: 9 * second, log: l}).Timeout(4 * second).MaxRetries(1).Builder
			},
			step: "b", took: 10 * second, ran: "made b b", shown: "made b",
		},
		{
			name: "in a wait",
			pipeline: func(l *log) millrace.Builder {
				return begin(l).Step("b", work{fails: 9, log: l}).MaxRetries(3).Backoff(20*second).OnFail("c").Step("c", work{log: l}).Builder
			},
			step: "b", took: 10 * second, ran: "made b", shown: "made b",
		},
		{
			name: "at the very end of a wait",
			pipeline: func(l *log) millrace.Builder {
				return begin(l).Step("b", work{fails: 9, log: l}).MaxRetries(3).Backoff(6 * second).Builder
			},
			step: "b", took: 10 * second, ran: "made b", shown: "made b",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, fsys := new(log), suite.Tree("x", "x")
				p := test.pipeline(l).MustBuild()
				start := time.Now()
				res, err := millrace.Run(t.Context(), fsys, p)
				if took := time.Since(start); took != test.took || l.String() != test.ran || ran(res) != test.shown {
					t.Errorf("took %v, ran %q, the result has %q", took, l, ran(res))
				}
				if met := test.step == ""; res.DeadlineMet == nil || *res.DeadlineMet != met || res.Success != met {
					t.Errorf("%+v", res)
				}
				if test.step == "" {
					if err != nil || suite.Read(t, fsys, "a") != "a" {
						t.Errorf("got %v", err)
					}
					return
				}
				late, ok := errors.AsType[*millrace.DeadlineError](err)
				if !ok || late.After != 10*second || late.Step != test.step || millrace.ErrorCode(err) != "deadline_exceeded" {
					t.Fatalf("got %v, code %q", err, millrace.ErrorCode(err))
				}
				if want := "the deadline of 10s has passed at step 'b'"; err.Error() != want || res.Error != want {
					t.Errorf("got %q", err)
				}
				last := res.Results[len(res.Results)-1]
				if last.Success || last.Handled || last.Error == "" || !res.RollbackPerformed {
					t.Errorf("%+v", last)
				}
				untouched(t, fsys, "x")
			})
		})
	}
}

// A step that the deadline leaves no time for does not begin, and is not in the result.
func TestDeadlineBeforeAStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := new(log)
		// The condition of the previous step is slow, as on a slow file system.
		fsys := slowStat{suite.Tree("x", "x"), 11 * second}
		p := millrace.New("p").Deadline(10*second).
			Step("a", work{log: l}).
			Step("b", work{log: l}).When(condition.FileExists("slow")).
			Step("c", work{log: l}).Timeout(second).OnFail("d").
			Step("d", work{log: l}).MustBuild()
		x, events := watched[millrace.StepFinished](millrace.Executor{})
		res, err := x.Run(t.Context(), fsys, p)
		if late, ok := errors.AsType[*millrace.DeadlineError](err); !ok || late.Step != "c" || l.String() != "a" || ran(res) != "a" {
			t.Errorf("%v, ran %q, the result has %q", err, l, ran(res))
		}
		if last := (*events)[len(*events)-1]; last.Step != "c" || last.Result.Success {
			t.Errorf("%+v", last)
		}
	})
}

// An attempt that the deadline leaves no time for does not begin, even if a condition has used up the time. An attempt
// that ends in time, but is reported too late, has failed.
func TestDeadlineBetween(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := new(log)
		fsys := slowStat{suite.Tree("x", "x"), 11 * second}
		p := millrace.New("p").Deadline(10*second).
			Step("a", work{file: "a", log: l}).
			Step("b", work{log: l}).When(condition.FileNotExists("slow")).MustBuild()
		x, events := watched[millrace.StepFinished](millrace.Executor{})
		res, err := x.Run(t.Context(), fsys, p)
		if late, ok := errors.AsType[*millrace.DeadlineError](err); !ok || late.Step != "b" || l.String() != "a" || ran(res) != "a" {
			t.Errorf("%v, ran %q, the result has %q", err, l, ran(res))
		}
		if last := (*events)[len(*events)-1]; last.Step != "b" || last.Result.Error != err.Error() {
			t.Errorf("%+v", last)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		p := millrace.New("p").Deadline(10*second).Step("a", work{file: "a", text: "a", costs: dollars(3), output: "done", log: new(log)}).MustBuild()
		x := millrace.Executor{Observe: func(e millrace.Event) {
			if _, ok := e.(millrace.FileStaged); ok {
				time.Sleep(time.Minute)
			}
		}}
		res, err := x.Run(t.Context(), suite.Tree("x", "x"), p)
		if !suite.Is[*millrace.DeadlineError](err) || len(res.Results) != 1 {
			t.Fatalf("%v, %+v", err, res)
		}
		if a := res.Results[0]; a.Success || a.Error != "work failed: the deadline of 10s has passed at step 'a'" || a.Output != "done" || a.Cost != 3*budget.Cent {
			t.Errorf("%+v", a)
		}
	})
}

// slowStat is slow to stat a file called "slow".
type slowStat struct {
	afero.Fs
	takes time.Duration
}

func (s slowStat) Stat(name string) (info fs.FileInfo, err error) {
	if name == "slow" {
		time.Sleep(s.takes)
	}
	return s.Fs.Stat(name)
}

// Observers receive the exact waits.
func TestDeadlineCutsWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x, retries := watched[millrace.StepRetrying](millrace.Executor{})
		p := millrace.New("p").Deadline(10*second).Step("b", work{fails: 9, log: new(log)}).MaxRetries(9).Backoff(4 * second).MustBuild()
		res, err := x.Run(t.Context(), suite.Tree("x", "x"), p)
		var waits []time.Duration
		for _, e := range *retries {
			waits = append(waits, e.Wait)
		}
		if d := cmp.Diff([]time.Duration{4 * second, 6 * second}, waits); d != "" || !suite.Is[*millrace.DeadlineError](err) {
			t.Errorf("%v, waits (-want +got):\n%s", err, d)
		}
		b := res.Results[0]
		if b.Attempts != 2 || b.Error != "work failed: it does not work" || len(res.History) != 1 || len(res.History[0].Attempts) != 2 {
			t.Errorf("%+v, %+v", b, res.History)
		}
	})
}

// A run whose steps are done in time may still be too late for its commit. A commit that has begun goes on. A finished
// plan has no deadline any more.
func TestDeadlineAndTheCommit(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").Deadline(10*second).Step("a", work{file: "a", text: "a", takes: 9 * second, log: new(log)}).MustBuild()
	synctest.Test(t, func(t *testing.T) { // the commit is slow
		fsys := suite.Tree("x", "x")
		x := millrace.Executor{Observe: func(e millrace.Event) {
			if e, ok := e.(millrace.CommitPhase); ok && e.Done == 0 {
				time.Sleep(time.Minute)
			}
		}}
		res, err := x.Run(t.Context(), fsys, p)
		if err != nil || !*res.DeadlineMet || suite.Read(t, fsys, "a") != "a" || res.TotalDuration < time.Minute {
			t.Errorf("%v, %+v", err, res)
		}
	})
	synctest.Test(t, func(t *testing.T) { // the time between the last step and the commit is long
		fsys := suite.Tree("x", "x")
		x := millrace.Executor{Observe: func(e millrace.Event) {
			if e, ok := e.(millrace.StepFinished); ok && e.Step == "a" {
				time.Sleep(time.Minute)
			}
		}}
		res, err := x.Run(t.Context(), fsys, p)
		if late, ok := errors.AsType[*millrace.DeadlineError](err); !ok || late.Step != "" || err.Error() != "the deadline of 10s has passed before the commit" {
			t.Errorf("got %v", err)
		}
		if *res.DeadlineMet || res.Success || !res.RollbackPerformed || res.FilesChanged.Count() != 0 || res.CompletedSteps != 1 {
			t.Errorf("%+v", res)
		}
		untouched(t, fsys, "x")
	})
	synctest.Test(t, func(t *testing.T) { // the plan is kept for an hour
		fsys := suite.Tree("x", "x")
		plan, err := millrace.Executor{}.Plan(t.Context(), fsys, p)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if res, err := plan.Commit(t.Context()); err != nil || !*res.DeadlineMet || suite.Read(t, fsys, "a") != "a" {
			t.Errorf("%v, %+v", err, res)
		}
	})
}

// The deadline does not count the wait for another run on the tree.
func TestDeadlineDoesNotCountTheLock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fsys := suite.Tree("x", "x")
		begun := make(chan struct{})
		first := millrace.New("first").Step("a", suite.Action{Do: func(context.Context, *actions.Call) (actions.Outcome, error) {
			close(begun)
			time.Sleep(30 * second)
			return actions.Outcome{}, nil
		}}).MustBuild()
		done := make(chan error)
		go func() {
			_, err := millrace.Run(t.Context(), fsys, first)
			done <- err
		}()
		<-begun
		p := millrace.New("p").Deadline(10*second).Step("a", work{file: "a", text: "a", takes: 9 * second, log: new(log)}).MustBuild()
		start := time.Now()
		res, err := millrace.Run(t.Context(), fsys, p)
		if err != nil || !*res.DeadlineMet || time.Since(start) < 39*second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A run that is canceled before its deadline has not missed the deadline.
func TestCanceledBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*second)
		defer cancel()
		p := millrace.New("p").Deadline(10*second).Step("a", work{takes: 20 * second, log: new(log)}).MustBuild()
		res, err := millrace.Run(ctx, suite.Tree("x", "x"), p)
		if !errors.Is(err, context.DeadlineExceeded) || millrace.ErrorCode(err) != "canceled" || !*res.DeadlineMet {
			t.Errorf("%v, %+v", err, res)
		}
	})
}

// In parallel the deadline ends all running steps, and no step begins after it.
func TestDeadlineInParallel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := new(log)
		p := millrace.New("p").Deadline(10*second).Options(millrace.Options{Parallel: true, ContinueOnError: true}).
			Step("a", work{takes: 5 * second, log: l}).
			Step("b", work{takes: 20 * second, log: l}).
			Step("c", work{takes: 30 * second, log: l}).
			Step("d", work{log: l}).When(condition.StepFailed("b")).
			Step("e", work{file: "e", log: l}).When(condition.StepFailed("b")).MustBuild()
		start := time.Now()
		res, err := millrace.Executor{Workers: 9}.Run(t.Context(), suite.Tree("x", "x"), p)
		if late, ok := errors.AsType[*millrace.DeadlineError](err); !ok || late.Step != "b" || time.Since(start) != 10*second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if *res.DeadlineMet || res.Success || len(l.steps) != 3 || res.Results[1].Handled {
			t.Errorf("ran %q, %+v", l, res)
		}
	})
}
