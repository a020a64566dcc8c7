package rundir_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// targetPlace is a place with a worker of a fleet.
type targetPlace struct {
	*place
	worker fleet.Worker
}

func newTarget(t *testing.T, host rundir.Host) *targetPlace {
	p := newPlace(t, "a.txt", "x\n", "b.txt", "x\n")
	host.Trees = trees{"p": p.tree}
	return &targetPlace{place: p, worker: fleet.Worker{
		Retries: -1, Trees: host.Trees, Store: manage(t, p.store, host), Executor: millrace.Executor{State: millrace.State{NoSync: true, Key: key}},
	}}
}

func (p *targetPlace) task(t *testing.T, text, plan string) fleet.Task {
	t.Helper()
	data, err := pipeline(t, text).MarshalJSON()
	fstest.Must(t, err)
	return fleet.Task{Campaign: "c", Target: fleet.Target{ID: "p", Root: "root of p"}, Pipeline: data, PlanDigest: plan}
}

func (p *targetPlace) do(t *testing.T, text, plan string) fleet.Outcome {
	t.Helper()
	return p.worker.Do(t.Context(), p.task(t, text, plan))
}

// text returns the content of a file.
func (p *targetPlace) text(t *testing.T, name string) string {
	t.Helper()
	data, err := afero.ReadFile(p.tree, name)
	fstest.Must(t, err)
	return string(data)
}

const editOne = `{"name": "one", "steps": [{"id": "a", "action": "edit", "params": {"files": ["a.txt"], "old_text": "x", "new_text": "xx"}}]}`

const editBoth = `{"name": "both", "steps": [
	{"id": "a", "action": "edit", "params": {"files": ["a.txt"], "old_text": "x", "new_text": "xx"}},
	{"id": "b", "action": "edit", "params": {"files": ["b.txt"], "old_text": "y", "new_text": "yy"}}]}`

// A failed target continues with the failed step. If somebody has changed files that earlier steps have read, these
// steps are repeated.
func TestTargetFailed(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{"as it was": "x\n", "changed meanwhile": "z x\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTarget(t, rundir.Host{})
			fstest.Must(t, p.tree.Remove("b.txt"))
			if o := p.do(t, editBoth, ""); o.Code != "step_failed" || o.Files != 0 {
				t.Errorf("%+v", o)
			}
			fstest.Must(t, afero.WriteFile(p.tree, "a.txt", []byte(first), 0o644))
			fstest.Must(t, afero.WriteFile(p.tree, "b.txt", []byte("y\n"), 0o644))
			if o := p.do(t, editBoth, ""); o.Status != fleet.Success || o.Replayed {
				t.Errorf("%+v", o)
			}
			if a, b := p.text(t, "a.txt"), p.text(t, "b.txt"); a != strings.Replace(first, "x", "xx", 1) || b != "yy\n" {
				t.Errorf("%q and %q", a, b)
			}
		})
	}
}

const askAndEdit = `{"name": "ask", "steps": [
	{"id": "ask", "action": "prompt", "params": {"prompt": "may I?", "workspace": "none"}},
	{"id": "a", "action": "edit", "params": {"files": ["a.txt"], "old_text": "x", "new_text": "xx"}}]}`

// asks sets an agent of the worker whose answers cost a dollar, and returns the counter of its calls.
func (p *targetPlace) asks() *int {
	asked := 0
	p.worker.Executor.Agents = map[string]agent.Agent{"": agent.Func(func(context.Context, *agent.Request) (agent.Reply, error) {
		asked++
		return agent.Reply{Output: "yes", Cost: budget.Dollar}, nil
	})}
	return &asked
}

// A conflict at the commit is not final: the next attempt works on the present files, and nothing is paid twice.
func TestTargetConflict(t *testing.T) {
	t.Parallel()
	p := newTarget(t, rundir.Host{})
	asked := p.asks()
	p.worker.Retries, p.worker.Sleep = 1, func(context.Context, time.Duration) error { return nil }
	other := true
	p.worker.Executor.Observe = func(e millrace.Event) {
		if e, ok := e.(millrace.StepFinished); ok && e.Step == "a" && other {
			other = false
			if err := afero.WriteFile(p.tree, "a.txt", []byte("z x\n"), 0o644); err != nil {
				t.Error(err)
			}
		}
	}
	o := p.do(t, askAndEdit, "")
	if o.Status != fleet.Success || o.Attempts != 2 || o.Cost != budget.Dollar || *asked != 1 ||
		p.text(t, "a.txt") != "z xx\n" {
		t.Errorf("%+v with %q, asked %d times", o, p.text(t, "a.txt"), *asked)
	}
}

