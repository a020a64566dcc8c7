package fleet_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
)

// sleepy opens trees whose Open needs a second each.
func sleepy(trees fleet.Trees) fleet.Trees {
	return opener(func(ctx context.Context, t fleet.Target) (fleet.Tree, error) {
		time.Sleep(time.Second)
		return trees.Open(ctx, t)
	})
}

func TestStopAfter(t *testing.T) {
	t.Parallel()
	trees, targets := plant(t, 20)
	for i := range 20 {
		if i%3 == 0 {
			fstest.Must(t, trees[targets[i].Root].Remove("a.txt"))
		}
	}
	var got kept
	f := fleet.Fleet{Scheduler: fleet.Local{Worker: fleet.Worker{Trees: trees}, Parallel: 1}, StopAfter: 2}
	sum, err := f.Run(t.Context(), fleet.Campaign{ID: "c", Pipeline: edit()}, fleet.Targets(targets...), got.sink)
	if err != nil || sum.Stopped != fleet.CodeStopped || sum.Failed != 2 || sum.Success != 2 || sum.Skipped != 16 ||
		sum.Targets != 20 {
		t.Errorf("%+v, %v", sum, err)
	}
	for i, o := range got.sorted(t, 20)[4:] {
		if o.Status != fleet.Skipped || o.Code != fleet.CodeStopped || o.Message != "not begun: 2 targets have failed" ||
			o.Attempts != 0 || o.RunID != "" || o.Target.ID != targets[4+i].ID {
			t.Errorf("%+v", o)
		}
	}
	// Concurrent targets may exceed the limit.
	trees, targets = plant(t, 20)
	for _, fsys := range trees {
		fstest.Must(t, fsys.Remove("a.txt"))
	}
	f.Scheduler = fleet.Local{Worker: fleet.Worker{Trees: trees}, Parallel: 4}
	sum, err = f.Run(t.Context(), fleet.Campaign{ID: "c", Pipeline: edit()}, fleet.Targets(targets...), nil)
	if err != nil || sum.Failed < 2 || sum.Failed > 2+3 || sum.Failed+sum.Skipped != 20 {
		t.Errorf("%+v, %v", sum, err)
	}
}

// A deadline stops targets that have not begun, and leaves the others alone.
func TestDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		trees, targets := plant(t, 20)
		f := fleet.Fleet{Scheduler: fleet.Local{Worker: fleet.Worker{Trees: sleepy(trees)}, Parallel: 2},
			Deadline: 2500 * time.Millisecond}
		sum, err := f.Run(t.Context(), fleet.Campaign{ID: "c", Pipeline: edit()}, fleet.Targets(targets...), nil)
		if err != nil || sum.Stopped != "deadline_exceeded" || sum.Success != 6 || sum.Skipped != 14 ||
			sum.Duration != 3*time.Second {
			t.Errorf("%+v, %v", sum, err)
		}
	})
}

// PerSecond spreads the beginnings evenly, and does not wait beyond the deadline.
func TestPerSecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		trees, targets := plant(t, 9)
		var begun []time.Duration
		var mu sync.Mutex
		start := time.Now()
		open := opener(func(ctx context.Context, target fleet.Target) (fleet.Tree, error) {
			mu.Lock()
			begun = append(begun, time.Since(start))
			mu.Unlock()
			return trees.Open(ctx, target)
		})
		f := fleet.Fleet{Scheduler: fleet.Local{Worker: fleet.Worker{Trees: open}, Parallel: 4}, PerSecond: 2,
			Deadline: 2250 * time.Millisecond}
		sum, err := f.Run(t.Context(), fleet.Campaign{ID: "c", Pipeline: edit()}, fleet.Targets(targets...), nil)
		if err != nil || sum.Success != 5 || sum.Skipped != 4 || sum.Duration != 2250*time.Millisecond {
			t.Errorf("%+v, %v", sum, err)
		}
		ms := time.Millisecond
		if d := cmp.Diff([]time.Duration{0, 500 * ms, 1000 * ms, 1500 * ms, 2000 * ms}, begun); d != "" {
			t.Errorf("begun (-want +got):\n%s", d)
		}
		f.PerSecond, f.Deadline = 1e-300, time.Second
		if sum, err := f.Run(t.Context(), fleet.Campaign{ID: "d", Pipeline: edit()}, fleet.Targets(targets...),
			nil); err != nil || sum.Skipped != 8 {
			t.Errorf("%+v, %v", sum, err)
		}
	})
}

