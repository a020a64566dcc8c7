package told_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

type spanKey struct{}

// The action of a step finds the values that the host puts into the step's context, in each attempt, and in no other
// visit.
func TestStepContextReachesTheAction(t *testing.T) {
	t.Parallel()
	for _, parallel := range []bool{false, true} {
		var mu sync.Mutex
		var begun []string
		found := make(map[string][]string)
		action := func(fails int) suite.Action {
			return suite.Action{Do: func(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
				mu.Lock()
				defer mu.Unlock()
				span, _ := ctx.Value(spanKey{}).(string)
				found[c.Step] = append(found[c.Step], span)
				if len(found[c.Step]) <= fails {
					return actions.Outcome{}, errors.New("not yet")
				}
				return actions.Outcome{Output: fmt.Sprintf("attempt %d", len(found[c.Step]))}, nil
			}}
		}
		b := millrace.New("p").Options(millrace.Options{Parallel: parallel}).
			Step("a", action(1)).MaxRetries(2).
			Step("b", action(0))
		want := map[string][]string{"a": {"a/1", "a/1"}, "b": {"b/1"}}
		if !parallel {
			b = b.RetryIf("b", "attempt 1")
			want["b"] = []string{"b/1", "b/2"}
		}
		x := millrace.Executor{
			StepContext: func(ctx context.Context, s millrace.StepStarted) context.Context {
				mu.Lock()
				defer mu.Unlock()
				if s.Action != "test" || ctx.Value(spanKey{}) != "host" {
					t.Errorf("%+v, %v", s, ctx.Value(spanKey{}))
				}
				span := fmt.Sprintf("%s/%d", s.Step, s.Visit)
				if !slices.Contains(begun, span) {
					t.Errorf("%s comes before its StepStarted", span)
				}
				return context.WithValue(ctx, spanKey{}, span)
			},
			Observe: func(e millrace.Event) {
				if e, ok := e.(millrace.StepStarted); ok {
					mu.Lock()
					defer mu.Unlock()
					begun = append(begun, fmt.Sprintf("%s/%d", e.Step, e.Visit))
				}
			},
		}
		res, err := x.Run(context.WithValue(t.Context(), spanKey{}, "host"), suite.Tree("x", "x"), b.MustBuild())
		if err != nil || len(res.Warnings) > 0 {
			t.Fatal(err, res.Warnings)
		}
		if d := cmp.Diff(want, found); d != "" {
			t.Errorf("parallel %v (-want +got):\n%s", parallel, d)
		}
	}
}

// A context that does not descend from the given context is not used, and the result reports that. A StepContext that
// panics does no harm either.
func TestStepContextThatIsNone(t *testing.T) {
	t.Parallel()
	type own struct{ context.Context }
	for name, test := range map[string]struct {
		make func(context.Context) context.Context
		want string // in the warning
	}{
		"nil":        {func(context.Context) context.Context { return nil }, "does not descend"},
		"background": {func(context.Context) context.Context { return context.Background() }, "does not descend"},
		"panic":      {func(context.Context) context.Context { panic("no span") }, "panic: no span"},
		"nil inside": {func(context.Context) context.Context { return own{} }, "StepContext failed"},
		"ended": {func(context.Context) context.Context {
			c, end := context.WithCancel(context.Background())
			end()
			return c
		}, "does not descend"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			x := millrace.Executor{StepContext: func(ctx context.Context, _ millrace.StepStarted) context.Context { return test.make(ctx) }}
			p := doing(func(ctx context.Context, _ *actions.Call) (actions.Outcome, error) {
				got, _ = ctx.Value(spanKey{}).(string)
				return actions.Outcome{}, ctx.Err()
			})
			res, err := x.Run(context.WithValue(t.Context(), spanKey{}, "host"), suite.Tree("x", "x"), p)
			if err != nil || got != "host" {
				t.Errorf("%v, the step found %q", err, got)
			}
			if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], test.want) {
				t.Errorf("warnings %q, want %q", res.Warnings, test.want)
			}
		})
	}
}

// The step ends with the run, and at its timeout, whatever context the host has made; it ends earlier if the host wants
// that.
func TestStepContextEndsWithTheRun(t *testing.T) {
	t.Parallel()
	wait := func(ctx context.Context, _ *actions.Call) (actions.Outcome, error) {
		select {
		case <-ctx.Done():
			return actions.Outcome{}, context.Cause(ctx)
		case <-time.After(time.Hour):
			return actions.Outcome{}, errors.New("it went on for an hour")
		}
	}
	errHost := errors.New("the host has enough")
	for name, test := range map[string]struct {
		make    func(context.Context) context.Context
		timeout time.Duration
		stop    time.Duration // when the run is canceled, 0 for never
		code    string
		text    string
		after   time.Duration
	}{
		"canceled":          {context.WithoutCancel, 0, 10 * time.Second, "canceled", "", 10 * time.Second},
		"timeout":           {context.WithoutCancel, 5 * time.Second, 0, "timeout", "(timeout)", 5 * time.Second},
		"descends":          {func(ctx context.Context) context.Context { return context.WithValue(ctx, spanKey{}, 1) }, 0, 10 * time.Second, "canceled", "", 10 * time.Second},
		"timeout, descends": {func(ctx context.Context) context.Context { return ctx }, 5 * time.Second, 10 * time.Second, "timeout", "", 5 * time.Second},
		"host": {func(ctx context.Context) context.Context {
			ctx, end := context.WithCancelCause(ctx)
			time.AfterFunc(3*time.Second, func() { end(errHost) })
			return ctx
		}, 5 * time.Second, 10 * time.Second, "step_failed", errHost.Error(), 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.stop > 0 {
					time.AfterFunc(test.stop, cancel)
				}
				x := millrace.Executor{StepContext: func(ctx context.Context, _ millrace.StepStarted) context.Context { return test.make(ctx) }}
				start := time.Now()
				p := millrace.New("p").Step("wait", suite.Action{Do: wait}).Timeout(test.timeout).MustBuild()
				res, err := x.Run(ctx, suite.Tree("x", "x"), p)
				if took := time.Since(start); took != test.after {
					t.Errorf("it took %v, want %v", took, test.after)
				}
				if got := millrace.ErrorCode(err); got != test.code || !strings.Contains(err.Error(), test.text) {
					t.Errorf("code %q, want %q: %v", got, test.code, err)
				}
				if len(res.Warnings) > 0 {
					t.Errorf("warnings %q", res.Warnings)
				}
			})
		})
	}
}
