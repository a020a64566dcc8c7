package flow_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/flow"
	"github.com/millrace-go/millrace/internal/fstest"
)

func randomSteps(r *rand.Rand) []flow.Step {
	steps := make([]flow.Step, 1+r.IntN(7))
	for i := range steps {
		s := &steps[i]
		if later := len(steps) - i - 1; later > 0 {
			if r.IntN(3) == 0 {
				s.OnFail = i + 1 + r.IntN(later)
			}
			if r.IntN(3) == 0 {
				s.Next = i + 1 + r.IntN(later)
			}
		}
		for range r.IntN(3) {
			s.Retries = append(s.Retries, flow.Retry{To: r.IntN(i + 1), Restart: r.IntN(3) == 0})
		}
		s.MaxRetries, s.MaxVisits = max(r.IntN(6)-3, 0), r.IntN(5)
		if r.IntN(3) == 0 {
			s.MaxVisits = 5 + r.IntN(60)
		}
		s.Awaited, s.Continue = r.IntN(4) == 0, r.IntN(2) == 0
	}
	return steps
}

// randomOutcome returns a possible outcome for a position, and occasionally an impossible one. failing of 1000 attempts
// fail.
func randomOutcome(r *rand.Rand, at flow.Position, s flow.Step, failing int) flow.Outcome {
	if r.IntN(500) == 0 {
		return flow.Outcome{Status: flow.Status(r.IntN(10)), Retryable: r.IntN(2) == 0, Retry: r.IntN(5) - 1}
	}
	o := flow.Outcome{Status: flow.Succeeded}
	switch roll := r.IntN(1000); {
	case roll < 4:
		return flow.Outcome{Status: flow.Stopped}
	case roll < 8 && !at.Spent:
		return flow.Outcome{Status: flow.Interrupted}
	case roll < 150 && at.Attempt == 1:
		return flow.Outcome{Status: flow.Skipped}
	case at.Spent:
		return flow.Outcome{Status: flow.Stopped}
	case roll < 150+failing:
		o = flow.Outcome{Status: flow.Failed, Retryable: r.IntN(2) == 0}
	}
	if len(s.Retries) > 0 && r.IntN(3) > 0 {
		o.Retry = 1 + r.IntN(len(s.Retries))
	}
	return o
}

// staged is a caller's use of its stage: each attempt puts its own number there.
type staged struct {
	now   []int
	saves []int
}

func (s *staged) apply(t *testing.T, move flow.Move) {
	t.Helper()
	if move.Stage == flow.Keep {
		return
	}
	at := s.saves[move.Savepoint]
	if at > len(s.now) {
		t.Fatalf("move %+v goes back to a savepoint that was dropped", move)
	}
	s.now = s.now[:at]
	for k := move.Savepoint + 1; k < len(s.saves); k++ {
		s.saves[k] = 1 << 30 // void
	}
}

// restored returns a machine with the state of another machine, passed through JSON.
func restored(t *testing.T, steps []flow.Step, maxSteps int, of *flow.Machine) *flow.Machine {
	t.Helper()
	text, err := json.Marshal(of.State())
	if err != nil {
		t.Fatal(err)
	}
	var state flow.State
	if err := json.Unmarshal(text, &state); err != nil {
		t.Fatal(err)
	}
	m := machine(t, steps, maxSteps)
	if err := m.Restore(state); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if diff := cmp.Diff(of, m, cmp.AllowUnexported(flow.Machine{}), cmp.Comparer(slices.Equal[[]byte])); diff != "" {
		t.Fatalf("restored (-want +got):\n%s", diff)
	}
	return m
}

