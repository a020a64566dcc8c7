package bounded_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
)

// drawBounded draws a pipeline of steps that cost, write and fail, some of them depending on others.
func drawBounded(t *rapid.T) func(l *log) millrace.Pipeline {
	cents := rapid.Custom(func(t *rapid.T) budget.Cost { return budget.Cost(rapid.IntRange(0, 4).Draw(t, "cents")) * budget.Cent })
	limit := budget.Limit{USD: budget.Cost(rapid.IntRange(0, 6).Draw(t, "usd")) * budget.Cent, Edits: rapid.IntRange(0, 9).Draw(t, "edits")}
	if rapid.Bool().Draw(t, "sizes") {
		limit.Files, limit.Bytes = rapid.IntRange(0, 3).Draw(t, "files"), int64(rapid.IntRange(0, 9).Draw(t, "bytes"))
	}
	options := millrace.Options{ContinueOnError: rapid.Bool().Draw(t, "continue")}
	type drawn struct {
		id   string
		work work
		from string
		when condition.Condition
	}
	var steps []drawn
	for i := range rapid.IntRange(2, 7).Draw(t, "steps") {
		s := drawn{id: fmt.Sprintf("s%d", i)}
		if rapid.IntRange(0, 2).Draw(t, "costs") > 0 {
			s.work.costs = []budget.Cost{cents.Draw(t, "cost")}
		}
		s.work.edits = rapid.IntRange(0, 3).Draw(t, "edits")
		if rapid.Bool().Draw(t, "writes") {
			s.work.file = rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "file")
			s.work.text = strings.Repeat("x", rapid.IntRange(0, 4).Draw(t, "text"))
		}
		if rapid.IntRange(0, 4).Draw(t, "fails") == 0 {
			s.work.fails = 1
		}
		if i > 0 {
			earlier := func() string { return fmt.Sprintf("s%d", rapid.IntRange(0, i-1).Draw(t, "earlier")) }
			switch rapid.IntRange(0, 5).Draw(t, "way") {
			case 0:
				s.from = earlier()
			case 1:
				s.when = condition.StepFailed(earlier())
			case 2:
				s.when = condition.StepSucceeded(earlier())
			}
		}
		steps = append(steps, s)
	}
	return func(l *log) millrace.Pipeline {
		b := millrace.New("bounded").Options(options).Budget(limit)
		for _, s := range steps {
			s.work.log = l
			step := b.Step(s.id, s.work)
			if s.from != "" {
				step = step.From(s.from)
			}
			if !s.when.IsZero() {
				step = step.When(s.when)
			}
			b = step.Builder
		}
		p, err := b.Build()
		if err != nil {
			t.Fatalf("the generator made an invalid pipeline: %v", err)
		}
		return p
	}
}

// tree returns the files of a tree without the state directory.
func tree(t *rapid.T, fsys afero.Fs) map[string]string {
	files := make(map[string]string)
	for _, name := range []string{"a", "b", "c", "d"} {
		if data, err := afero.ReadFile(fsys, name); err == nil {
			files[name] = string(data)
		}
	}
	return files
}

