package rundir_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
	"github.com/millrace-go/millrace/tool"
)

// gate allows a number of trees to be opened, and reports when that many were opened; the others wait for their
// context.
type gate struct {
	*herd
	left atomic.Int64
	full chan struct{}
}

func newGate(h *herd, open int64) *gate {
	g := &gate{herd: h, full: make(chan struct{})}
	g.left.Store(open)
	return g
}

func (g *gate) Open(ctx context.Context, t fleet.Target) (fleet.Tree, error) {
	switch n := g.left.Add(-1); {
	case n < 0:
		<-ctx.Done()
		return fleet.Tree{}, context.Cause(ctx)
	case n == 0:
		close(g.full)
	}
	return g.herd.Open(ctx, t)
}

func statuses(t testing.TB, b runs.Browser, run runs.Run) (n map[runs.Status]int, begun int) {
	n = make(map[runs.Status]int)
	for _, trigger := range triggers(t, b, run) {
		n[trigger.Status]++
		if trigger.Run != nil {
			begun++
		}
	}
	return n, begun
}

// A cancel reaches the running children and those that wait for a place, by the same manager or another process, and a
// retry does the rest. The number of running children stays within the limit.
func TestFleet_cancel(t *testing.T) {
	t.Parallel()
	const count, parallel = 12, 3
	for _, other := range []bool{false, true} {
		f := newHerd(t, count)
		h := f.host()
		g := newGate(f, 5)
		h.Trees, h.MaxRunning = g, 2
		m := manage(t, f.store, h)
		run := createFleet(t, m, oneEdit, rundir.FleetOptions{Targets: targets(count), Parallel: parallel})
		<-g.full
		by := m
		if other {
			by = manage(t, f.open(t), f.host())
		}
		run, err := by.Cancel(t.Context(), run.Ref())
		fstest.Must(t, err)
		same(t, "status", string(run.Status)+", "+run.Reason, "canceled, canceled by ann")
		n, begun := statuses(t, f.store, run)
		if n[runs.Success]+n[runs.Canceled] != begun || n[runs.Success] > 5 || begun > 5+2 || n[runs.Skipped] != count-begun {
			t.Errorf("%v, %d begun", n, begun)
		}
		if sum := run.Summary; sum.Success != n[runs.Success] || sum.Canceled != n[runs.Canceled] ||
			sum.Skipped != n[runs.Skipped] {
			t.Errorf("%+v, but %v", sum, n)
		}
		g.left.Store(1 << 30)
		run, err = m.Retry(t.Context(), run.Ref())
		fstest.Must(t, err)
		run = wait(t, m, run, runs.Success)
		f.checkChildren(t, run, count)
	}
}

// A fleet stops after the allowed number of failures, and continues when it is retried.
func TestFleet_stopAfter(t *testing.T) {
	t.Parallel()
	const count = 9
	f := newHerd(t, count)
	whole := f.trees[name(2)]
	f.set(name(2), nil)
	m := manage(t, f.store, f.host())
	run := wait(t, m, createFleet(t, m, oneEdit, rundir.FleetOptions{Targets: targets(count), Parallel: 1, StopAfter: 1}),
		runs.Failed)
	same(t, "why", run.Reason, "of 9 targets 1 failed, 6 not begun")
	if sum := run.Summary; sum.Success != 2 || sum.Failed != 1 || sum.Skipped != 6 {
		t.Errorf("%+v", sum)
	}
	f.set(name(2), whole)
	_, err := m.Retry(t.Context(), run.Ref())
	fstest.Must(t, err)
	f.checkChildren(t, wait(t, m, run, runs.Success), count)
}

// A manager that is closed waits for its fleet, unless it has no time: then the fleet can continue later.
func TestFleet_close(t *testing.T) {
	t.Parallel()
	const count = 9
	f := newHerd(t, count)
	m := manage(t, f.store, f.host())
	run := createFleet(t, m, oneEdit, rundir.FleetOptions{Targets: targets(count), Parallel: 2})
	fstest.Must(t, m.Close(t.Context()))
	run, err := f.store.Get(t.Context(), run.Ref())
	if err != nil || run.Status != runs.Success || run.Summary.Success != count {
		t.Errorf("%+v, %v", run, err)
	}
	for _, adopt := range []bool{false, true} {
		f = newHerd(t, count)
		g := newGate(f, 4)
		h := f.host()
		h.Trees = g
		m = manage(t, f.store, h)
		run = createFleet(t, m, oneEdit, rundir.FleetOptions{Targets: targets(count), Parallel: 2})
		<-g.full
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := m.Close(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		h = f.host()
		h.Adopt = adopt
		m = manage(t, f.open(t), h)
		working, over := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- m.Work(working) }()
		if !adopt {
			run = become(t, m, run, runs.Failed)
			_, err = m.Resume(t.Context(), run.ID)
			fstest.Must(t, err)
		}
		run = become(t, m, run, runs.Success)
		over()
		fstest.Must(t, <-done)
		f.checkChildren(t, run, count)
		for i := range count {
			same(t, name(i), fstest.Read(t, f.trees[name(i)], "a.txt"), "two\n")
		}
	}
}