// Random graphs and outcomes: each ends within its bound, moves like the model, and does so again when it is repeated
// or restored. Its stage has the values of the visits that succeeded and count.
func TestRandomWays(t *testing.T) {
	t.Parallel()
	seed := fstest.Seed(t)
	rows, steps, longest, restarts, exhausted := make(map[int]int), 0, 0, 0, 0
	runs := fstest.Runs(1_000, 10_000, 100_000)
	for run := range runs {
		r := rand.New(rand.NewPCG(seed, uint64(run)))
		graph, maxSteps, failing := randomSteps(r), 0, []int{20, 100, 400}[r.IntN(3)]
		if r.IntN(3) == 0 {
			maxSteps = 1 + r.IntN(30)
		}
		if t.Failed() {
			t.Fatalf("run %d: %+v, maxSteps %d", run-1, graph, maxSteps)
		}
		m := machine(t, graph, maxSteps)
		w := model{graph, maxSteps}
		if maxSteps == 0 {
			w.maxSteps = flow.MaxSteps
		}
		twin, resumed := m, (*flow.Machine)(nil)
		var outcomes []flow.Outcome
		var moves []flow.Move
		var stage staged
		by := make(map[int]int) // the visit of each attempt on the stage
		for at, ok := m.At(); ok; at, ok = m.At() {
			if len(outcomes) > (w.maxSteps+1)*len(graph)+w.maxSteps {
				t.Fatalf("run %d does not end", run)
			}
			if at.Attempt == 1 {
				stage.saves = append(stage.saves, len(stage.now))
			}
			if at.Savepoint != len(stage.saves)-1 {
				t.Errorf("%+v: %d savepoints were taken", at, len(stage.saves))
			}
			check(t, m, at, len(graph))
			if len(outcomes) < 12 {
				twin = restored(t, graph, maxSteps, twin)
			}
			if resumed == nil && r.IntN(10) == 0 {
				resumed = restored(t, graph, maxSteps, m)
			}
			o := randomOutcome(r, at, graph[at.Step], failing)
			if o.Status == flow.Succeeded || o.Status == flow.Failed {
				by[len(outcomes)] = at.Savepoint
				stage.now = append(stage.now, len(outcomes))
			}
			move := m.Done(o)
			for _, other := range []*flow.Machine{twin, resumed} {
				if other == nil {
					continue
				}
				if diff := cmp.Diff(move, other.Done(o)); diff != "" {
					t.Errorf("a restored machine moves differently (-want +got):\n%s", diff)
				}
			}
			stage.apply(t, move)
			outcomes, moves = append(outcomes, o), append(moves, move)
			rows[move.Row]++
			if move.Stage == flow.Restart {
				restarts++
			}
			if move.Exhausted != nil {
				exhausted++
			}
		}
		if diff := cmp.Diff(w.moves(nil, 0, 1, outcomes), moves); diff != "" {
			t.Errorf("moves (-model +machine):\n%s", diff)
		}
		again := machine(t, graph, maxSteps)
		for k, o := range outcomes {
			if diff := cmp.Diff(moves[k], again.Done(o)); diff != "" {
				t.Errorf("repeated (-want +got):\n%s", diff)
			}
		}
		var want []int
		history := m.History()
		for _, k := range slices.Sorted(maps.Keys(by)) {
			if n := by[k]; n < len(history) && history[n].Status == flow.Succeeded && !history[n].Discarded && !moves[k].Again {
				want = append(want, k)
			}
		}
		if !slices.Equal(stage.now, want) {
			t.Errorf("on the stage are the attempts %v, want %v of %+v", stage.now, want, history)
		}
		if last := moves[len(moves)-1]; m.Completed() != (last.Row < 9) || !m.Completed() && len(stage.now) > 0 {
			t.Errorf("completed %t after %+v, staged %v", m.Completed(), last, stage.now)
		}
		attempts := 0
		for _, v := range history {
			attempts += v.Attempts
		}
		if m.Attempts() != attempts {
			t.Errorf("%d attempts, want %d of %+v", m.Attempts(), attempts, history)
		}
		bound(t, graph, history)
		steps, longest = steps+len(moves), max(longest, len(moves))
	}
	for row := 1; row <= 10; row++ {
		if row != 5 && rows[row] < runs/100 {
			t.Errorf("row %d was met %d times", row, rows[row])
		}
	}
	if restarts < runs/100 || exhausted < runs/100 {
		t.Errorf("%d restarts, %d exhausted", restarts, exhausted)
	}
	fstest.Countf(t, "%d graphs, %d outcomes, at most %d a graph; rows %v, %d restarts, %d exhausted", runs, steps, longest, rows, restarts, exhausted)
}

// check compares the machine's statuses of the steps with its history.
func check(t *testing.T, m *flow.Machine, at flow.Position, n int) {
	t.Helper()
	history := m.History()
	last, executed := -1, 0
	attempts := at.Attempt - 1
	for k, v := range history {
		attempts += v.Attempts
		if v.Executed() {
			last = k
			executed++
		}
	}
	for i := range n {
		if got, want := m.Status(i), status(history, i); got != want {
			t.Errorf("at %+v step %d is '%v', want '%v' after %+v", at, i, got, want, history)
		}
		if reached := m.Status(i) != flow.NotReached; reached != (i < at.Step) {
			t.Errorf("at %+v step %d is '%v'", at, i, m.Status(i))
		}
		want := count(history, i)
		if i == at.Step {
			want++
		}
		if got := m.Visits(i); got != want {
			t.Errorf("at %+v step %d has had %d visits, want %d", at, i, got, want)
		}
	}
	if v, k, ok := m.Previous(); ok != (last >= 0) || ok && (k != last || v != history[last]) {
		t.Errorf("at %+v the previous visit is %+v, %d, %t, want number %d", at, v, k, ok, last)
	}
	if m.Attempts() != attempts || executed > attempts {
		t.Errorf("%d attempts, want %d; %d visits executed", m.Attempts(), attempts, executed)
	}
}

// bound compares the number of jumps back with the limits of their targets.
func bound(t *testing.T, graph []flow.Step, history []flow.Visit) {
	t.Helper()
	targets := make(map[int]bool)
	for _, s := range graph {
		for _, way := range s.Retries {
			targets[way.To] = true
		}
	}
	most, back := 0, 0
	for i := range targets {
		if graph[i].MaxVisits == 0 {
			most += flow.DefaultVisits
		} else {
			most += graph[i].MaxVisits
		}
	}
	for _, v := range history {
		if v.By == flow.ByRetry {
			back++
		}
	}
	if back > most || len(history) > len(graph)*(most+1) {
		t.Errorf("%d jumps back, at most %d, in %d visits", back, most, len(history))
	}
}
