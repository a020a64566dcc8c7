package rundir_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// herd is a store, and trees next to it by the id of their targets. Missing trees cannot be opened.
type herd struct {
	*place
	mu     sync.Mutex
	trees  map[string]afero.Fs
	opened map[string]int
}

func newHerd(t *testing.T, count int) *herd {
	t.Helper()
	f := &herd{place: &place{dir: t.TempDir()}, trees: make(map[string]afero.Fs), opened: make(map[string]int)}
	f.store = f.open(t)
	for i := range count {
		fsys := afero.NewMemMapFs()
		fstest.Must(t, afero.WriteFile(fsys, "a.txt", []byte("one\n"), 0o644))
		f.trees[name(i)] = fsys
	}
	return f
}

func name(i int) string { return fmt.Sprintf("tree-%d", i) }

func (f *herd) Open(_ context.Context, t fleet.Target) (fleet.Tree, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opened[t.ID]++
	if t.Labels["of"] != t.ID {
		return fleet.Tree{}, fmt.Errorf("target %q has the labels %v", t.ID, t.Labels)
	}
	if f.trees[t.ID] == nil {
		return fleet.Tree{}, os.ErrNotExist
	}
	return fleet.Tree{FS: f.trees[t.ID]}, nil
}

func (f *herd) set(name string, tree afero.Fs) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trees[name] = tree
}

// times returns how often each tree was opened since the last call: "tree-3 1, tree-7 2".
func (f *herd) times() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for i := range len(f.trees) {
		if n := f.opened[name(i)]; n > 0 {
			all = append(all, fmt.Sprintf("%s %d", name(i), n))
		}
	}
	clear(f.opened)
	return strings.Join(all, ", ")
}

func (f *herd) host() rundir.Host {
	return rundir.Host{Executor: millrace.Executor{State: millrace.State{NoSync: true, Key: key}}, Trees: f, User: "ann", MaxRunning: 8}
}

func targets(count int) iter.Seq2[fleet.Target, error] {
	return func(yield func(fleet.Target, error) bool) {
		for i := range count {
			if !yield(fleet.Target{ID: name(i), Labels: map[string]string{"of": name(i)}}, nil) {
				return
			}
		}
	}
}

const oneEdit = `{"name": "fix", "steps": [{"id": "fix", "action": "edit", "params": {"files": ["a.txt"], "old_text": "one", "new_text": "two"}}]}`

func createFleet(t testing.TB, m *rundir.Manager, text string, o rundir.FleetOptions) runs.Run {
	t.Helper()
	run, err := m.CreateFleet(t.Context(), runs.CreateParams{Project: "all", Pipeline: pipeline(t, text)}, o)
	fstest.Must(t, err)
	return run
}

// triggers returns all targets of a fleet, by index.
func triggers(t testing.TB, b runs.Browser, parent runs.Run) (all []runs.Trigger) {
	t.Helper()
	for p := (runs.Paging{Page: 1, PerPage: 100}); p.Page > 0; {
		page, err := b.Triggers(t.Context(), parent.Ref(), p)
		fstest.Must(t, err)
		all = append(all, page.Items...)
		p.Page = page.NextPage
	}
	return all
}

// checkChildren checks the file "children": each target has its own run, which names its parent.
func (f *herd) checkChildren(t *testing.T, parent runs.Run, count int) {
	t.Helper()
	var number int
	_, err := fmt.Sscan(parent.ID, &number)
	fstest.Must(t, err)
	data, err := os.ReadFile(filepath.Join(f.dir, fmt.Sprintf("runs/%06d/%09d/children", number/1000, number)))
	fstest.Must(t, err)
	if len(data) != 8*count {
		t.Fatalf("children has %d bytes, want %d", len(data), 8*count)
	}
	seen := make(map[uint64]bool)
	for i := range count {
		n := binary.BigEndian.Uint64(data[8*i:])
		if n == 0 || seen[n] {
			t.Errorf("target %d has run %d, before: %v", i, n, seen[n])
		}
		seen[n] = true
	}
	for i, trigger := range triggers(t, f.store, parent) {
		if trigger.Run == nil || trigger.Name != name(i) || trigger.Run.Project != name(i) ||
			trigger.Run.Parent != parent.ID || trigger.Run.Source != runs.SourceParent {
			t.Fatalf("target %d: %+v", i, trigger)
		}
	}
	page, err := f.store.List(t.Context(), runs.Filter{Source: runs.SourceParent})
	if err != nil || page.Total != count {
		t.Errorf("%d children in the list, want %d: %v", page.Total, count, err)
	}
}

