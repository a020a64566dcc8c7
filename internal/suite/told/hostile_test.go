package told_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/tool"
)

// Errors whose methods panic, or end the goroutine.
type (
	nilError    struct{ text string }
	textPanics  struct{}
	codePanics  struct{}
	retryPanics struct{}
	isPanics    struct{}
	textExits   struct{}
)

func (e *nilError) Error() string   { return e.text }
func (textPanics) Error() string    { panic("no text") }
func (codePanics) Error() string    { return "x" }
func (codePanics) Code() string     { panic("no code") }
func (retryPanics) Error() string   { return "x" }
func (retryPanics) Retryable() bool { panic("no answer") }
func (isPanics) Error() string      { return "x" }
func (isPanics) Is(error) bool      { panic("nothing") }
func (textExits) Error() (s string) { runtime.Goexit(); return }

// An error that cannot be read is a failure of the step that has returned it, and stops nothing else.
func TestErrorsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, wrong := range []error{(*nilError)(nil), textPanics{}, codePanics{}, retryPanics{}, isPanics{}, textExits{}} {
		bad := tool.Func("bad", "Fail.", func(context.Context, any) (any, error) { return nil, wrong })
		pure := tool.WithSpec(bad, func(s *tool.Spec) { s.Name, s.Pure = "pure", true })
		tools, err := tool.New(bad, pure)
		if err != nil {
			t.Fatal(err)
		}
		for name, action := range map[string]actions.Action{
			"own": suite.Action{Do: func(context.Context, *actions.Call) (actions.Outcome, error) { return actions.Outcome{}, wrong }},
			"bad": actions.Tool{Tool: "bad"}, "pure": actions.Tool{Tool: "pure"},
		} {
			for _, parallel := range []bool{false, true} {
				p := millrace.New("p").Options(millrace.Options{Parallel: parallel}).
					Step("e", actions.Create{Path: "new", Content: "x"}).
					Step("s", action).MaxRetries(2).Backoff(time.Millisecond).MustBuild()
				fsys := suite.Tree()
				res, err := millrace.Executor{Tools: tools, Recorder: millrace.NewMemoryRecorder()}.Run(t.Context(), fsys, p)
				if err == nil || res == nil || len(res.Results) != 2 || !res.Results[1].Failed() {
					t.Errorf("%T, %s, parallel %t: %v, %+v", wrong, name, parallel, err, res)
				}
				if e := res.Envelope(); e.Summary.Failed != 1 {
					t.Errorf("%T, %s: %+v", wrong, name, e)
				}
				if _, err := fsys.Stat("new"); err == nil {
					t.Errorf("%T, %s: a part was committed", wrong, name)
				}
			}
		}
	}
}

// A goroutine that an action has left may report anything after the run: the reports are dropped.
func TestNothingAfterTheEnd(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	var left sync.WaitGroup
	action := suite.Action{Do: func(_ context.Context, c *actions.Call) (actions.Outcome, error) {
		for i := range 5 { // so that the lists have spare capacity
			c.Warnf("warning %d", i)
		}
		left.Go(func() {
			<-over
			c.Spend(7)
			c.Warnf("a warning")
			c.OnProgress(100, 200)
			c.OnBytes(1 << 30)
		})
		return actions.Outcome{}, nil
	}}
	var mu sync.Mutex
	var kinds []string
	x := millrace.Executor{Observe: func(e millrace.Event) {
		mu.Lock()
		defer mu.Unlock()
		kinds = append(kinds, e.Kind())
	}}
	res, err := x.Run(t.Context(), suite.Tree(), suite.One(action))
	if err != nil {
		t.Fatal(err)
	}
	before := append([]string(nil), res.Results[0].Warnings...)
	close(over)
	left.Wait()
	if diff := cmp.Diff(before, res.Results[0].Warnings); diff != "" {
		t.Errorf("the result has changed (-before +after):\n%s", diff)
	}
	if last := kinds[len(kinds)-1]; last != "run_finished" {
		t.Errorf("the last event is %s of %q", last, kinds)
	}
}

// Bytes that are not UTF-8 are the same in a result and in a stored result.
func TestTextsThatAreNoUTF8(t *testing.T) {
	t.Parallel()
	action := suite.Action{Do: func(context.Context, *actions.Call) (actions.Outcome, error) {
		return actions.Outcome{Output: "a\xffb", Data: map[string]any{"k\xfe": []any{"\xff", 1, nil}}}, errors.New("no")
	}}
	p := millrace.New("p").Step("s", action).OnFail("end").Step("end", actions.Create{Path: "new", Content: "x"}).MustBuild()
	res, err := millrace.Run(t.Context(), suite.Tree(), p)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	var again millrace.Result
	if err := json.Unmarshal(data, &again); err != nil {
		t.Fatal(err)
	}
	said := func(r *millrace.Result) string { return fmt.Sprintf("%q %q", r.Results[0].Output, r.Results[0].Data) }
	if got := said(res); got != said(&again) || !strings.Contains(got, "a\ufffdb") {
		t.Errorf("got %s, stored %s", got, said(&again))
	}
}

// A canceled run has the code "canceled", even if the host gives a cause.
func TestCanceledWithACause(t *testing.T) {
	t.Parallel()
	why := errors.New("the user has closed the window")
	for _, parallel := range []bool{false, true} {
		ctx, cancel := context.WithCancelCause(t.Context())
		action := suite.Action{Do: func(ctx context.Context, _ *actions.Call) (actions.Outcome, error) {
			cancel(why)
			<-ctx.Done()
			return actions.Outcome{}, context.Cause(ctx)
		}}
		p := millrace.New("p").Options(millrace.Options{Parallel: parallel}).Step("s", action).Step("t", actions.Create{Path: "new", Content: "x"}).MustBuild()
		res, err := millrace.Run(ctx, suite.Tree(), p)
		if !errors.Is(err, why) || !errors.Is(err, context.Canceled) || err.Error() != "pipeline canceled: the user has closed the window" {
			t.Errorf("got %v", err)
		}
		if millrace.ErrorCode(err) != "canceled" || res.ErrorCode != "canceled" {
			t.Errorf("codes %q and %q", millrace.ErrorCode(err), res.ErrorCode)
		}
	}
	plan, err := millrace.Executor{}.Plan(t.Context(), suite.Tree(), suite.One(actions.Create{Path: "new", Content: "x"}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	res, err := plan.Commit(ctx)
	if !errors.Is(err, why) || millrace.ErrorCode(err) != "canceled" || res.ErrorCode != "canceled" {
		t.Errorf("commit: %v, code %q, %+v", err, millrace.ErrorCode(err), res)
	}
}