// An invalid fleet is refused, and leaves nothing.
func TestFleet_refused(t *testing.T) {
	t.Parallel()
	f := newHerd(t, 1)
	m := manage(t, f.store, f.host())
	broken := errors.New("the list is broken")
	large := map[string]string{}
	for i := range 60 {
		large[name(i)] = strings.Repeat("\u2028", 300)
	}
	c := runs.CreateParams{Project: "all", Pipeline: pipeline(t, oneEdit)}
	for what, test := range map[string]struct {
		o    rundir.FleetOptions
		want string
	}{
		"no targets":       {rundir.FleetOptions{}, "a fleet needs Targets"},
		"an empty list":    {rundir.FleetOptions{Targets: targets(0)}, "a fleet needs at least one target"},
		"negative":         {rundir.FleetOptions{Targets: targets(1), Parallel: -1}, "FleetOptions.Parallel is -1: a negative number is not allowed"},
		"negative failure": {rundir.FleetOptions{Targets: targets(1), StopAfter: -1}, "FleetOptions.StopAfter is -1: a negative number is not allowed"},
		"negative time":    {rundir.FleetOptions{Targets: targets(1), Deadline: -1}, "FleetOptions.Deadline is -1ns: a negative number is not allowed"},
		"negative rate":    {rundir.FleetOptions{Targets: targets(1), PerSecond: -1}, "FleetOptions.PerSecond is -1: a number from 0 is required"},
		"no rate":          {rundir.FleetOptions{Targets: targets(1), PerSecond: math.Inf(1)}, "FleetOptions.PerSecond is +Inf"},
		"bytes":            {rundir.FleetOptions{Targets: targets(1), Budget: budget.Limit{Bytes: 1}}, "FleetOptions.Budget.Bytes: bytes are not counted here"},
		"negative budget":  {rundir.FleetOptions{Targets: targets(1), Budget: budget.Limit{Files: -1}}, "FleetOptions.Budget: budget.files must be more than 0, got -1"},
		"no id":            {rundir.FleetOptions{Targets: fleet.Targets(fleet.Target{ID: "a"}, fleet.Target{})}, `target 1: target "": the id is empty`},
		"too large":        {rundir.FleetOptions{Targets: fleet.Targets(fleet.Target{ID: "a", Labels: large})}, "as JSON, more than 65536"},
		"a broken list":    {rundir.FleetOptions{Targets: func(yield func(fleet.Target, error) bool) { yield(fleet.Target{}, broken) }}, "the list is broken"},
		"a panic":          {rundir.FleetOptions{Targets: func(yield func(fleet.Target, error) bool) { panic("no list") }}, "no list"},
	} {
		_, err := m.CreateFleet(t.Context(), c, test.o)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", what, err, test.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.CreateFleet(ctx, c, rundir.FleetOptions{Targets: targets(1)}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	same(t, "runs", numbers(t, f.store), "")
	entries, err := os.ReadDir(filepath.Join(f.dir, "runs/000000"))
	if err != nil && !os.IsNotExist(err) || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// A step of a target cannot create a fleet.
func TestFleet_nested(t *testing.T) {
	t.Parallel()
	f := newHerd(t, 1)
	h := f.host()
	var m *rundir.Manager
	var inner error
	set, err := tool.New(tool.Func("nest", "nests", func(ctx context.Context, _ struct{}) (string, error) {
		_, inner = m.CreateFleet(ctx, runs.CreateParams{Project: "all", Pipeline: pipeline(t, oneEdit)},
			rundir.FleetOptions{Targets: targets(1)})
		return "", nil
	}))
	fstest.Must(t, err)
	h.Executor.Tools = set
	m = manage(t, f.store, h)
	nest := `{"name": "n", "steps": [{"id": "a", "action": "tool", "params": {"tool": "nest"}}]}`
	wait(t, m, createFleet(t, m, nest, rundir.FleetOptions{Targets: targets(1)}), runs.Success)
	if !errors.Is(inner, millrace.ErrNested) {
		t.Error(inner)
	}
}

// Children are removed with their parent; they do not count and are not removed alone.
func TestFleet_retention(t *testing.T) {
	t.Parallel()
	f := newHerd(t, 5)
	m := manage(t, f.store, f.host())
	first := wait(t, m, createFleet(t, m, oneEdit, rundir.FleetOptions{Targets: targets(5)}), runs.Success)
	held := wait(t, m, createFleet(t, m, strings.ReplaceAll(manualStep, "one", "two"),
		rundir.FleetOptions{Targets: targets(2)}), runs.Manual)
	last := wait(t, m, createFleet(t, m, oneEdit, rundir.FleetOptions{Targets: targets(1)}), runs.Success)
	fstest.Must(t, m.Close(t.Context()))
	open := func(r rundir.Retention) {
		t.Helper()
		h := f.host()
		h.Retention = r
		fstest.Must(t, manage(t, f.open(t), h).Close(t.Context()))
	}
	children := func() int {
		page, err := f.store.List(t.Context(), runs.Filter{Source: runs.SourceParent})
		fstest.Must(t, err)
		return page.Total
	}
	open(rundir.Retention{Keep: 3})
	if got := children(); got != 8 {
		t.Errorf("%d children are left, want all", got)
	}
	open(rundir.Retention{Keep: 1})
	same(t, "fleets", numbers(t, f.store), held.ID+" "+last.ID)
	if got := children(); got != 3 {
		t.Errorf("%d children are left, want 3", got)
	}
	if _, err := f.store.Get(t.Context(), first.Ref()); !errors.Is(err, runs.ErrNotFound) {
		t.Error(err)
	}
	same(t, "a child", string(triggers(t, f.store, held)[1].Status), "manual")
}

// Planted records in the files of a fleet are not trusted: a target with a run is not begun again.
func TestFleet_planted(t *testing.T) {
	t.Parallel()
	const count = 6
	f := newHerd(t, count)
	f.set(name(1), nil)
	m := manage(t, f.store, f.host())
	run := wait(t, m, createFleet(t, m, oneEdit, rundir.FleetOptions{Targets: targets(count)}), runs.Failed)
	f.set(name(1), afero.NewMemMapFs())
	fstest.Must(t, afero.WriteFile(f.trees[name(1)], "a.txt", []byte("one\n"), 0o644))
	dir := filepath.Join(f.dir, "runs/000000/000000001")
	planted := make([]byte, 8*count+3)
	binary.BigEndian.PutUint64(planted[0:], 3)
	binary.BigEndian.PutUint64(planted[8:], 1)
	binary.BigEndian.PutUint64(planted[16:], 1<<63)
	fstest.Must(t, os.WriteFile(filepath.Join(dir, "children"), planted, 0o600))
	f.times()
	_, err := m.Retry(t.Context(), run.Ref())
	fstest.Must(t, err)
	run = wait(t, m, run, runs.Success)
	same(t, "what was opened", f.times(), "tree-1 1")
	fstest.Must(t, os.Truncate(filepath.Join(dir, "children"), 8*count))
	f.checkChildren(t, run, count)

	f.set(name(1), nil)
	run = wait(t, m, createFleet(t, m, oneEdit, rundir.FleetOptions{Targets: targets(count)}), runs.Failed)
	list := filepath.Join(f.dir, "runs/000000/"+strings.Repeat("0", 9-len(run.ID))+run.ID, "targets")
	text, err := os.ReadFile(list)
	fstest.Must(t, err)
	for what, bad := range map[string]string{
		"another target": strings.Replace(string(text), "tree-0", "tree-9", 1), "one more": string(text) + string(text), "none": "",
		"one without an end": strings.Repeat("x", 1<<20),
	} {
		fstest.Must(t, os.WriteFile(list, []byte(bad), 0o600))
		f.times()
		_, err = m.Retry(t.Context(), run.Ref())
		fstest.Must(t, err)
		if what == "one more" { // later bytes do not count
			wait(t, m, run, runs.Failed)
			continue
		}
		if run = wait(t, m, run, runs.Failed); !strings.Contains(run.Reason, runs.ErrDamaged.Error()) || f.times() != "" {
			t.Errorf("%s: %s", what, run.Reason)
		}
	}
}

// A failed fleet is canceled as a whole while any of its children wait for a decision, but not after that.
func TestFleet_cancelFailed(t *testing.T) {
	t.Parallel()
	const count = 4
	f := newHerd(t, count)
	whole := f.trees[name(1)]
	f.set(name(1), nil)
	m := manage(t, f.store, f.host())
	run := wait(t, m, createFleet(t, m, manualStep, rundir.FleetOptions{Targets: targets(count)}), runs.Failed)
	same(t, "why", run.Reason, "of 4 targets 1 failed, 3 waiting for a decision")
	other := manage(t, f.open(t), f.host())
	run, err := other.Cancel(t.Context(), run.Ref())
	fstest.Must(t, err)
	if n, _ := statuses(t, f.store, run); run.Status != runs.Canceled || n[runs.Canceled] != 3 || n[runs.Failed] != 1 {
		t.Errorf("%s %s: %v", run.Status, run.Reason, n)
	}
	if sum := run.Summary; sum.Canceled != 3 || sum.Failed != 1 {
		t.Errorf("%+v", sum)
	}
	page, err := f.store.List(t.Context(), runs.Filter{Status: runs.Canceled})
	if err != nil || page.Total != 1 {
		t.Errorf("canceled are %d, %v", page.Total, err)
	}
	f.set(name(1), whole)
	_, err = m.Retry(t.Context(), run.Ref())
	fstest.Must(t, err)
	run = wait(t, m, run, runs.Manual)
	same(t, "all wait again", run.Reason, "of 4 targets 4 waiting for a decision")

	f.set(name(1), nil)
	run = wait(t, m, createFleet(t, m, oneEdit, rundir.FleetOptions{Targets: targets(count)}), runs.Failed)
	_, err = m.Cancel(t.Context(), run.Ref())
	refusal(t, err, "cannot cancel run 6: it is failed")
}