// A fleet changes all trees; a retry continues the failed targets, and nothing else.
func TestFleet(t *testing.T) {
	t.Parallel()
	count := fstest.Runs(20, 200, 1000)
	f := newHerd(t, count)
	broken := []int{3, 11, 17}
	whole := make(map[int]afero.Fs)
	for _, i := range broken {
		whole[i] = f.trees[name(i)]
		f.set(name(i), nil)
	}
	m := manage(t, f.store, f.host())
	run := createFleet(t, m, oneEdit, rundir.FleetOptions{Targets: targets(count)})
	if run.Summary == nil || run.Summary.Targets != count {
		t.Errorf("as it was created: %+v", run)
	}
	run = wait(t, m, run, runs.Failed)
	sum := run.Summary
	if sum.Targets != count || sum.Success != count-3 || sum.Failed != 3 || sum.Files != int64(count-3) ||
		sum.Edits != int64(count-3) || sum.Risks.Low != count-3 {
		t.Errorf("%+v", sum)
	}
	same(t, "why", run.Reason, fmt.Sprintf("of %d targets 3 failed", count))
	if !run.Resumable || len(sum.Failures) != 3 {
		t.Fatalf("%+v", run)
	}
	for k, i := range broken {
		if got := sum.Failures[k]; got.Index != i || got.Target != name(i) || got.Code != "tree_unavailable" ||
			got.Run == "" || !strings.Contains(got.Message, "tree cannot be opened") {
			t.Errorf("failure %d: %+v", k, got)
		}
	}
	f.checkChildren(t, run, count)
	jobs, err := m.Jobs().Retry(t.Context(), runs.JobRef{ID: run.ID + "001"})
	if !errors.Is(err, runs.ErrNotFound) {
		t.Errorf("a job of a fleet: %+v, %v", jobs, err)
	}
	before := triggers(t, f.store, run)
	f.times()
	for _, i := range broken {
		f.set(name(i), whole[i])
	}
	run, err = m.Retry(t.Context(), run.Ref())
	fstest.Must(t, err)
	run = wait(t, m, run, runs.Success)
	same(t, "what was opened again", f.times(), "tree-3 1, tree-11 1, tree-17 1")
	if sum := run.Summary; sum.Success != count || sum.Failed != 0 || len(sum.Failures) != 0 || run.Reason != "" ||
		run.Attempts != 2 {
		t.Errorf("%+v %+v", run, sum)
	}
	for i, trigger := range triggers(t, f.store, run) {
		if again := !trigger.Run.UpdatedAt.Equal(before[i].Run.UpdatedAt); again != (whole[i] != nil) ||
			trigger.Run.ID != before[i].Run.ID {
			t.Errorf("target %d: run %+v, before %+v", i, trigger.Run, before[i].Run)
		}
		same(t, name(i), fstest.Read(t, f.trees[name(i)], "a.txt"), "two\n")
	}
	f.checkChildren(t, run, count)
}

// A waiting child holds the fleet. The fleet ends when the last decision is made.
func TestFleet_held(t *testing.T) {
	t.Parallel()
	const count = 4
	f := newHerd(t, count)
	m := manage(t, f.store, f.host())
	run := wait(t, m, createFleet(t, m, manualStep, rundir.FleetOptions{Targets: targets(count)}), runs.Manual)
	same(t, "why", run.Reason, "of 4 targets 4 waiting for a decision")
	if run.Held != nil || run.Summary.Success+run.Summary.Failed+run.Summary.Skipped+run.Summary.Canceled != 0 {
		t.Errorf("%+v", run)
	}
	if plan, err := m.Held(t.Context(), run.Ref()); err == nil {
		t.Errorf("a plan of a fleet: %v", plan)
	}
	f.times()
	_, err := m.Resume(t.Context(), run.ID)
	fstest.Must(t, err)
	run = wait(t, m, run, runs.Manual)
	same(t, "what was opened again", f.times(), "")
	for _, i := range []int{2, 0, 1} {
		child := triggers(t, f.store, run)[i].Run
		_, err := m.Jobs().Play(t.Context(), runs.JobRef{ID: child.Held.JobID}, runs.PlayParams{})
		fstest.Must(t, err)
		wait(t, m, *child, runs.Success)
	}
	child := triggers(t, f.store, run)[3].Run
	_, err = m.Cancel(t.Context(), child.Ref())
	fstest.Must(t, err)
	run = become(t, m, run, runs.Failed)
	same(t, "why", run.Reason, "of 4 targets 1 canceled")
	if sum := run.Summary; sum.Success != 3 || sum.Canceled != 1 {
		t.Errorf("%+v", sum)
	}
	_, err = m.Retry(t.Context(), run.Ref())
	fstest.Must(t, err)
	run = wait(t, m, run, runs.Manual)
	_, err = m.Cancel(t.Context(), run.Ref())
	fstest.Must(t, err)
	run = wait(t, m, run, runs.Canceled)
	if sum := run.Summary; sum.Success != 3 || sum.Canceled != 1 {
		t.Errorf("%+v", sum)
	}
}

// become waits until a waiting run has another status.
func become(t testing.TB, m *rundir.Manager, run runs.Run, want runs.Status) runs.Run {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		got, err := m.Wait(t.Context(), run.Ref())
		fstest.Must(t, err)
		if got.Status == want {
			return got
		}
		if time.Now().After(end) {
			t.Fatalf("run %s is %s (%s), want %s", got.ID, got.Status, got.Reason, want)
		}
	}
}
