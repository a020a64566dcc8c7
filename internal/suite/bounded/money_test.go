package bounded_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
)

func dollars(cents ...budget.Cost) []budget.Cost {
	for i := range cents {
		cents[i] *= budget.Cent
	}
	return cents
}

// A step with a cost does not begin once the money is spent; a step that costs nothing does.
func TestMoneyIsSpent(t *testing.T) {
	t.Parallel()
	l := new(log)
	p := millrace.New("p").Budget(budget.Limit{USD: 3 * budget.Dollar}).
		Step("first", work{costs: dollars(180), file: "a", text: "a", log: l}).
		Step("second", work{costs: dollars(122), log: l}).
		Step("free", work{log: l}).
		Step("third", work{costs: dollars(50), log: l}).OnFail("report").
		Step("report", work{log: l}).
		MustBuild()
	fsys := suite.Tree("x", "x")
	x, spent := watched[millrace.CostSpent](millrace.Executor{})
	res, err := x.Run(t.Context(), fsys, p)
	stop, ok := errors.AsType[*millrace.BudgetError](err)
	if want := (millrace.BudgetError{What: "usd", Limit: 3_000_000, Spent: 3_020_000, Step: "third"}); !ok || *stop != want {
		t.Fatalf("got %v", err)
	}
	if got, want := err.Error(), "budget of $3.00 is spent ($3.02) before step 'third'"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := millrace.ErrorCode(err); got != "budget_exceeded" {
		t.Errorf("code %q", got)
	}
	if l.String() != "first second free" || ran(res) != "first second free" {
		t.Errorf("ran %q, the result has %q", l, ran(res))
	}
	if res.Success || !res.RollbackPerformed || res.Error != err.Error() || len(res.Warnings) > 0 {
		t.Errorf("%+v", res)
	}
	untouched(t, fsys, "x")
	if res.Cost != 302*budget.Cent || res.Results[0].Cost != 180*budget.Cent || res.Results[2].Cost != 0 {
		t.Errorf("cost %v, of the steps %v", res.Cost, res.Results)
	}
	if d := cmp.Diff(&budget.Report{Limit: 3 * budget.Dollar, Spent: 302 * budget.Cent, Exceeded: true}, res.Budget); d != "" {
		t.Errorf("budget (-want +got):\n%s", d)
	}
	want := []millrace.CostSpent{
		{Step: "first", Cost: 180 * budget.Cent, Total: 180 * budget.Cent}, {Step: "second", Cost: 122 * budget.Cent, Total: 302 * budget.Cent},
	}
	if d := cmp.Diff(want, *spent); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
}

// A step that goes over the budget is kept if no later step has a cost: the money is spent either way.
func TestMoneyIsOverspentByTheLast(t *testing.T) {
	t.Parallel()
	for cents, warnings := range map[budget.Cost][]string{
		300: nil, // the exact amount is not over the budget
		302: {"budget of $3.00 is exceeded: $3.02 were spent"},
	} {
		p := millrace.New("p").Budget(budget.Limit{USD: 3 * budget.Dollar}).
			Step("ask", work{costs: dollars(cents), file: "a", text: "a", log: new(log)}).
			Step("free", work{log: new(log)}).MustBuild()
		fsys := suite.Tree("x", "x")
		res, err := millrace.Run(t.Context(), fsys, p)
		if err != nil || !res.Success || suite.Read(t, fsys, "a") != "a" {
			t.Errorf("%d cents: %v", cents, err)
		}
		if d := cmp.Diff(warnings, res.Warnings); d != "" || res.Budget.Exceeded != (warnings != nil) {
			t.Errorf("%d cents: %+v, warnings (-want +got):\n%s", cents, res.Budget, d)
		}
	}
}

