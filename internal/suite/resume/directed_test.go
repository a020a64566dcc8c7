package resume_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/tool"
)

// spender only reads, and costs a dollar.
type spender struct{}

// Spec describes the action.
func (spender) Spec() actions.Spec {
	return actions.Spec{Name: "spend", Summary: "costs a dollar", ReadOnly: true, Costs: true}
}

// Touches implements [actions.Toucher].
func (spender) Touches() (reads, writes []string, known bool) { return nil, nil, true }

// buyer is a spender that may write, so it runs after the steps that only read.
type buyer struct{ spender }

// Spec describes the action.
func (buyer) Spec() actions.Spec {
	return actions.Spec{Name: "buy", Summary: "costs a dollar, and may write", Costs: true}
}

// Run spends.
func (spender) Run(_ context.Context, c *actions.Call) (actions.Outcome, error) {
	c.Spend(budget.Dollar)
	return actions.Outcome{}, nil
}

// Pipelines with cases that random pipelines do not reach: killed at each call, they have the same result.
func TestKilledDirected(t *testing.T) {
	t.Parallel()
	tools, err := tool.New(tool.Func("post", "", func(context.Context, struct{}) (int, error) { return 1, nil }))
	if err != nil {
		t.Fatal(err)
	}
	edit := func(from, to string) actions.Action {
		return actions.Edit{Files: []string{"a"}, OldText: from, NewText: to}
	}
	for name, c := range map[string]struct {
		p    millrace.Builder
		x    millrace.Executor
		code string
	}{
		"a restart in the middle": {
			p: millrace.New("p").Step("one", edit("x", "y")).Step("two", edit("z", "zz")).
				Step("three", edit("y", "w")).Retry(millrace.Retry{Step: "two", When: condition.StepSucceeded("three"), Restart: true}).Builder,
			code: "retries_exhausted",
		},
		"files of an earlier step, and their contents": {
			p: millrace.New("p").Step("find", actions.Search{Pattern: "x", IncludeContent: true}).
				Step("more", actions.Search{Pattern: "z", IncludeContent: true}).
				Step("all", actions.Aggregate{}).FromAll("find", "more").
				Step("make", actions.Create{Path: "made", Content: "{{all.aggregated_content}}"}).Builder,
		},
		"text of all visits": {
			p: millrace.New("p").Step("grow", edit("x ", "x more ")).RetryWhen("grow", condition.StepSucceeded("grow")).MaxVisits(9).Builder,
			x: millrace.Executor{Limits: actions.Limits{MaxStagedBytes: 300}}, code: "limit",
		},
		"money in parallel": {
			p: millrace.New("p").Options(millrace.Options{Parallel: true}).Budget(budget.Limit{USD: budget.Dollar}).
				Step("one", buyer{}).Step("two", spender{}).Step("three", edit("x", "y")).Builder,
			code: "budget_exceeded", // before two, which has run already
		},
		"a tool call that has acted outside": {
			p: millrace.New("p").Step("post", actions.Tool{Tool: "post"}).Step("one", edit("x", "y")).Step("end", actions.Fail{Message: "enough"}).Builder,
			x: millrace.Executor{Tools: tools}, code: "step_failed",
		},
		"handled, and continued": {
			p: millrace.New("p").Options(millrace.Options{ContinueOnError: true}).Step("bad", actions.Fail{Message: "enough"}).
				Step("worse", actions.Fail{Message: "more than that"}).OnFail("end").Step("one", edit("x", "y")).
				Step("end", edit("z", "{{bad.error}}")).Builder,
			code: "step_failed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := c.p.MustBuild()
			tree := func() afero.Fs { return suite.Tree("a", "x z\n", "b", "x\n") }
			fsys, s := tree(), new(store)
			x := c.x
			x.Checkpoints = s
			res, err := x.Run(t.Context(), fsys, p)
			if got := millrace.ErrorCode(err); got != c.code {
				t.Fatalf("code %q, want %q: %v", got, c.code, err)
			}
			want := told(res, err) + treeOf(t, fsys)
			for kill := 1; kill <= s.calls; kill++ {
				for _, late := range []bool{false, true} {
					fsys, s := tree(), new(store)
					res, err := killed(t, c.x, fsys, p, s, []int{kill}, late)
					if h, ok := errors.AsType[*millrace.HeldError](err); ok { // killed in a step that acts outside
						h.Plan.Close()
						res, err = killed(t, c.x, fsys, p, s, nil, false)
					}
					if d := cmp.Diff(want, told(res, err)+treeOf(t, fsys)); d != "" {
						t.Fatalf("killed at call %d, late %v (-whole +killed):\n%s", kill, late, d)
					}
				}
			}
		})
	}
}