// A run in parallel ends where the run in sequence ends, with the same result. Only its costs may be higher: steps may
// have run that would not have begun in sequence.
func TestParallelSpendsAsInSequence(t *testing.T) {
	stopped, overspent := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		pipeline := drawBounded(t)
		x := millrace.Executor{State: millrace.State{NoSync: true}, DryRun: rapid.Bool().Draw(t, "dry run"), Workers: rapid.IntRange(1, 4).Draw(t, "workers")}
		var results [2]*millrace.Result
		var errs [2]string
		var trees [2]map[string]string
		for i := range results {
			fsys := afero.NewMemMapFs()
			if err := afero.WriteFile(fsys, "a", []byte("old"), 0o644); err != nil {
				t.Fatal(err)
			}
			p := pipeline(new(log))
			o := p.Options()
			o.Parallel = i == 1
			res, err := x.Run(t.Context(), fsys, p.WithOptions(o))
			if err != nil {
				errs[i] = millrace.ErrorCode(err) + ": " + err.Error()
			}
			results[i], trees[i] = res, tree(t, fsys)
		}
		sequence, parallel := results[0], results[1]
		if errs[0] != errs[1] {
			t.Fatalf("in sequence %q, in parallel %q", errs[0], errs[1])
		}
		if strings.HasPrefix(errs[0], "budget_exceeded") {
			stopped++
		}
		if parallel.Cost < sequence.Cost {
			t.Fatalf("in sequence %v were spent, in parallel %v", sequence.Cost, parallel.Cost)
		}
		same := []cmp.Option{
			cmpopts.IgnoreFields(millrace.Result{}, "TotalDuration", "BackupID"), cmpopts.IgnoreFields(millrace.StepResult{}, "Duration"),
		}
		if parallel.Cost > sequence.Cost {
			overspent++
			if sequence.Success {
				t.Fatalf("a run that comes to its end spends %v in sequence and %v in parallel", sequence.Cost, parallel.Cost)
			}
			same = append(same, cmpopts.IgnoreFields(millrace.Result{}, "Cost", "Warnings"), cmpopts.IgnoreFields(budget.Report{}, "Spent", "Exceeded"))
		}
		if d := cmp.Diff(sequence, parallel, same...); d != "" {
			t.Fatalf("result (-sequence +parallel):\n%s", d)
		}
		if d := cmp.Diff(trees[0], trees[1]); d != "" {
			t.Fatalf("tree (-sequence +parallel):\n%s", d)
		}
	})
	if t.Logf("%d runs were stopped, and %d spent more", stopped, overspent); !t.Failed() && stopped == 0 {
		t.Error("no run was stopped")
	}
}

// In parallel, the budget is not checked for a step that was skipped or has failed before it began. If a step fails
// before the step without money, the run ends with that failure.
func TestParallelEndsAsInSequence(t *testing.T) {
	t.Parallel()
	limit := budget.Limit{USD: 3 * budget.Cent}
	for want, build := range map[string]func(l *log) millrace.StepBuilder{
		"": func(l *log) millrace.StepBuilder {
			return millrace.New("p").Budget(limit).Step("ask", work{costs: dollars(3), log: l}).
				Step("skipped", work{costs: dollars(3), log: l}).When(condition.StepFailed("ask")).
				Step("free", work{file: "a", log: l})
		},
		"pipeline failed at step 2: work failed: ": func(l *log) millrace.StepBuilder {
			return millrace.New("p").Budget(limit).Step("ask", work{costs: dollars(3), log: l}).
				Step("unknown", work{costs: dollars(3), log: l}).When(condition.FileExists("{{ask.files}}"))
		},
	} {
		for _, options := range []millrace.Options{{}, {Parallel: true}} {
			res, err := millrace.Executor{}.Run(t.Context(), suite.Tree("x", "x"), build(new(log)).MustBuild().WithOptions(options))
			if (err == nil) != (want == "") || !strings.HasPrefix(res.Error, want) {
				t.Errorf("%+v: %v, want %q", options, err, want)
			}
		}
	}
}

// If a step fails before the step without money, the run ends with that failure, even if the lack of money was found
// first.
func TestParallelEndsWithTheFirst(t *testing.T) {
	t.Parallel()
	for range 20 {
		begun, failed := false, make(chan struct{})
		x := millrace.Executor{
			Workers: 3,
			Logger: slog.New(slog.NewTextHandler(writer(func(line string) { // a failure is logged first, then observed
				if strings.Contains(line, "step failed") {
					close(failed)
				}
			}), nil)),
			Observe: func(e millrace.Event) {
				if e, ok := e.(millrace.StepStarted); ok && e.Step == "fails" {
					begun = true
				} else if ok && e.Step == "none" && begun {
					<-failed
				}
			},
		}
		p := millrace.New("p").Budget(budget.Limit{USD: 3 * budget.Cent}).Options(millrace.Options{Parallel: true}).
			Step("ask", work{costs: dollars(3), file: "a", log: new(log)}).
			Step("fails", work{fails: 1, log: new(log)}).When(condition.StepSucceeded("ask")).
			Step("none", work{costs: dollars(3), log: new(log)}).When(condition.StepSucceeded("ask")).
			Step("last", work{log: new(log)}).When(condition.StepSucceeded("ask")).MustBuild() // goroutines begin with this step
		_, err := x.Run(t.Context(), suite.Tree("x", "x"), p)
		if step, ok := errors.AsType[*millrace.StepError](err); !ok || step.Step != "fails" {
			t.Fatalf("got %v", err)
		}
	}
}

// writer calls a function with the written text.
type writer func(string)

func (w writer) Write(p []byte) (int, error) {
	w(string(p))
	return len(p), nil
}

