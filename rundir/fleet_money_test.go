package rundir_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

const asksThenWaits = `{"name": "ask", "steps": [
	{"id": "ask", "action": "prompt", "params": {"prompt": "what is it?"}},
	{"id": "look", "manual": true, "action": "prompt", "params": {"prompt": "and this?"}}]}`

// Spent money counts: the budget of a fleet includes children that wait, that are canceled while they wait, and that go
// back to before the steps they have paid for.
func TestFleet_moneyOfWaiting(t *testing.T) {
	t.Parallel()
	const count = 6
	f := newHerd(t, count)
	h := f.host()
	var asked atomic.Int32
	h.Executor.Agents = map[string]agent.Agent{"": agent.Func(func(context.Context, *agent.Request) (agent.Reply, error) {
		asked.Add(1)
		return agent.Reply{Output: "a tree", Cost: budget.Dollar}, nil
	})}
	m := manage(t, f.store, h)
	run := wait(t, m, createFleet(t, m, asksThenWaits, rundir.FleetOptions{
		Targets: targets(count), Parallel: 1, Budget: budget.Limit{USD: 350 * budget.Cent},
	}), runs.Failed)
	check := func(times int32, why string) {
		t.Helper()
		same(t, "why", run.Reason, why)
		if n := asked.Load(); n != times {
			t.Errorf("%d times an agent was asked, want %d", n, times)
		}
	}
	retry := func() {
		t.Helper()
		_, err := m.Retry(t.Context(), run.Ref())
		fstest.Must(t, err)
		run = wait(t, m, run, runs.Failed)
	}
	check(4, "of 6 targets 2 not begun, 4 waiting for a decision (the budget of $3.50 is spent)")
	retry()
	check(4, "of 6 targets 2 not begun, 4 waiting for a decision (the budget of $3.50 is spent)")
	children, err := f.store.Triggers(t.Context(), run.Ref(), runs.Paging{})
	fstest.Must(t, err)
	for _, c := range children.Items[:4] {
		_, err := m.Cancel(t.Context(), c.Run.Ref())
		fstest.Must(t, err)
	}
	retry()
	check(4, "of 6 targets 4 canceled, 2 not begun (the budget of $3.50 is spent)")
	_, err = m.Jobs().Retry(t.Context(), runs.JobRef{ID: children.Items[0].Run.ID + "/ask"})
	fstest.Must(t, err)
	wait(t, m, *children.Items[0].Run, runs.Manual)
	retry()
	check(5, "of 6 targets 3 canceled, 2 not begun, 1 waiting for a decision (the budget of $3.50 is spent)")
}

// The cost of a child counts once, even if the fleet resumes it several times.
func TestFleet_moneyOnce(t *testing.T) {
	t.Parallel()
	const count = 3
	f := newHerd(t, count)
	h := f.host()
	h.Executor.Agents = map[string]agent.Agent{"": agent.Func(func(context.Context, *agent.Request) (agent.Reply, error) {
		return agent.Reply{Output: "a tree", Cost: budget.Dollar}, nil
	})}
	m := manage(t, f.store, h)
	run := wait(t, m, createFleet(t, m, asksThenWaits, rundir.FleetOptions{
		Targets: targets(count), Parallel: 1, Budget: budget.Limit{USD: 350 * budget.Cent},
	}), runs.Manual)
	for range 2 {
		_, err := m.Cancel(t.Context(), run.Ref())
		fstest.Must(t, err)
		_, err = m.Retry(t.Context(), run.Ref())
		fstest.Must(t, err)
		run = wait(t, m, run, runs.Manual)
		same(t, "why", run.Reason, "of 3 targets 3 waiting for a decision")
	}
}