// Answers that a worker has on record from a plan are used, and not paid again.
func TestTargetRecorder(t *testing.T) {
	t.Parallel()
	p := newTarget(t, rundir.Host{})
	asked := p.asks()
	p.worker.Executor.Recorder = millrace.NewMemoryRecorder()
	if o := p.worker.Plan(t.Context(), p.task(t, askAndEdit, "")); o.Cost != budget.Dollar {
		t.Errorf("%+v", o)
	}
	if o := p.do(t, askAndEdit, ""); o.Status != fleet.Success || o.Cost != 0 || *asked != 1 {
		t.Errorf("%+v, asked %d times", o, *asked)
	}
}

// byRoot are trees by the root of their targets.
type byRoot map[string]afero.Fs

func (b byRoot) Open(_ context.Context, target fleet.Target) (fleet.Tree, error) {
	return fleet.Tree{FS: b[target.Root]}, nil
}

// A target that waits for a decision stays waiting, any number of times that it is passed to a worker, and is committed
// after it was played.
func TestTargetHeld(t *testing.T) {
	t.Parallel()
	p := newTarget(t, rundir.Host{})
	const manual = `{"name": "manual", "steps": [
		{"id": "a", "action": "edit", "params": {"files": ["a.txt"], "old_text": "x", "new_text": "xx"}},
		{"id": "b", "manual": true, "action": "edit", "params": {"files": ["b.txt"], "old_text": "x", "new_text": "xx"}}]}`
	for range 3 {
		if o := p.do(t, manual, ""); o.Status != fleet.Failed || o.Code != "held" ||
			!strings.Contains(o.Message, "step 'b' is manual") {
			t.Errorf("%+v", o)
		}
	}
	run, err := p.store.Get(t.Context(), runs.RunRef{ID: "1"})
	if err != nil || run.Status != runs.Manual || run.Attempts != 1 {
		t.Errorf("%+v, %v", run, err)
	}
	host := p.host()
	host.Trees = byRoot{"root of p": p.tree} // the run has its target
	m := manage(t, p.store, host)
	run, err = m.Resume(t.Context(), "1")
	fstest.Must(t, err)
	if run, err = m.Wait(t.Context(), run.Ref()); err != nil || run.Status != runs.Success {
		t.Errorf("%+v, %v", run, err)
	}
	if o := p.do(t, manual, ""); o.Status != fleet.Success || !o.Replayed || p.text(t, "b.txt") != "xx\n" {
		t.Errorf("%+v", o)
	}
}

// Only the approved plan is committed, with a store too.
func TestTargetApproved(t *testing.T) {
	t.Parallel()
	p := newTarget(t, rundir.Host{})
	if o := p.do(t, editOne, strings.Repeat("0", 64)); o.Code != fleet.CodePlanChanged || p.text(t, "a.txt") != "x\n" {
		t.Errorf("%+v", o)
	}
	planned := p.worker.Plan(t.Context(), p.task(t, editOne, ""))
	if o := p.do(t, editOne, planned.PlanDigest); o.Status != fleet.Success || p.text(t, "a.txt") != "xx\n" {
		t.Errorf("%+v after %+v", o, planned)
	}
}

// If several attempts run at the same time, one does the work, and the others get its result.
func TestTargetAtOnce(t *testing.T) {
	t.Parallel()
	p := newTarget(t, rundir.Host{})
	outcomes := make(chan fleet.Outcome)
	const most = 4
	for range most {
		go func() { outcomes <- p.do(t, editOne, "") }()
	}
	done, replayed := 0, 0
	for range most {
		switch o := <-outcomes; {
		case o.Status != fleet.Success:
			t.Errorf("%+v", o)
		case o.Replayed:
			replayed++
		default:
			done++
		}
	}
	if done != 1 || replayed != most-1 || p.text(t, "a.txt") != "xx\n" {
		t.Errorf("%d done, %d replayed, %q", done, replayed, p.text(t, "a.txt"))
	}
}

