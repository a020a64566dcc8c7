package fleet_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/tool"
)

// task returns a task of a pipeline for a target.
func task(t testing.TB, p millrace.Pipeline, target fleet.Target) fleet.Task {
	t.Helper()
	data, err := json.Marshal(p)
	fstest.Must(t, err)
	return fleet.Task{Campaign: "c", Target: target, Pipeline: data}
}

// Different fields never have the same id, even if they are equal when joined, and the id is stable.
func TestRunID(t *testing.T) {
	t.Parallel()
	if got := fleet.RunID("campaign", "target", "digest", "base"); got != "701a1acc204fb284c73ce1c79cdf85b4" {
		t.Errorf("the id is %s", got)
	}
	seen := make(map[string][4]string)
	for _, f := range [][4]string{
		{"ab", "c", "d", ""}, {"a", "bc", "d", ""}, {"a", "b", "cd", ""}, {"a", "b", "c", "d"}, {"abcd", "", "", ""}, {"", "abcd", "", ""}, {"", "", "", "abcd"},
		{"a\x00b", "", "c", "d"}, {"a", "\x00b", "c", "d"},
	} {
		id := fleet.RunID(f[0], f[1], f[2], f[3])
		if other, ok := seen[id]; ok || len(id) != 32 {
			t.Errorf("%q and %q: %s", f, other, id)
		}
		seen[id] = f
	}
}

// Transient errors are retried three times, and everything else is reported at once.
func TestRetries(t *testing.T) {
	t.Parallel()
	locked := fmt.Errorf("elsewhere: %w", fsutil.ErrLocked)
	for name, test := range map[string]struct {
		fails    int   // the number of failures
		err      error // of closing; nil: the tree cannot be opened
		retries  int
		attempts int
		wait     time.Duration
		code     string
	}{
		"a tree that comes":   {fails: 2, attempts: 3, wait: 3 * time.Second},
		"one that does not":   {fails: 9, attempts: 4, wait: 7 * time.Second, code: "tree_unavailable"},
		"a lock":              {fails: 1, err: locked, attempts: 2, wait: time.Second},
		"a conflict":          {fails: 1, err: &millrace.ConflictError{}, attempts: 2, wait: time.Second},
		"a half commit":       {fails: 1, err: &millrace.CommitError{State: millrace.CommitPending, Err: os.ErrClosed}, attempts: 2, wait: time.Second},
		"a bad disk":          {fails: 1, err: os.ErrClosed, attempts: 1, code: "internal"},
		"nothing again":       {fails: 1, retries: -1, attempts: 1, code: "tree_unavailable"},
		"more often than so":  {fails: 5, retries: 5, attempts: 6, wait: 31 * time.Second},
		"no target in itself": {fails: 1, err: &fleet.TargetError{}, attempts: 1, code: "invalid_target"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				trees, targets := plant(t, 1)
				left := test.fails
				open := opener(func(ctx context.Context, target fleet.Target) (fleet.Tree, error) {
					tree, err := trees.Open(ctx, target)
					if left--; left < 0 {
						return tree, err
					}
					if test.err == nil {
						return fleet.Tree{}, os.ErrNotExist
					}
					tree.Close = func(context.Context, *millrace.Result, error) error { return test.err }
					return tree, err
				})
				begun := time.Now()
				o := fleet.Worker{Trees: open, Retries: test.retries}.Do(t.Context(), task(t, edit(), targets[0]))
				if o.Code != test.code || o.Attempts != test.attempts || (o.Status == fleet.Success) != (test.code == "") {
					t.Errorf("%+v", o)
				}
				if waited := time.Since(begun); waited != test.wait || o.Duration != waited {
					t.Errorf("waited %v, told %v, want %v", waited, o.Duration, test.wait)
				}
				if o.Replayed != (o.Status == fleet.Success && test.err != nil) {
					t.Errorf("what was committed at the first attempt: %+v", o)
				}
			})
		})
	}
}

