package agents_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/suite"
)

// Once the budget is spent no prompt begins, even if a failure is handled. Steps that cost nothing still run. Failed
// prompts count as well.
func TestBudget(t *testing.T) {
	t.Parallel()
	free := actions.Create{Path: "free.txt", Content: "x"}
	for _, test := range []struct {
		name  string
		fails bool
		p     millrace.Builder
		asked string
		stop  string // the step before which the run stops
		cost  budget.Cost
	}{
		{"between steps", false, millrace.New("p").Step("a", quiet("p")).Step("free", free).Step("b", quiet("p")).OnFail("c").Step("c", quiet("p")).Builder, "a", "b", budget.Dollar},
		{"between attempts", true, millrace.New("p").Step("a", quiet("p")).OnFail("c").Step("c", quiet("p")).Builder, "a", "a", budget.Dollar},
		{"only the last", false, millrace.New("p").Step("free", free).Step("a", quiet("p")).Builder, "a", "", budget.Dollar},
	} {
		for _, parallel := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				h := &host{reply: agent.Reply{Cost: budget.Dollar}}
				if test.fails {
					h.script = map[string][]string{"a": {"fail"}}
				}
				p := test.p.Budget(budget.Limit{USD: budget.Dollar}).MustBuild().WithOptions(millrace.Options{Parallel: parallel})
				fsys := suite.Tree()
				res, err := millrace.Executor{Agents: map[string]agent.Agent{"": h}}.Run(t.Context(), fsys, p)
				stop, stopped := errors.AsType[*millrace.BudgetError](err)
				if stopped != (test.stop != "") || stopped && (stop.Step != test.stop || millrace.ErrorCode(err) != "budget_exceeded") {
					t.Errorf("%s: %v", test.name, err)
				}
				if h.steps() != test.asked || res.Cost != test.cost || res.Budget == nil || res.Budget.Spent != test.cost {
					t.Errorf("%s: asked %s, the cost is %v, budget %+v", test.name, h.steps(), res.Cost, res.Budget)
				}
				if _, err := fsys.Stat("free.txt"); (err == nil) != (test.stop == "") {
					t.Errorf("%s: free.txt: %v", test.name, err)
				}
			})
		}
	}
}

// A cost is reported when it is spent. An answer is reported with the facts of its model.
func TestTold(t *testing.T) {
	t.Parallel()
	var events []string
	h := &host{reply: agent.Reply{Cost: budget.Dollar, Model: "m-1", InputTokens: 12, OutputTokens: 34}, script: map[string][]string{"a": {"fail", "secret words"}}}
	x := executor(t, h)
	x.Agents["other"] = h
	x.Observe = func(e millrace.Event) {
		switch e.(type) {
		case millrace.AgentReplied, millrace.CostSpent, millrace.StepRetrying:
			events = append(events, e.Kind()+" "+suite.JSON(t, e))
		}
	}
	a := quiet("secret question")
	a.Agent = "other"
	synctest.Test(t, func(t *testing.T) {
		if _, err := x.Run(t.Context(), suite.Tree(), millrace.New("p").Step("a", a).MustBuild()); err != nil {
			t.Fatal(err)
		}
	})
	want := []string{
		`agent_replied {"step":"a","visit":1,"attempt":1,"agent":"other","model":"m-1","input_tokens":12,"output_tokens":34}`,
		`cost_spent {"step":"a","cost":1,"total":1}`,
		`step_retrying {"step":"a","visit":1,"attempt":2,"error":"agent 'other': it cannot be done","wait":1000}`,
		`agent_replied {"step":"a","visit":1,"attempt":2,"agent":"other","model":"m-1","input_tokens":12,"output_tokens":34}`,
		`cost_spent {"step":"a","cost":1,"total":2}`,
	}
	if got := strings.Join(events, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s", got)
	}
}