// RunTarget waits for a run of another process as long as for a tree, and then the target is locked.
func TestTargetBusy(t *testing.T) {
	t.Parallel()
	p := newTarget(t, rundir.Host{})
	p.worker.Executor.State.LockWait = 1
	inner := p.worker
	var busy fleet.Outcome
	p.worker.Executor.Observe = func(e millrace.Event) {
		if _, ok := e.(millrace.StepStarted); ok {
			inside := *p
			inside.worker = inner
			done := make(chan bool)
			go func() { busy = inside.do(t, editOne, ""); close(done) }()
			<-done
		}
	}
	if o := p.do(t, editOne, ""); o.Status != fleet.Success {
		t.Errorf("%+v", o)
	}
	if busy.Code != "locked" || !fleet.Retryable(busy.Code) || !strings.Contains(busy.Message, "run 1 is worked on") {
		t.Errorf("%+v", busy)
	}
}

// A run of the store has ended, but the tree is another tree than then: the pipeline runs on it.
func TestTargetOtherTree(t *testing.T) {
	t.Parallel()
	p := newTarget(t, rundir.Host{})
	if o := p.do(t, editOne, ""); o.Status != fleet.Success {
		t.Errorf("%+v", o)
	}
	other := fstest.OpenRoot(t, t.TempDir())
	fstest.Must(t, afero.WriteFile(other, "a.txt", []byte("x\n"), 0o644))
	p.tree, p.worker.Trees = other, trees{"p": other}
	if o := p.do(t, editOne, ""); o.Status != fleet.Success || o.Replayed || p.text(t, "a.txt") != "xx\n" {
		t.Errorf("%+v with %q", o, p.text(t, "a.txt"))
	}
}

// A worker that has to stop leaves its targets unchanged, and they can continue.
func TestTargetCanceled(t *testing.T) {
	t.Parallel()
	p := newTarget(t, rundir.Host{})
	ctx, cancel := context.WithCancel(t.Context())
	var steps []string
	p.worker.Executor.Observe = func(e millrace.Event) {
		if e, ok := e.(millrace.StepFinished); ok {
			steps = append(steps, e.Step)
			cancel()
		}
	}
	text := strings.ReplaceAll(editBoth, "y", "x")
	if o := p.worker.Do(ctx, p.task(t, text, "")); o.Status != fleet.Canceled || p.text(t, "a.txt") != "x\n" {
		t.Errorf("%+v", o)
	}
	if o := p.do(t, text, ""); o.Status != fleet.Success {
		t.Errorf("%+v", o)
	}
	if !slices.Equal(steps, []string{"a", "b"}) {
		t.Errorf("steps: %v", steps)
	}
	run, err := p.store.Get(t.Context(), runs.RunRef{ID: "1"})
	if err != nil || run.Status != runs.Success || run.Attempts != 2 || run.Source != "campaign" {
		t.Errorf("%+v, %v", run, err)
	}
}

// A run with the same id that somebody else has signed does not count: the target starts again.
func TestTargetForeign(t *testing.T) {
	t.Parallel()
	p := newTarget(t, rundir.Host{})
	fstest.Must(t, p.tree.Remove("b.txt"))
	foreign, err := rundir.Open(fstest.OpenRoot(t, p.dir), "runs",
		rundir.Options{Key: []byte("the key of somebody else altogether"), NoSync: true, SharedDir: p.dir + "/foreign"})
	fstest.Must(t, err)
	mine := p.worker.Store
	p.worker.Store = manage(t, foreign, rundir.Host{Trees: p.worker.Trees})
	if o := p.do(t, editBoth, ""); o.Code != "step_failed" {
		t.Errorf("%+v", o)
	}
	p.worker.Store = mine
	fstest.Must(t, afero.WriteFile(p.tree, "b.txt", []byte("y\n"), 0o644))
	for _, replayed := range []bool{false, true} {
		if o := p.do(t, editBoth, ""); o.Status != fleet.Success || o.Replayed != replayed {
			t.Errorf("%+v", o)
		}
	}
	list, err := p.store.List(t.Context(), runs.Filter{Ascending: true})
	if err != nil || list.Total != 2 || !list.Items[0].Foreign || list.Items[1].Foreign ||
		list.Items[0].RunID != list.Items[1].RunID {
		t.Errorf("%+v, %v", list.Items, err)
	}
}