// spends is an action that costs a dollar.
type spends struct{}

func (spends) Spec() actions.Spec {
	return actions.Spec{Name: "spends", Summary: "spends a dollar", ReadOnly: true}
}

func (spends) Run(_ context.Context, c *actions.Call) (actions.Outcome, error) {
	c.Spend(budget.Dollar)
	return actions.Outcome{}, nil
}

func TestBudget(t *testing.T) {
	t.Parallel()
	paid := millrace.New("paid").Step("s", spends{}).Step("e",
		actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).MustBuild()
	for name, test := range map[string]struct {
		limit budget.Limit
		done  int
		text  string
	}{
		"money": {budget.Limit{USD: 3 * budget.Dollar}, 3, "not begun: the budget of $3.00 is spent"},
		"files": {budget.Limit{Files: 4}, 5, "not begun: more files were changed than the budget allows"},
		"edits": {budget.Limit{Edits: 1}, 2, "not begun: more edits were changed than the budget allows"},
	} {
		trees, targets := plant(t, 9)
		var got kept
		f := fleet.Fleet{Scheduler: fleet.Local{Worker: fleet.Worker{Trees: trees}, Parallel: 1}, Budget: test.limit}
		sum, err := f.Run(t.Context(), fleet.Campaign{ID: "c", Pipeline: paid}, fleet.Targets(targets...), got.sink)
		if err != nil || sum.Stopped != "budget_exceeded" || sum.Success != test.done || sum.Skipped != 9-test.done ||
			sum.Cost != budget.Cost(test.done)*budget.Dollar {
			t.Errorf("%s: %+v, %v", name, sum, err)
		}
		if last := got.sorted(t, 9)[8]; last.Message != test.text {
			t.Errorf("%s: %+v", name, last)
		}
		// Work that was already done is not paid again.
		sum, err = f.Run(t.Context(), fleet.Campaign{ID: "c", Pipeline: paid}, fleet.Targets(targets...), nil)
		if err != nil || sum.Replayed != test.done || sum.Cost != budget.Cost(min(test.done, 9-test.done))*budget.Dollar {
			t.Errorf("%s again: %+v, %v", name, sum, err)
		}
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	trees, targets := plant(t, 1)
	local := fleet.Local{Worker: fleet.Worker{Trees: trees}}
	good := fleet.Campaign{ID: "c", Pipeline: edit()}
	for want, test := range map[string]struct {
		fleet    fleet.Fleet
		campaign fleet.Campaign
	}{
		`fleet: Fleet.Scheduler "nil": a scheduler is required, such as Local`:           {fleet.Fleet{}, good},
		`fleet: Fleet.StopAfter "-1": a negative number is not allowed`:                  {fleet.Fleet{Scheduler: local, StopAfter: -1}, good},
		`fleet: Fleet.Deadline "-1s": a negative number is not allowed`:                  {fleet.Fleet{Scheduler: local, Deadline: -time.Second}, good},
		`fleet: Fleet.PerSecond "NaN": a number from 0 is required`:                      {fleet.Fleet{Scheduler: local, PerSecond: math.NaN()}, good},
		`fleet: Fleet.Budget.Bytes "1": bytes are not counted here: set Executor.Budget`: {fleet.Fleet{Scheduler: local, Budget: budget.Limit{Bytes: 1}}, good},
		`budget.files must be more than 0, got -1`:                                       {fleet.Fleet{Scheduler: local, Budget: budget.Limit{Files: -1}}, good},
		`fleet: Campaign.ID "": letters, digits, - and _ are allowed, 1 to 255`:          {fleet.Fleet{Scheduler: local}, fleet.Campaign{Pipeline: edit()}},
		`fleet: Campaign.ID "a/b": letters, digits, - and _ are allowed, 1 to 255`:       {fleet.Fleet{Scheduler: local}, fleet.Campaign{ID: "a/b", Pipeline: edit()}},
		`fleet: scheduler: fleet: Local.Parallel "-1": a negative number is not allowed`: {fleet.Fleet{Scheduler: fleet.Local{Worker: local.Worker, Parallel: -1}}, good},
		`fleet: scheduler: fleet: Worker.Trees "nil": a Trees value is required`:         {fleet.Fleet{Scheduler: fleet.Local{}}, good},
		`fleet: Campaign.Pipeline "": it has no steps`:                                   {fleet.Fleet{Scheduler: local}, fleet.Campaign{ID: "c"}},
	} {
		if _, err := test.fleet.Run(t.Context(), test.campaign, fleet.Targets(targets...), nil); err == nil ||
			err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// The reported failures are the first of the list, in any order of their ends.
func TestFailures(t *testing.T) {
	t.Parallel()
	var up, down fleet.Summary
	for i := range 100 {
		up.Add(fleet.Outcome{Index: i, Status: fleet.Failed})
		down.Add(fleet.Outcome{Index: 99 - i, Status: fleet.Failed})
	}
	if d := cmp.Diff(up, down); d != "" || len(up.Failures) != 10 || up.Failures[9].Index != 9 || up.Failed != 100 {
		t.Errorf("%d failures:\n%s", len(up.Failures), d)
	}
}

// An observer receives the target of an event.
func TestObserve(t *testing.T) {
	t.Parallel()
	trees, targets := plant(t, 10)
	finished := make(map[string]int)
	busy := false
	var lines strings.Builder
	write := millrace.JSONEvents(&lines)
	f := fleet.Fleet{Scheduler: fleet.Local{Worker: fleet.Worker{Trees: trees}, Parallel: 4}, Observe: func(e millrace.Event) {
		if busy {
			t.Error("two events at the same time")
		}
		busy = true
		defer func() { busy = false }()
		of := e.(fleet.Event)
		if _, ok := of.Event.(millrace.RunFinished); ok {
			finished[fmt.Sprint(of.Index, of.Target)]++
		}
		write(e)
	}}
	if _, err := f.Run(t.Context(), fleet.Campaign{ID: "c", Pipeline: edit()}, fleet.Targets(targets...),
		nil); err != nil {
		t.Fatal(err)
	}
	for i, target := range targets {
		if finished[fmt.Sprint(i, target.ID)] != 1 {
			t.Errorf("%s has ended %d times", target.ID, finished[fmt.Sprint(i, target.ID)])
		}
	}
	for line := range strings.Lines(lines.String()) {
		var event struct {
			Event, Target string
			Index         *int `json:"target_index"`
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil || event.Event == "" || event.Target == "" ||
			event.Index == nil {
			t.Errorf("%v: %s", err, line)
		}
	}
}

func TestTargetCheck(t *testing.T) {
	t.Parallel()
	labels := make(map[string]string)
	for i := range fleet.MaxLabels + 1 {
		labels[fmt.Sprint(i)] = ""
	}
	for want, target := range map[string]fleet.Target{
		`target "": the id is empty`: {},
		`target "` + strings.Repeat("a", 97) + `...": the id has 2000 bytes, more than 1024`: {ID: strings.Repeat("a", 2000)},
		`target "a\x1b[2J": the id must be valid UTF-8 without control characters`:           {ID: "a\x1b[2J"},
		`target "a�": the id must be valid UTF-8 without control characters`:                 {ID: "a\xff"},
		`target "a": the root has 5000 bytes, more than 4096`:                                {ID: "a", Root: strings.Repeat("a", 5000)},
		`target "a": the root has a NUL in it`:                                               {ID: "a", Root: "a\x00b"},
		`target "a": 65 labels with 120 bytes, more than 64 and 65536`:                       {ID: "a", Labels: labels},
		`target "a": 1 labels with 70001 bytes, more than 64 and 65536`:                      {ID: "a", Labels: map[string]string{"k": strings.Repeat("v", 70000)}},
	} {
		err := target.Check()
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		if wrong, ok := errors.AsType[*fleet.TargetError](err); !ok || wrong.Code() != fleet.CodeInvalidTarget {
			t.Errorf("%#v", err)
		}
	}
	if err := (fleet.Target{ID: "Übung 1", Root: "/a"}).Check(); err != nil {
		t.Error(err)
	}
}

// Untrusted roots cannot leave the directory of all trees.
func TestWithin(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	within := filepath.Join(top, "trees")
	for _, dir := range []string{"trees/a/b", "outside"} {
		fstest.Must(t, os.MkdirAll(filepath.Join(top, dir), 0o755))
	}
	links := os.Symlink("../outside", filepath.Join(within, "out")) == nil &&
		os.Symlink("a", filepath.Join(within, "in")) == nil
	trees := fleet.Dirs{Within: within}
	for root, want := range map[string]bool{
		"a": true, "a/b": true, ".": true, "a/../a/b": true, "in": links, "in/b": links,
		"..": false, "../outside": false, "a/../../outside": false, "out": false, within: false, "": false, "none": false,
	} {
		tree, err := trees.Open(t.Context(), fleet.Target{ID: "t", Root: root})
		if (err == nil) != want {
			t.Errorf("%q: %v", root, err)
		}
		if err == nil {
			fstest.Must(t, tree.Close(t.Context(), nil, nil))
		}
	}
	if _, err := (fleet.Dirs{}).Open(t.Context(), fleet.Target{ID: "t"}); err == nil {
		t.Error("an empty root was read as the working directory")
	}
}

// Memory grows with the running targets, not with the number of targets.
func TestMemory(t *testing.T) {
	n := fstest.Runs(1000, 10_000, 100_000)
	trees := opener(func(context.Context, fleet.Target) (fleet.Tree, error) {
		fsys := afero.NewMemMapFs()
		return fleet.Tree{FS: fsys}, afero.WriteFile(fsys, "a.txt", []byte("x\n"), 0o644)
	})
	var list iter.Seq2[fleet.Target, error] = func(yield func(fleet.Target, error) bool) {
		for i := range n {
			if !yield(fleet.Target{ID: fmt.Sprintf("tree-%d", i)}, nil) {
				return
			}
		}
	}
	f := fleet.Fleet{Scheduler: fleet.Local{Worker: fleet.Worker{Trees: trees}, Parallel: 8}}
	var most uint64
	seen := 0
	sum, err := f.Run(t.Context(), fleet.Campaign{ID: "c", Pipeline: edit()}, list, func(fleet.Outcome) error {
		if seen++; seen%max(1, n/20) == 0 {
			runtime.GC()
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
		return nil
	})
	if err != nil || sum.Success != n || most == 0 {
		t.Fatalf("%+v, %v", sum, err)
	}
	fstest.Countf(t, "%d trees, 8 at a time: the heap has %.1f MiB at most", n, float64(most)/(1<<20))
	if most > 64<<20 {
		t.Errorf("the heap has %d bytes", most)
	}
}

// A link that changes while a root is opened cannot lead outside either.
func TestWithinTurning(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	within := filepath.Join(top, "trees")
	fstest.Must(t, errors.Join(os.MkdirAll(filepath.Join(within, "a"), 0o755), os.MkdirAll(filepath.Join(top, "outside"), 0o755)))
	fstest.Must(t, os.WriteFile(filepath.Join(top, "outside", "secret"), nil, 0o600))
	turn := func(to string) error {
		next := filepath.Join(within, "next")
		return errors.Join(os.Symlink(to, next), os.Rename(next, filepath.Join(within, "link")))
	}
	if err := turn("a"); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	stop := make(chan struct{})
	var turning sync.WaitGroup
	turning.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if err := errors.Join(turn("../outside"), turn("a")); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	opened := 0
	for range fstest.Runs(2000, 10_000, 100_000) {
		tree, err := (fleet.Dirs{Within: within}).Open(t.Context(), fleet.Target{ID: "t", Root: "link"})
		if err != nil {
			continue
		}
		opened++
		if _, err := tree.FS.Stat("secret"); err == nil {
			t.Error("the tree is outside")
		}
		fstest.Must(t, tree.Close(t.Context(), nil, nil))
	}
	close(stop)
	turning.Wait()
	if opened == 0 {
		t.Error("the root was never opened")
	}
}