// The wait for another attempt ends with the context. Then the outcome is a cancellation, unless the tree needs
// recovery.
func TestCancelWhileWaiting(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err    error
		status fleet.Status
		code   string
	}{
		{fsutil.ErrLocked, fleet.Canceled, "canceled"},
		{&millrace.CommitError{State: millrace.CommitPending, Err: os.ErrClosed}, fleet.Failed, "recovery_needed"},
	} {
		synctest.Test(t, func(t *testing.T) {
			trees, targets := plant(t, 1)
			ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
			defer cancel()
			open := opener(func(ctx context.Context, target fleet.Target) (fleet.Tree, error) {
				tree, err := trees.Open(ctx, target)
				tree.Close = func(context.Context, *millrace.Result, error) error { return test.err }
				return tree, err
			})
			o := fleet.Worker{Trees: open}.Do(ctx, task(t, edit(), targets[0]))
			if o.Status != test.status || o.Code != test.code || o.Attempts != 2 || o.Duration != 1500*time.Millisecond {
				t.Errorf("%+v", o)
			}
		})
	}
}

// Two workers with the same task change the tree once: the second waits for the first and gets its result.
func TestTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fstest.Must(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("x\n"), 0o644))
	p := millrace.New("more").Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "xx"}).MustBuild()
	outcomes := make([]fleet.Outcome, 8)
	var work sync.WaitGroup
	for i := range outcomes {
		work.Go(func() {
			outcomes[i] = fleet.Worker{Trees: fleet.Dirs{}}.Do(t.Context(), task(t, p, fleet.Target{ID: "one", Root: dir}))
		})
	}
	work.Wait()
	replayed := 0
	for _, o := range outcomes {
		if o.Status != fleet.Success || o.Files != 1 || o.Edits != 1 || o.RunID != outcomes[0].RunID {
			t.Errorf("%+v", o)
		}
		if o.Replayed {
			replayed++
		}
	}
	if data, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(data) != "xx\n" || replayed != 7 {
		t.Errorf("%q, %d replayed", data, replayed)
	}
}

// The same target with another base is another run.
func TestBase(t *testing.T) {
	t.Parallel()
	trees, targets := plant(t, 1)
	base := "first"
	closed := []string{}
	open := opener(func(ctx context.Context, target fleet.Target) (fleet.Tree, error) {
		tree, err := trees.Open(ctx, target)
		tree.Base = base
		tree.Close = func(_ context.Context, res *millrace.Result, err error) error {
			closed = append(closed, fmt.Sprint(res.Success, res.Replayed, err))
			return nil
		}
		return tree, err
	})
	p := millrace.New("more").Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "xx"}).MustBuild()
	w := fleet.Worker{Trees: open}
	for _, base = range []string{"first", "first", "second"} {
		if o := w.Do(t.Context(), task(t, p, targets[0])); o.Status != fleet.Success {
			t.Errorf("%+v", o)
		}
	}
	if d := cmp.Diff([]string{"true false <nil>", "true true <nil>", "true false <nil>"}, closed); d != "" {
		t.Errorf("closed (-want +got):\n%s", d)
	}
	if got := text(t, trees[targets[0].Root]); got != "xxxx\n" {
		t.Errorf("the tree has %q", got)
	}
}

