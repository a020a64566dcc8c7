package bounded_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/suite"
)

// A stored plan keeps the budget of its pipeline, which holds wherever the plan is committed.
func TestStoredPlanHasItsBudget(t *testing.T) {
	t.Parallel()
	p := change(budget.Limit{USD: budget.Dollar, Files: 3}).Classification("internal").Deadline(time.Hour).
		Options(millrace.Options{Force: true}).MustBuild()
	fsys := suite.Tree(treeToChange...)
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	text := suite.Stored(t, plan)
	if !strings.Contains(string(text), `"budget":{"usd":1,"files":3}`) {
		t.Errorf("%s", text)
	}
	opened, err := millrace.Executor{}.OpenPlan(t.Context(), fsys, text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(plan.Result(), opened.Result(), cmpopts.IgnoreFields(millrace.Result{}, "TotalDuration"), cmpopts.IgnoreFields(millrace.StepResult{}, "Duration")); d != "" {
		t.Errorf("result (-planned +opened):\n%s", d)
	}
	res := opened.Result()
	if res.Classification != "internal" || !res.WouldBlock || !res.Budget.Files.Exceeded || res.Budget.Limit != budget.Dollar || !*res.DeadlineMet {
		t.Errorf("%+v", res)
	}
	if again := suite.Stored(t, opened); !strings.Contains(string(again), `"budget":{"usd":1,"files":3}`) {
		t.Errorf("stored again: %s", again)
	}
	for _, plan := range []*millrace.Plan{plan, opened, opened.WithForce(false), opened.WithForce(true)} {
		if _, err := plan.Commit(t.Context()); millrace.ErrorCode(err) != "budget_exceeded" || !suite.Is[*millrace.BlockedError](err) {
			t.Errorf("committed: %v", err)
		}
	}
	if suite.Read(t, fsys, "gone") != "gone" {
		t.Error("the tree was written to")
	}
	// Without any one of its files the plan fits.
	fewer, err := opened.Reject("gone")
	if err != nil {
		t.Fatal(err)
	}
	done, err := fewer.Commit(t.Context())
	if err != nil || done.Budget.Files.Spent != 3 || done.Classification != "internal" || suite.Read(t, fsys, "made") != "12345" {
		t.Errorf("%v, %+v", err, done)
	}
}

// The host that opens a plan has a budget of its own. Money that planning has spent does not block the commit.
func TestOpenedPlanIsHeldToTheHost(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").Step("ask", work{costs: dollars(500), file: "a", text: "123", edits: 1, log: new(log)}).MustBuild()
	fsys := suite.Tree("x", "x")
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	text := suite.Stored(t, plan)
	if strings.Contains(string(text), "budget") || strings.Contains(string(text), "classification") {
		t.Errorf("a plan without a budget: %s", text)
	}
	x := millrace.Executor{Budget: budget.Limit{Bytes: 2}}
	opened, err := x.OpenPlan(t.Context(), fsys, text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opened.Commit(t.Context()); err == nil || err.Error() != "budget of 2 bytes is exceeded (3), force does not help" {
		t.Errorf("got %v", err)
	}
	x.Budget = budget.Limit{USD: budget.Dollar, Bytes: 3, Edits: 1}
	if opened, err = x.OpenPlan(t.Context(), fsys, text); err != nil {
		t.Fatal(err)
	}
	res, err := opened.Commit(t.Context())
	if err != nil || res.Cost != 5*budget.Dollar || !res.Budget.Exceeded || res.Budget.Bytes.Exceeded {
		t.Errorf("%v, %+v", err, res.Budget)
	}
}

// A plan is read strictly. A budget that is empty or wrong is an error, because the plan must not run without its
// budget.
func TestPlansWithABadBudget(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").Budget(budget.Limit{Files: 3}).Step("a", work{file: "a", text: "1", log: new(log)}).MustBuild()
	fsys := suite.Tree("x", "x")
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	text := string(suite.Stored(t, plan))
	const own = `"budget":{"files":3}`
	if strings.Count(text, own) != 1 {
		t.Fatalf("%s", text)
	}
	for bad, want := range map[string]string{
		`"budget":{"files":-3}`:             "invalid plan: budget.files must be more than 0, got -3",
		`"budget":{"file":3}`:               `unknown field "file"`,
		`"budget":{"Files":3}`:              `unknown field "Files"`,
		`"budget":{"files":"3"}`:            "cannot unmarshal",
		`"budget":{"usd":1e99}`:             "too large",
		`"budget":{"usd":[1]}`:              "",
		`"budget":[3]`:                      "",
		`"budget":{"files":3},` + own:       "twice",
		`"budget":{"files":3,"files":4000}`: "twice",
	} {
		_, err := millrace.Executor{}.OpenPlan(t.Context(), fsys, []byte(strings.Replace(text, own, bad, 1)))
		if !suite.Is[*millrace.PlanError](err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	// A negative cost is an error: the report, which is computed again, would hide costs.
	earned := strings.Replace(text, `"total_steps":`, `"total_cost_usd":-5,"total_steps":`, 1)
	if _, err := (millrace.Executor{}).OpenPlan(t.Context(), fsys, []byte(earned)); fmt.Sprint(err) != "invalid plan: it has cost -$5.00, which is less than nothing" {
		t.Errorf("got %v", err)
	}
	// The stored report is not trusted: it is computed again.
	forged := strings.Replace(text, `"exceeded":false`, `"exceeded":true`, 1)
	opened, err := millrace.Executor{}.OpenPlan(t.Context(), fsys, []byte(forged))
	if err != nil || forged == text {
		t.Fatal(err)
	}
	if d := cmp.Diff(plan.Result().Budget, opened.Result().Budget); d != "" {
		t.Errorf("(-planned +opened):\n%s", d)
	}
}

// A stored run reports the same when it is requested again.
func TestStoredRunHasItsBudget(t *testing.T) {
	t.Parallel()
	fsys := suite.Tree("x", "x")
	x := millrace.Executor{RunID: "one", State: millrace.State{Key: make([]byte, 32)}}
	l := new(log)
	p := millrace.New("p").Budget(budget.Limit{USD: budget.Dollar, Bytes: 9}).Deadline(time.Hour).Classification("secret").
		Step("ask", work{costs: dollars(142), file: "a", text: "a", log: l}).MustBuild()
	first, err := x.Run(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := x.Run(t.Context(), fsys, p)
	if err != nil || !again.Replayed || l.String() != "ask" {
		t.Fatalf("%v, ran %q", err, l)
	}
	if again.Cost != 142*budget.Cent || again.Classification != "secret" || !*again.DeadlineMet || again.Results[0].Cost != again.Cost {
		t.Errorf("%+v", again)
	}
	if d := cmp.Diff(first.Budget, again.Budget); d != "" || !again.Budget.Exceeded {
		t.Errorf("budget (-first +again):\n%s", d)
	}
	if other, err := x.Run(t.Context(), fsys, millrace.New("p").Step("ask", work{costs: dollars(142), file: "a", text: "a", log: l}).MustBuild()); err == nil {
		t.Errorf("a run without a budget counts as the same run: %+v", other)
	}
}

// Changes that a caller makes to a result do not change the plan's result.
func TestResultIsACopy(t *testing.T) {
	t.Parallel()
	p := change(budget.Limit{USD: 1, Files: 30, Edits: 30, Bytes: 30}).Deadline(time.Hour).MustBuild()
	plan, err := millrace.Executor{}.Plan(t.Context(), suite.Tree(treeToChange...), p)
	if err != nil {
		t.Fatal(err)
	}
	res, want := plan.Result(), suite.JSON(t, plan.Result())
	res.Budget.Limit, *res.Budget.Files, *res.Budget.Edits, *res.Budget.Bytes, *res.DeadlineMet = 7, budget.Measure{}, budget.Measure{}, budget.Measure{}, false
	if d := cmp.Diff(want, suite.JSON(t, plan.Result())); d != "" {
		t.Errorf("(-before +after):\n%s", d)
	}
}

// The report shows the budget and the spent amounts.
func TestReport(t *testing.T) {
	t.Parallel()
	p := change(budget.Limit{USD: 2 * budget.Dollar, Files: 4, Edits: 30, Bytes: 30}).Deadline(time.Hour).Classification("inter\nnal").
		Step("ask", work{costs: dollars(42), log: new(log)}).MustBuild()
	res, err := millrace.Run(t.Context(), suite.Tree(treeToChange...), p)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := res.WriteReport(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n🏷️ Classification: inter\\nnal\n💰 Cost: $0.42 of $2.00\n💰 Budget: 4 of 4 files\n💰 Budget: 3 of 30 edits\n💰 Budget: 10 of 30 bytes\n⏰ Deadline met: true\n",
		"\n   Cost: $0.42\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}

// A result is the same after encoding as JSON and decoding.
func TestResultInJSON(t *testing.T) {
	t.Parallel()
	p := change(budget.Limit{USD: 3 * budget.Dollar, Files: 4}).Deadline(time.Hour).Classification("internal").
		Step("ask", work{costs: dollars(42), log: new(log)}).MustBuild()
	res, err := millrace.Run(t.Context(), suite.Tree(treeToChange...), p)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	var back millrace.Result
	if err := json.Unmarshal(data, &back); err != nil || !cmp.Equal(back.Budget, res.Budget) || back.Cost != res.Cost || !*back.DeadlineMet {
		t.Errorf("%v, %+v", err, back)
	}
	for _, want := range []string{
		`"classification":"internal"`, `"total_cost_usd":0.42`, `"cost_usd":0.42`, `"deadline_met":true`,
		`"budget":{"limit":3,"spent":0.42,"exceeded":false,"files":{"limit":4,"spent":4,"exceeded":false}}`,
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s is not in %s", want, data)
		}
	}
}
