package tools_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/bulkhead"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/tool"
)

// outsider is an action of a host that acts outside of the tree.
type outsider struct{ ran *int }

func (outsider) Spec() actions.Spec {
	return actions.Spec{Name: "outsider", Summary: "acts", ReadOnly: true, Outside: true}
}

func (o outsider) Run(context.Context, *actions.Call) (actions.Outcome, error) {
	*o.ran++
	return actions.Outcome{}, nil
}

type coded struct{ code string }

func (e coded) Error() string { return "rate limited" }
func (e coded) Code() string  { return e.code }

// A tool is retried only if its Spec or the step allows it, with a second between the attempts.
func TestAttempts(t *testing.T) {
	t.Parallel()
	retries := func(n int) func(*tool.Spec) { return func(s *tool.Spec) { s.Retries = n } }
	steps := func(change func(millrace.StepBuilder) millrace.StepBuilder) millrace.Pipeline {
		return change(millrace.New("p").Step("post", send("x"))).MustBuild()
	}
	for _, test := range []struct {
		name   string
		spec   int
		fail   int
		err    error
		change func(millrace.StepBuilder) millrace.StepBuilder
		calls  int
		waited time.Duration
		code   string
	}{
		{"by default", 0, 1, errors.New("no"), nil, 1, 0, "tool_failed"},
		{"the tool sets it", 2, 2, errors.New("no"), nil, 3, 3 * time.Second, ""},
		{"and no more", 2, 3, errors.New("no"), nil, 3, 3 * time.Second, "tool_failed"},
		{"the step sets it", 0, 1, errors.New("no"), func(b millrace.StepBuilder) millrace.StepBuilder { return b.MaxRetries(1) }, 2, time.Second, ""},
		{"the step forbids", 2, 2, errors.New("no"), func(b millrace.StepBuilder) millrace.StepBuilder { return b.MaxRetries(0) }, 1, 0, "tool_failed"},
		{"its own wait", 1, 1, errors.New("no"), func(b millrace.StepBuilder) millrace.StepBuilder { return b.Backoff(time.Minute) }, 2, time.Minute, ""},
		{"for good", 2, 1, actions.Permanent(errors.New("no")), nil, 1, 0, "tool_failed"},
		{"a code", 0, 1, coded{"rate_limited"}, nil, 1, 0, "rate_limited"},
		{"of its context", 0, 1, fmt.Errorf("post: %w", context.DeadlineExceeded), nil, 1, 0, "tool_failed"},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := &host{fail: test.fail, err: test.err}
			if test.change == nil {
				test.change = func(b millrace.StepBuilder) millrace.StepBuilder { return b }
			}
			for _, parallel := range []bool{false, true} {
				h.calls, h.fail = nil, test.fail
				began := time.Now()
				p := steps(test.change).WithOptions(millrace.Options{Parallel: parallel})
				res, err := millrace.Executor{Tools: h.tools(retries(test.spec))}.Run(t.Context(), suite.Tree("a.txt", "x"), p)
				if millrace.ErrorCode(err) != test.code || h.count() != test.calls || time.Since(began) != test.waited || res.Success != (test.code == "") {
					t.Errorf("%s: got %v, code %q, %d calls, %v", test.name, err, millrace.ErrorCode(err), h.count(), time.Since(began))
				}
				for i, c := range h.calls {
					if c.Attempt != i+1 || c.Key != h.calls[0].Key || c.Visit != 1 {
						t.Errorf("%s: call %d is %+v", test.name, i, c)
					}
				}
			}
		})
	}
}

// A key is the same for the attempts of a visit, and different in all other cases.
func TestKeys(t *testing.T) {
	t.Parallel()
	keys := func(x millrace.Executor, p millrace.Pipeline) []string {
		h := &host{fail: 1, err: errors.New("no")}
		x.Tools = h.tools(func(s *tool.Spec) { s.Retries = 1 })
		if _, err := x.Run(t.Context(), suite.Tree("a.txt", "x"), p); err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, c := range h.calls {
			all = append(all, c.Key)
		}
		return all
	}
	p := millrace.New("p").Step("post", send("x")).Backoff(time.Millisecond).MaxVisits(2).
		Step("two", send("x")).
		Step("back", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "xx"}).RetryWhen("post", condition.FileExists("gone")).
		MustBuild()
	named := keys(millrace.Executor{RunID: "r1"}, p)
	if len(named) != 3 || named[0] != named[1] || named[0] == named[2] {
		t.Fatalf("keys %q", named)
	}
	if diff := cmp.Diff(named, keys(millrace.Executor{RunID: "r1"}, p)); diff != "" {
		t.Errorf("the same run has other keys:\n%s", diff)
	}
	all := map[string]bool{named[0]: true}
	other := millrace.New("other").Step("post", send("x")).Backoff(time.Millisecond).MustBuild()
	for _, k := range []string{
		keys(millrace.Executor{RunID: "r2"}, p)[0], keys(millrace.Executor{RunID: "r1"}, other)[0],
		keys(millrace.Executor{}, p)[0], keys(millrace.Executor{}, p)[0],
	} {
		if all[k] {
			t.Errorf("the key %s is not new", k)
		}
		all[k] = true
	}
}