// A mistake in a task is its outcome, and no tree is opened for it.
func TestBadTasks(t *testing.T) {
	t.Parallel()
	opened := 0
	w := fleet.Worker{Trees: opener(func(context.Context, fleet.Target) (fleet.Tree, error) { opened++; return fleet.Tree{}, os.ErrNotExist })}
	for _, pipeline := range []string{``, `{`, `{"name":"p","steps":[]}`,
		`{"name":"p","steps":[{"id":"a","action":"nothing"}]}`} {
		if o := w.Do(t.Context(), fleet.Task{Campaign: "c", Target: fleet.Target{ID: "t"},
			Pipeline: []byte(pipeline)}); o.Code != "invalid_pipeline" || o.Status != fleet.Failed {
			t.Errorf("%q: %+v", pipeline, o)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if o := w.Do(ctx, task(t, edit(), fleet.Target{ID: "t"})); o.Status != fleet.Canceled || o.Code != "canceled" {
		t.Errorf("%+v", o)
	}
	if o := w.Do(t.Context(), task(t, edit(), fleet.Target{})); o.Code != "invalid_target" {
		t.Errorf("%+v", o)
	}
	if opened != 0 {
		t.Errorf("%d trees were opened", opened)
	}
}

// If every step of a pipeline was skipped, the target is skipped. A pipeline that has nothing to change is a success.
func TestSkippedSteps(t *testing.T) {
	t.Parallel()
	_, targets := plant(t, 1)
	for text, want := range map[string]fleet.Status{
		`{"name":"p","steps":[{"id":"a","action":"search","params":{"pattern":"x"},"condition":{"type":"file_exists","path":"none"}}]}`: fleet.Skipped,
		`{"name":"p","steps":[{"id":"a","action":"search","params":{"pattern":"x"}}]}`:                                                  fleet.Success,
	} {
		trees, _ := plant(t, 1)
		task := fleet.Task{Campaign: "c", Target: targets[0], Pipeline: []byte(text)}
		if o := (fleet.Worker{Trees: trees}).Do(t.Context(), task); o.Status != want || o.Code != "" {
			t.Errorf("%s: %+v", text, o)
		}
	}
}

// A recorder of the host may serve a fleet: an answer about one tree is not used for another.
func TestRecorder(t *testing.T) {
	t.Parallel()
	trees, targets := plant(t, 3)
	asked := 0
	ask, err := tool.New(tool.WithSpec(tool.Func("ask", "asks", func(context.Context, struct{}) (string, error) { asked++; return fmt.Sprint(asked), nil }), func(s *tool.Spec) { s.Pure = true }))
	fstest.Must(t, err)
	p := millrace.New("p").Step("a", actions.Tool{Tool: "ask"}).MustBuild()
	x := millrace.Executor{Tools: ask, Recorder: millrace.NewMemoryRecorder()}
	f := fleet.Fleet{Scheduler: fleet.Local{Worker: fleet.Worker{Trees: trees, Executor: x}, Parallel: 1}}
	for range 2 {
		if sum, err := f.Run(t.Context(), fleet.Campaign{ID: "c", Pipeline: p}, fleet.Targets(targets...), nil); err != nil ||
			sum.Success != 3 {
			t.Fatalf("%+v, %v", sum, err)
		}
	}
	if asked != 3 {
		t.Errorf("asked %d times about 3 trees", asked)
	}
}

// Outcomes and summaries can be sent to other machines.
func TestJSON(t *testing.T) {
	t.Parallel()
	o := fleet.Outcome{
		Target: fleet.Target{ID: "a", Root: "/a", Labels: map[string]string{"k": "v"}}, Index: 3, RunID: "r", Status: fleet.Failed, Code: "locked", Message: "m",
		Cost: 12 * budget.Cent, Replayed: true, Files: 1, Edits: 2, Attempts: 3, Risk: risk.High, Duration: 1500 * time.Microsecond,
	}
	data, err := json.Marshal(o)
	const want = `{"target":{"id":"a","root":"/a","labels":{"k":"v"}},"index":3,"run_id":"r","status":"failed","code":"locked","message":"m",` +
		`"cost_usd":0.12,"replayed":true,"files":1,"edits":2,"attempts":3,"risk":"HIGH","duration":1.5}`
	if err != nil || string(data) != want {
		t.Errorf("%s, %v", data, err)
	}
	var back fleet.Outcome
	if err := json.Unmarshal(data, &back); err != nil || !cmp.Equal(o, back) {
		t.Errorf("%+v, %v", back, err)
	}
	sum := fleet.Summary{Campaign: "c"}
	sum.Add(o)
	sum.Duration = time.Second
	data, err = json.Marshal(sum)
	if err != nil || !strings.HasPrefix(string(data),
		`{"campaign":"c","targets":1,"success":0,"failed":1,"skipped":0,"canceled":0,"replayed":1,"files":1,"edits":2,`+
			`"risks":{"LOW":0,"MEDIUM":0,"HIGH":1,"CRITICAL":0},"cost_usd":0.12,"failures":[{`) || !strings.HasSuffix(string(data), `}],"duration":1000}`) {
		t.Errorf("%s, %v", data, err)
	}
	var sumBack fleet.Summary
	if err := json.Unmarshal(data, &sumBack); err != nil || !cmp.Equal(sum, sumBack) {
		t.Errorf("%+v, %v", sumBack, err)
	}
	if data, _ := json.Marshal(fleet.Summary{}); !strings.Contains(string(data), `"failures":[]`) {
		t.Errorf("%s", data)
	}
	wrong := errors.Join(back.UnmarshalJSON([]byte(`{"index":"x"}`)), sumBack.UnmarshalJSON([]byte(`[]`)))
	if wrong == nil {
		t.Error("noise was read")
	}
	task := fleet.Task{Campaign: "c", Index: 1, Target: o.Target, Pipeline: []byte("{}"), Observe: func(millrace.Event) {}}
	if data, err := json.Marshal(task); err != nil ||
		string(data) != `{"campaign":"c","index":1,"target":{"id":"a","root":"/a","labels":{"k":"v"}},"pipeline":"e30="}` {
		t.Errorf("%s, %v", data, err)
	}
}

// A plan writes nothing, and only the approved changes are committed: not another plan, and not an invented digest.
func TestApproved(t *testing.T) {
	t.Parallel()
	trees, targets := plant(t, 1)
	w := fleet.Worker{Trees: trees}
	fsys := trees[targets[0].Root]
	asked := task(t, edit(), targets[0])
	plan := w.Plan(t.Context(), asked)
	if plan.Status != fleet.Success || len(plan.PlanDigest) != 64 || plan.Files != 1 || plan.Edits != 1 ||
		plan.Risk != risk.Low || text(t, fsys) != "x\n" {
		t.Fatalf("%+v with %q", plan, text(t, fsys))
	}
	asked.PlanDigest = plan.PlanDigest
	fstest.Must(t, fsys.Chtimes("a.txt", time.Now(), time.Now()))
	other := asked
	other.PlanDigest = strings.Repeat("0", 64)
	if o := w.Do(t.Context(), other); o.Code != fleet.CodePlanChanged || o.Status != fleet.Failed || o.Attempts != 1 ||
		text(t, fsys) != "x\n" {
		t.Errorf("%+v with %q", o, text(t, fsys))
	}
	fstest.Write(t, fsys, "a.txt", "x x\n")
	if o := w.Do(t.Context(), asked); o.Code != fleet.CodePlanChanged || text(t, fsys) != "x x\n" {
		t.Errorf("%+v with %q", o, text(t, fsys))
	}
	fstest.Write(t, fsys, "a.txt", "x\n")
	if o := w.Do(t.Context(), asked); o.Status != fleet.Success || o.Replayed || text(t, fsys) != "y\n" {
		t.Errorf("%+v with %q", o, text(t, fsys))
	}
	if o := w.Do(t.Context(), asked); o.Status != fleet.Success || !o.Replayed {
		t.Errorf("what was committed is not another plan: %+v", o)
	}
	fstest.Must(t, fsys.Remove("a.txt"))
	if o := w.Plan(t.Context(), task(t, millrace.New("q").Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "x",
		NewText: "y"}).MustBuild(), targets[0])); o.Code != "step_failed" || o.PlanDigest != "" {
		t.Errorf("%+v", o)
	}
	// This also applies to files that are written as a whole, which are first put aside.
	whole := task(t, millrace.New("w").Step("w",
		actions.WriteFiles(map[string]string{"b.txt": strings.Repeat("line\n", 100_000) + "end\n"})).
		Step("e", actions.Edit{Files: []string{"b.txt"}, OldText: "end", NewText: "over"}).MustBuild(), targets[0])
	whole.PlanDigest = w.Plan(t.Context(), whole).PlanDigest
	if o := w.Do(t.Context(), whole); o.Status != fleet.Success || o.Edits != 2 {
		t.Errorf("%+v", o)
	}
	w.Executor.Checkpoints = forgetful{}
	if o := w.Do(t.Context(), asked); o.Code != "internal" || !strings.Contains(o.Message, "Worker.Executor.Checkpoints") {
		t.Errorf("%+v", o)
	}
}

// forgetful is a Checkpointer of a host.
type forgetful struct{ millrace.Checkpointer }