// The budget is checked before each attempt, and the cost of failed attempts counts. The step shows the previous
// attempt.
func TestMoneyOfAttempts(t *testing.T) {
	t.Parallel()
	l := new(log)
	p := millrace.New("p").Budget(budget.Limit{USD: budget.Dollar}).
		Step("made", work{file: "a", text: "a", log: l}).
		Step("ask", work{costs: dollars(40, 70, 5), fails: 9, output: "no", log: l}).MaxRetries(5).OnFail("report").
		Step("report", work{log: l}).
		MustBuild()
	fsys := suite.Tree("x", "x")
	res, err := millrace.Run(t.Context(), fsys, p)
	if got, want := millrace.ErrorCode(err)+": "+err.Error(), "budget_exceeded: budget of $1.00 is spent ($1.10) before step 'ask'"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if l.String() != "made ask ask" {
		t.Errorf("ran %q", l)
	}
	untouched(t, fsys, "x")
	ask := res.Results[1]
	if ask.Cost != 110*budget.Cent || ask.Attempts != 2 || ask.Success || ask.Handled || ask.Error != "work failed: it does not work" || ask.Output != "no" {
		t.Errorf("%+v", ask)
	}
	if n := len(res.History); n != 2 || len(res.History[1].Attempts) != 2 || res.History[1].Outcome != "failed" || !res.History[0].Discarded {
		t.Errorf("history %+v", res.History)
	}
}

// The cost of visits that a restart discarded stays spent.
func TestMoneyOfVisits(t *testing.T) {
	t.Parallel()
	l := new(log)
	loop := func(limit budget.Cost) millrace.Pipeline {
		return millrace.New("p").Budget(budget.Limit{USD: limit}).
			Step("fix", work{costs: dollars(50), file: "a", text: "a", edits: 1, log: l}).MaxVisits(4).
			Step("check", work{costs: dollars(10), output: "again", log: l}).Retry(millrace.Retry{Step: "fix", Keyword: "again", Restart: true}).OnFail("end").
			Step("end", work{log: l}).MustBuild()
	}
	res, err := millrace.Run(t.Context(), suite.Tree("x", "x"), loop(10*budget.Dollar))
	if err != nil || res.Cost != 240*budget.Cent || res.Results[0].Cost != 50*budget.Cent || res.TotalEdits != 1 {
		t.Errorf("%v, cost %v, %+v", err, res.Cost, res.Results)
	}
	if res.Results[1].Cost != 10*budget.Cent || res.Results[1].Visits != 4 {
		t.Errorf("%+v", res.Results[1])
	}
	res, err = millrace.Run(t.Context(), suite.Tree("x", "x"), loop(110*budget.Cent))
	if stop, ok := errors.AsType[*millrace.BudgetError](err); !ok || stop.Step != "check" || stop.Spent != 1_100_000 || res.Cost != 110*budget.Cent {
		t.Errorf("%v, cost %v", err, res.Cost)
	}
	if got := ran(res); got != "fix check" || res.Results[0].Visits != 2 || res.Results[1].Visits != 0 {
		t.Errorf("%s, %+v", got, res.Results)
	}
}

// A run without money ends even if stop_on_error is false. A skipped step needs no money.
func TestMoneyEndsARun(t *testing.T) {
	t.Parallel()
	l := new(log)
	p := millrace.New("p").Budget(budget.Limit{USD: budget.Cent}).Options(millrace.Options{ContinueOnError: true}).
		Step("ask", work{costs: dollars(2), log: l}).
		Step("none", work{file: "none", log: l, fails: 9}).
		Step("skipped", work{costs: dollars(1), log: l}).From("none").
		Step("free", work{file: "a", text: "a", log: l}).
		Step("last", work{costs: dollars(1), log: l}).MustBuild()
	for _, dry := range []bool{false, true} {
		fsys := suite.Tree("x", "x")
		res, err := millrace.Executor{DryRun: dry}.Run(t.Context(), fsys, p)
		if stop, ok := errors.AsType[*millrace.BudgetError](err); !ok || stop.Step != "last" || res.Success || res.WouldBlock {
			t.Errorf("dry %v: %v", dry, err)
		}
		untouched(t, fsys, "x")
	}
	if plan, err := (millrace.Executor{}).Plan(t.Context(), suite.Tree("x", "x"), p); !suite.Is[*millrace.BudgetError](err) {
		t.Errorf("%v", err)
	} else if _, err := json.Marshal(plan); !suite.Is[*millrace.BudgetError](err) {
		t.Errorf("stored: %v", err)
	} else if _, err := plan.Commit(t.Context()); !suite.Is[*millrace.BudgetError](err) {
		t.Errorf("committed: %v", err)
	}
}