// The observer receives the refusal of a step that was reported to begin.
func TestObserverOfWhatMayNotBegin(t *testing.T) {
	t.Parallel()
	for _, options := range []millrace.Options{{}, {Parallel: true}} {
		p := millrace.New("p").Budget(budget.Limit{USD: budget.Cent}).Options(options).
			Step("ask", work{costs: dollars(1), log: new(log)}).Step("none", work{costs: dollars(1), log: new(log)}).MustBuild()
		x, finished := watched[millrace.StepFinished](millrace.Executor{Workers: 1})
		_, err := x.Run(t.Context(), afero.NewMemMapFs(), p)
		if len(*finished) != 2 || err == nil {
			t.Errorf("%+v: %v, %+v", options, err, *finished)
		} else if e := (*finished)[1]; e.Step != "none" || e.Index != 1 || e.Visit != 1 || e.Result.Success || e.Result.Error != err.Error() {
			t.Errorf("%+v: %+v", options, e)
		}
	}
}

// In parallel, a step may run before an earlier step. If it would not have begun in sequence, it is not in the result,
// but its cost is spent.
func TestParallelCountsWhatWouldNotHaveBegun(t *testing.T) {
	t.Parallel()
	for _, fails := range []int{0, 1} {
		p := func(l *log, options millrace.Options) millrace.Pipeline {
			return millrace.New("p").Budget(budget.Limit{USD: 3 * budget.Cent}).Options(options).
				Step("first", work{log: l, file: "a"}).
				Step("late", work{costs: dollars(3), log: l}).When(condition.StepSucceeded("first")).
				Step("early", work{costs: dollars(2), fails: fails, log: l}).
				Step("free", work{log: l}).When(condition.StepFailed("early")).MustBuild()
		}
		ways := []millrace.Options{{}, {Parallel: true}}
		spent := []budget.Cost{3 * budget.Cent, 5 * budget.Cent}
		logs := []string{"first late", "early first late"}
		for i, o := range ways {
			l := new(log)
			res, err := millrace.Executor{Workers: 1}.Run(t.Context(), afero.NewMemMapFs(), p(l, o))
			if err == nil || err.Error() != "budget of $0.03 is spent ($0.03) before step 'early'" {
				t.Errorf("fails %d, way %d: %v", fails, i, err)
			}
			if res.Cost != spent[i] || res.Budget.Spent != spent[i] || ran(res) != "first late" {
				t.Errorf("fails %d, way %d: cost %v, the result has %q", fails, i, res.Cost, ran(res))
			}
			if l.String() != logs[i] && l.String() != logs[i]+" free" {
				t.Errorf("fails %d, way %d: ran %q", fails, i, l)
			}
		}
	}
}

// A dry run is the run without its commit: it ends where the run ends, and reports what would block.
func TestDryRunIsTheRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pipeline := drawBounded(t)
		dry, dryErr := millrace.Executor{DryRun: true}.Run(t.Context(), afero.NewMemMapFs(), pipeline(new(log)))
		res, err := millrace.Executor{State: millrace.State{NoSync: true}}.Run(t.Context(), afero.NewMemMapFs(), pipeline(new(log)))
		if d := cmp.Diff(res.Budget, dry.Budget); d != "" || res.Cost != dry.Cost || res.BlockReason != dry.BlockReason {
			t.Fatalf("%q, dry %q, budget (-run +dry):\n%s", res.BlockReason, dry.BlockReason, d)
		}
		if suite.Is[*millrace.BlockedError](err) != dry.WouldBlock || suite.Is[*millrace.BudgetError](err) && !dry.WouldBlock != suite.Is[*millrace.BudgetError](dryErr) {
			t.Fatalf("%v, dry %v", err, dryErr)
		}
		// However a run ends, the commit never exceeds the budget.
		p := pipeline(new(log))
		if what := p.Budget().Exceeded(use(res)); what != "" && res.Commit.State == millrace.CommitApplied {
			t.Fatalf("more %s were committed than %+v has: %+v", what, p.Budget(), res.Budget)
		}
	})
}

// use returns the use that a result reports.
func use(res *millrace.Result) budget.Use {
	u := budget.Use{Files: res.FilesChanged.Count(), Edits: res.TotalEdits}
	if res.Budget != nil && res.Budget.Bytes != nil {
		u.Bytes = res.Budget.Bytes.Spent
	}
	return u
}

var _ actions.Toucher = work{}
