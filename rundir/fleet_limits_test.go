package rundir_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// slow opens each tree in a second, and remembers the times of its calls.
type slow struct {
	*herd
	takes time.Duration
	start time.Time
	mu    sync.Mutex
	begun []time.Duration
}

func newSlow(t *testing.T, count int, takes time.Duration) *slow {
	return &slow{herd: newHerd(t, count), takes: takes, start: time.Now()}
}

func (s *slow) Open(ctx context.Context, t fleet.Target) (fleet.Tree, error) {
	s.mu.Lock()
	s.begun = append(s.begun, time.Since(s.start))
	s.mu.Unlock()
	time.Sleep(s.takes)
	return s.herd.Open(ctx, t)
}

func (s *slow) host() rundir.Host {
	h := s.herd.host()
	h.Trees = s
	return h
}

// A deadline stops targets that have not begun, and leaves the others alone; it starts again each time that the fleet
// is worked on.
func TestFleet_deadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const count = 9
		f := newSlow(t, count, time.Second)
		m := manage(t, f.store, f.host())
		run := wait(t, m, createFleet(t, m, oneEdit,
			rundir.FleetOptions{Targets: targets(count), Parallel: 2, Deadline: 2500 * time.Millisecond}), runs.Failed)
		same(t, "why", run.Reason, "of 9 targets 3 not begun (the deadline of 2.5s has passed)")
		if sum := run.Summary; sum.Success != 6 || sum.Skipped != 3 {
			t.Errorf("%+v", sum)
		}
		_, err := m.Retry(t.Context(), run.Ref())
		fstest.Must(t, err)
		f.checkChildren(t, wait(t, m, run, runs.Success), count)
	})
}

// PerSecond spreads the starts evenly, and does not wait beyond the deadline. Finished targets do not count.
func TestFleet_perSecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const count, ms = 9, time.Millisecond
		f := newSlow(t, count, 0)
		m := manage(t, f.store, f.host())
		run := wait(t, m, createFleet(t, m, oneEdit,
			rundir.FleetOptions{Targets: targets(count), PerSecond: 2, Deadline: 2250 * ms}), runs.Failed)
		same(t, "why", run.Reason, "of 9 targets 4 not begun (the deadline of 2.25s has passed)")
		if d := cmp.Diff([]time.Duration{0, 500 * ms, 1000 * ms, 1500 * ms, 2000 * ms}, f.begun); d != "" {
			t.Errorf("begun (-want +got):\n%s", d)
		}
		f.begun, f.start = nil, time.Now()
		_, err := m.Retry(t.Context(), run.Ref())
		fstest.Must(t, err)
		f.checkChildren(t, wait(t, m, run, runs.Success), count)
		if d := cmp.Diff([]time.Duration{0, 500 * ms, 1000 * ms, 1500 * ms}, f.begun); d != "" {
			t.Errorf("begun again (-want +got):\n%s", d)
		}
	})
}

// A fleet that waits for its next target is canceled at once.
func TestFleet_perSecondCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newSlow(t, 3, 0)
		m := manage(t, f.store, f.host())
		run := createFleet(t, m, oneEdit, rundir.FleetOptions{Targets: targets(3), PerSecond: 1e-9})
		time.Sleep(time.Minute)
		start := time.Now()
		_, err := m.Cancel(t.Context(), run.Ref())
		fstest.Must(t, err)
		run = wait(t, m, run, runs.Canceled)
		if sum := run.Summary; sum.Success != 1 || sum.Skipped != 2 || time.Since(start) > time.Second {
			t.Errorf("%+v after %v", sum, time.Since(start))
		}
	})
}

// A budget is for the whole fleet, over all times that it is worked on: spent money stays spent.
func TestFleet_budget(t *testing.T) {
	t.Parallel()
	const count = 6
	const asks = `{"name": "ask", "steps": [{"id": "ask", "action": "prompt", "params": {"prompt": "what is it?"}}]}`
	for what, test := range map[string]struct {
		text    string
		budget  budget.Limit
		success int
		why     string
	}{
		"files": {oneEdit, budget.Limit{Files: 2}, 3, "of 6 targets 3 not begun (more files were changed than the budget allows)"},
		"edits": {oneEdit, budget.Limit{Edits: 1}, 2, "of 6 targets 4 not begun (more edits were changed than the budget allows)"},
		"money": {asks, budget.Limit{USD: 250 * budget.Cent}, 3, "of 6 targets 3 not begun (the budget of $2.50 is spent)"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := newHerd(t, count)
			h := f.host()
			h.Executor.Agents = map[string]agent.Agent{"": agent.Func(func(context.Context, *agent.Request) (agent.Reply, error) {
				return agent.Reply{Output: "a tree", Cost: budget.Dollar}, nil
			})}
			m := manage(t, f.store, h)
			run := wait(t, m, createFleet(t, m, test.text,
				rundir.FleetOptions{Targets: targets(count), Parallel: 1, Budget: test.budget}), runs.Failed)
			for range 2 {
				same(t, "why", run.Reason, test.why)
				if sum := run.Summary; sum.Success != test.success || sum.Skipped != count-test.success {
					t.Errorf("%+v", sum)
				}
				_, err := m.Retry(t.Context(), run.Ref())
				fstest.Must(t, err)
				run = wait(t, m, run, runs.Failed)
			}
		})
	}
}