// The smaller budget of host and pipeline counts, for each measure on its own.
func TestBudgetOfTheHost(t *testing.T) {
	t.Parallel()
	p := func(limit budget.Limit) millrace.Pipeline {
		return millrace.New("p").Budget(limit).
			Step("a", work{costs: dollars(100), file: "a", text: "a", log: new(log)}).
			Step("b", work{costs: dollars(100), file: "b", text: "b", log: new(log)}).MustBuild()
	}
	for _, test := range []struct {
		pipeline, host budget.Limit
		want           string
	}{
		{budget.Limit{}, budget.Limit{}, ""},
		{budget.Limit{USD: 2 * budget.Dollar}, budget.Limit{Files: 2}, ""},
		{budget.Limit{}, budget.Limit{USD: budget.Dollar}, "budget of $1.00 is spent ($1.00) before step 'b'"},
		{budget.Limit{USD: 9 * budget.Dollar}, budget.Limit{USD: budget.Dollar}, "budget of $1.00 is spent ($1.00) before step 'b'"},
		{budget.Limit{USD: budget.Dollar}, budget.Limit{USD: 9 * budget.Dollar}, "budget of $1.00 is spent ($1.00) before step 'b'"},
		{budget.Limit{USD: 9 * budget.Dollar}, budget.Limit{Files: 1}, "budget of 1 files is exceeded (2), force does not help"},
	} {
		x := millrace.Executor{Budget: test.host}
		res, err := x.Run(t.Context(), suite.Tree("x", "x"), p(test.pipeline))
		if got := res.Error; got != test.want || (err == nil) != (got == "") {
			t.Errorf("%+v within %+v: got %q, want %q", test.pipeline, test.host, got, test.want)
		}
		limit := test.pipeline.Within(test.host)
		if (res.Budget == nil) != limit.IsZero() || res.Budget != nil && res.Budget.Limit != limit.USD {
			t.Errorf("%+v within %+v: %+v", test.pipeline, test.host, res.Budget)
		}
	}
	_, err := millrace.Executor{Budget: budget.Limit{Bytes: -1}}.Run(t.Context(), suite.Tree("x", "x"), p(budget.Limit{}))
	if host, ok := errors.AsType[*millrace.ExecutorError](err); !ok || host.Field != "Budget" || !strings.Contains(err.Error(), "budget.bytes must be more than 0, got -1") {
		t.Errorf("a negative limit: %v", err)
	}
}

// A run without costs mentions no cost in its texts, and a cost is never negative.
func TestNoCost(t *testing.T) {
	t.Parallel()
	x, spent := watched[millrace.CostSpent](millrace.Executor{})
	p := millrace.New("p").Step("a", work{costs: dollars(0), log: new(log)}).Step("b", work{costs: dollars(-5), log: new(log)}).MustBuild()
	res, err := x.Run(t.Context(), suite.Tree("x", "x"), p)
	if err != nil || res.Cost != 0 || len(*spent) != 0 || res.Budget != nil || res.DeadlineMet != nil {
		t.Errorf("%v, %v, %v", err, res.Cost, *spent)
	}
	data, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cost", "budget", "deadline", "classification"} {
		if strings.Contains(string(data), name) {
			t.Errorf("%s is in %s", name, data)
		}
	}
}

// A run that has made all its attempts ends before a step that could only fail.
func TestNoAttemptIsLeft(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]func(b millrace.Builder) millrace.StepBuilder{
		"a step": func(b millrace.Builder) millrace.StepBuilder { return b.Step("b", work{log: new(log)}) },
		"a condition that fails": func(b millrace.Builder) millrace.StepBuilder {
			return b.Step("b", work{log: new(log)}).When(condition.FileExists("{{a.files}}"))
		},
	} {
		p := step(millrace.New("p").MaxAttempts(1).Step("a", work{log: new(log)}).Builder).MustBuild()
		res, err := millrace.Run(t.Context(), suite.Tree("x", "x"), p)
		const want = "the run has made all its 1 attempts before step 'b'"
		if err == nil || err.Error() != want || res.Success || ran(res) != "a" {
			t.Errorf("%s: %v, the result has %q", name, err, ran(res))
		}
	}
}
