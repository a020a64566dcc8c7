package steering_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
)

// The limit for one visit applies to all visits of a step together: their staged changes are kept for a rollback.
// Changes that a restart drops do not count.
func TestStagedByManyVisits(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 200) // a new file counts 1 KiB, a later edit 512 bytes
	for _, restart := range []bool{false, true} {
		p := millrace.New("p").
			Step("make", actions.Create{Path: "g", Content: text, Overwrite: true}).MaxVisits(10).
			Step("clear", actions.Create{Path: "g", Content: "", Overwrite: true}).
			Step("back", actions.Search{Pattern: "x"}).Retry(millrace.Retry{Step: "make", When: condition.StepSucceeded("back"), Restart: restart}).
			Step("end", actions.Search{Pattern: "x"}).
			MustBuild()
		res, err := millrace.Executor{Limits: actions.Limits{MaxStagedBytes: 4000}}.Run(t.Context(), suite.Tree("f", "x"), p) // 2000 for each step that writes
		limit, ok := errors.AsType[*actions.LimitError](err)
		switch {
		case restart && millrace.ErrorCode(err) != "retries_exhausted":
			t.Errorf("with restart: %v", err)
		case !restart && (!ok || limit.Limit != 2000 || res.Results[0].Visits != 3):
			t.Errorf("got %v, %+v", err, res.Results[0])
		}
	}
}

// shows returns a new text at each call.
type shows struct{}

func (shows) Spec() actions.Spec {
	return actions.Spec{Name: "shows", Summary: "A test", ReadOnly: true}
}

func (shows) Run(context.Context, *actions.Call) (actions.Outcome, error) {
	text := func() string { return strings.Repeat("0123456789abcdef", 1<<16) }
	return actions.Outcome{
		Files: []string{"f"}, Content: map[string]string{"f": text()}, Aggregated: text(), Output: text(), Data: text(), Counts: map[string]int{"f": 1},
	}, nil
}

// The limit for the output of one visit applies to all visits of a step together: only the last visit is visible.
func TestShownByManyVisits(t *testing.T) { // not parallel, because memory is measured
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	p := millrace.New("p").Step("show", shows{}).MaxVisits(30).
		Step("use", suite.Action{Do: func(_ context.Context, c *actions.Call) (actions.Outcome, error) {
			if len(c.Inputs) != 1 || c.Inputs[0].Content["f"] == "" {
				t.Errorf("the input is %+v", c.Inputs)
			}
			return actions.Outcome{}, nil
		}}).From("show").
		Step("back", actions.Fail{Message: "{{show.count}}"}).RetryWhen("show", condition.StepFailed("back")).OnFail("end").
		Step("end", actions.Search{Pattern: "x"}).
		MustBuild()
	start, most := heap(), int64(0)
	x := millrace.Executor{Observe: func(e millrace.Event) {
		if _, ok := e.(millrace.StepJumped); ok {
			most = max(most, heap()-start)
		}
	}}
	res, err := x.Run(t.Context(), suite.Tree("f", "x"), p)
	if err != nil {
		t.Fatal(err)
	}
	if last := res.Results[0]; last.Visits != 30 || last.Content["f"] == "" || last.Output == "" || last.Data == nil {
		t.Errorf("the last visit has lost its text: %d visits", last.Visits)
	}
	if most > 32<<20 {
		t.Errorf("%d MiB are in use, and one visit shows 4", most>>20)
	}
}