// Visits count from 1, and each has a key of its own.
func TestVisits(t *testing.T) {
	t.Parallel()
	h := &host{}
	p := millrace.New("p").Step("post", send("x")).MaxVisits(2).Backoff(time.Millisecond).
		Step("mark", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).RetryWhen("post", condition.CountGT("mark", 0)).
		MustBuild()
	res, err := millrace.Executor{Tools: h.tools()}.Run(t.Context(), suite.Tree("a.txt", "x"), p)
	if err != nil {
		t.Fatalf("%v, %v", err, reasons(res))
	}
	if len(h.calls) != 2 || h.calls[0].Visit != 1 || h.calls[1].Visit != 2 || h.calls[0].Key == h.calls[1].Key {
		t.Errorf("calls %+v", h.calls)
	}
	// Each fact about a step is reported once.
	h = &host{}
	p = millrace.New("p").Step("post", send("x")).MaxVisits(2).
		Step("mark", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).RetryWhen("post", condition.CountGT("mark", 0)).
		Step("stop", actions.Fail{Message: "no"}).MustBuild()
	for _, dry := range []bool{false, true} {
		res, err := millrace.Executor{Tools: h.tools(), DryRun: dry}.Run(t.Context(), suite.Tree("a.txt", "x"), p)
		if err == nil || len(res.Warnings) != 1 || len(h.calls) != 2 {
			t.Errorf("dry %t: %v, %q, %d calls", dry, err, res.Warnings, len(h.calls))
		}
	}
}

// A full bulkhead refuses at once. The call is not retried, and on_fail handles the failure.
func TestSaturated(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"tool", "tool:messages_send"} {
		h := &host{}
		full := bulkhead.New(1, 0)
		release, err := full.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		x := millrace.Executor{Tools: h.tools(), Bulkheads: map[string]*bulkhead.Bulkhead{name: full, "tool:other": bulkhead.New(0, 0)}}
		p := millrace.New("p").Step("post", send("x")).MaxRetries(3).OnFail("report").Step("e", edit).
			Step("report", actions.Create{Path: "report", Content: "{{post.risk}}"}).MustBuild()
		res, err := x.Run(t.Context(), suite.Tree("a.txt", "x"), p)
		if err != nil || h.count() != 0 {
			t.Fatalf("%v, %d calls", err, h.count())
		}
		want := []string{"post: tool failed: bulkhead '" + name + "' is full: 1 at work, 0 waiting", "e: bypassed by on_fail of 'post'", "report: ok"}
		if diff := cmp.Diff(want, reasons(res)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got := res.History[0].Attempts; len(got) != 1 || got[0].ErrorCode != "bulkhead_saturated" {
			t.Errorf("attempts %+v", got)
		}
		_, err = x.Run(t.Context(), suite.Tree("a.txt", "x"), suite.One(send("x")))
		if !suite.Is[*bulkhead.SaturatedError](err) || millrace.ErrorCode(err) != "bulkhead_saturated" {
			t.Errorf("got %v", err)
		}
		if len(res.Warnings) > 1 {
			t.Errorf("a tool that has not acted causes a warning: %q", res.Warnings)
		}
		release()
		if _, err := x.Run(t.Context(), suite.Tree("a.txt", "x"), suite.One(send("x"))); err != nil || h.count() != 1 {
			t.Errorf("%v, %d calls", err, h.count())
		}
		release, err = full.Acquire(t.Context()) // the place was released
		if err != nil {
			t.Error(err)
		}
		release()
	}
}

// A step holds no place while it waits for its next attempt. The wait for a place counts for the timeout.
func TestBulkheadAndTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one := bulkhead.New(1, 1)
		h := &host{fail: 1, err: errors.New("no")}
		x := millrace.Executor{Tools: h.tools(), Bulkheads: map[string]*bulkhead.Bulkhead{"tool": one}}
		done := make(chan error)
		go func() {
			_, err := x.Run(t.Context(), suite.Tree("a.txt", "x"), millrace.New("p").Step("s", send("x")).MaxRetries(1).Backoff(time.Minute).MustBuild())
			done <- err
		}()
		time.Sleep(time.Second)
		release, err := one.Acquire(t.Context())
		if err != nil {
			t.Fatal("the place is kept during the backoff:", err)
		}
		p := millrace.New("p").Step("s", send("x")).Timeout(time.Second).MustBuild()
		_, err = x.Run(t.Context(), suite.Tree("a.txt", "x"), p)
		if !suite.Is[*millrace.TimeoutError](err) || millrace.ErrorCode(err) != "timeout" {
			t.Errorf("got %v", err)
		}
		release()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// In parallel, the bulkhead limits the concurrent calls, and no call is lost.
func TestParallelWithinBulkhead(t *testing.T) {
	t.Parallel()
	var now, most, all atomic.Int64
	slow := tool.WithSpec(tool.Func("slow", "", func(context.Context, struct{}) (int, error) {
		n := now.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		time.Sleep(time.Millisecond)
		now.Add(-1)
		all.Add(1)
		return int(n), nil
	}), func(s *tool.Spec) { s.Pure = true })
	tools, err := tool.New(slow)
	if err != nil {
		t.Fatal(err)
	}
	b := millrace.New("p").Options(millrace.Options{Parallel: true})
	for i := range millrace.MaxSteps {
		b = b.Step(fmt.Sprintf("s%d", i), actions.Tool{Tool: "slow"}).Builder
	}
	x := millrace.Executor{
		Tools: tools, Workers: 8, Recorder: millrace.NewMemoryRecorder(),
		Bulkheads: map[string]*bulkhead.Bulkhead{"tool": bulkhead.New(3, 100), "tool:slow": bulkhead.New(2, 100)},
	}
	if _, err := x.Run(t.Context(), suite.Tree("a.txt", "x"), b.MustBuild()); err != nil {
		t.Fatal(err)
	}
	if most.Load() > 2 || all.Load() == 0 {
		t.Errorf("%d at the same time, %d calls", most.Load(), all.Load())
	}
}

// In parallel, a step that acts outside runs after all earlier steps, and before all later steps.
func TestOutsideInParallel(t *testing.T) {
	t.Parallel()
	var order []string
	x := millrace.Executor{Observe: func(e millrace.Event) {
		switch e := e.(type) {
		case millrace.StepStarted:
			order = append(order, "+"+e.Step)
		case millrace.StepFinished:
			order = append(order, "-"+e.Step)
		}
	}}
	h := &host{}
	x.Tools = h.tools()
	p := millrace.New("p").Options(millrace.Options{Parallel: true}).
		Step("a", look("a")).Step("post", send("x")).Step("b", look("b")).Step("post2", send("y")).MustBuild()
	if _, err := x.Run(t.Context(), suite.Tree("a.txt", "x"), p); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"+a", "-a", "+post", "-post", "+b", "-b", "+post2", "-post2"}, order); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The result of a tool has the limit of all that a step shows. A panic is an error that names its place.
func TestBoundsAndPanics(t *testing.T) {
	t.Parallel()
	big := tool.Func("big", "", func(_ context.Context, in struct {
		N int `json:"n"`
	}) (string, error) {
		return string(make([]byte, in.N)), nil
	})
	bad := tool.Func("bad", "", func(context.Context, struct{}) (int, error) { panic("oh") })
	tools, err := tool.New(big, bad)
	if err != nil {
		t.Fatal(err)
	}
	x := millrace.Executor{Tools: tools, Limits: actions.Limits{MaxShownBytes: 1000}}
	if _, err := x.Run(t.Context(), suite.Tree("a.txt", "x"), suite.One(actions.Tool{Tool: "big", Args: map[string]any{"n": 10}})); err != nil {
		t.Error(err)
	}
	res, err := x.Run(t.Context(), suite.Tree("a.txt", "x"), suite.One(actions.Tool{Tool: "big", Args: map[string]any{"n": 1000}}))
	if !suite.Is[*actions.LimitError](err) || millrace.ErrorCode(err) != "limit" || res.Results[0].Data != nil || res.Results[0].Output != "" {
		t.Errorf("got %v", err)
	}
	p := millrace.New("p").Step("s", actions.Tool{Tool: "bad"}).MaxRetries(3).MustBuild()
	res, err = x.Run(t.Context(), suite.Tree("a.txt", "x"), p)
	const want = "pipeline failed at step 1: tool failed: tool 'bad': panic: oh (step 's', /steps/0)"
	if !suite.Is[*panics.Error](err) || err.Error() != want || res.Results[0].Attempts > 1 {
		t.Errorf("got %v", err)
	}
}

// A canceled run reports its outside effects, too.
func TestCanceledWhileActing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	act := tool.Func("act", "", func(ctx context.Context, _ struct{}) (int, error) {
		cancel()
		return 0, ctx.Err()
	})
	tools, err := tool.New(act)
	if err != nil {
		t.Fatal(err)
	}
	p := millrace.New("p").Step("e", edit).Step("s", actions.Tool{Tool: "act"}).MaxRetries(3).Step("after", edit).MustBuild()
	res, err := millrace.Executor{Tools: tools}.Run(ctx, suite.Tree("a.txt", "x"), p)
	if millrace.ErrorCode(err) != "canceled" || res.Success {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff([]string{"what step 's' has done outside of the tree is not taken back"}, res.Warnings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A tool that runs a pipeline itself is refused.
func TestNoRunWithinATool(t *testing.T) {
	t.Parallel()
	nest := tool.Func("nest", "", func(ctx context.Context, _ struct{}) (int, error) {
		_, err := millrace.Run(ctx, suite.Tree("a.txt", "x"), suite.One(edit))
		return 0, err
	})
	tools, err := tool.New(nest)
	if err != nil {
		t.Fatal(err)
	}
	_, err = millrace.Executor{Tools: tools}.Run(t.Context(), suite.Tree("a.txt", "x"), suite.One(actions.Tool{Tool: "nest"}))
	if !errors.Is(err, millrace.ErrNested) || millrace.ErrorCode(err) != "nested_pipeline" {
		t.Errorf("got %v, code %q", err, millrace.ErrorCode(err))
	}
}
