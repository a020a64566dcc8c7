package resume_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/tool"
)

// asked counts the outside calls, by step, visit and attempt.
type asked map[string]int

// hosts returns an executor whose agent and tools cost a dollar a call, and count them.
func hosts(t *testing.T, n asked) millrace.Executor {
	t.Helper()
	pure := tool.WithSpec(tool.Func("look", "", func(ctx context.Context, _ struct{}) (tool.Result, error) {
		c := tool.Current(ctx)
		n[fmt.Sprintf("%s/%d/%d", c.Step, c.Visit, c.Attempt)]++
		c.Spend(budget.Dollar)
		if c.Step == "faulty" && c.Attempt == 1 {
			return tool.Result{}, errors.New("not yet")
		}
		return tool.Result{Output: "seen", Data: map[string]any{"n": int64(1<<53 + 1)}}, nil
	}), func(s *tool.Spec) { s.Pure, s.Costs = true, true })
	tools, err := tool.New(pure)
	if err != nil {
		t.Fatal(err)
	}
	return millrace.Executor{Tools: tools, Agents: map[string]agent.Agent{"": agent.Func(func(_ context.Context, r *agent.Request) (agent.Reply, error) {
		n[fmt.Sprintf("%s/%d/%d", r.Step, r.Visit, r.Attempt)]++
		if r.Visit < 3 {
			return agent.Reply{Output: "do it again", Cost: budget.Dollar}, nil
		}
		return agent.Reply{Output: "fine", Cost: budget.Dollar}, nil
	})}}
}

func asking() millrace.Pipeline {
	return millrace.New("asking").
		Step("look", actions.Tool{Tool: "look"}).
		Step("edit", actions.Edit{Files: []string{"a"}, OldText: "x", NewText: "{{look.n}} x"}).
		Step("faulty", actions.Tool{Tool: "look"}).MaxRetries(2).Backoff(time.Millisecond).
		Step("ask", actions.Prompt{Prompt: "is it fine?", Workspace: "none"}).RetryIf("edit", "again").
		MustBuild()
}

// A prompt that was answered before the process died is not asked again, and was paid once.
func TestNothingIsAskedTwice(t *testing.T) {
	t.Parallel()
	p := asking()
	whole, s := make(asked), new(store)
	x := hosts(t, whole)
	x.Checkpoints, x.Recorder = s, millrace.NewMemoryRecorder()
	fsys := suite.Tree("a", "x\n")
	res, err := x.Run(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	want := told(res, err) + suite.Read(t, fsys, "a")
	for kill := 1; kill <= s.calls; kill++ {
		for _, late := range []bool{false, true} {
			n, s, fsys := make(asked), new(store), suite.Tree("a", "x\n")
			x := hosts(t, n)
			x.Recorder = millrace.NewMemoryRecorder()
			res, err := killed(t, x, fsys, p, s, []int{kill}, late)
			if d := cmp.Diff(want, told(res, err)+suite.Read(t, fsys, "a")); d != "" {
				t.Fatalf("killed at call %d, late %v (-whole +killed):\n%s", kill, late, d)
			}
			if !maps.Equal(n, whole) {
				t.Errorf("killed at call %d, late %v, asked %v, want %v", kill, late, n, whole)
			}
		}
	}
}

// amnesiac is a store that loses every checkpoint.
type amnesiac struct{ *store }

func (a amnesiac) Keep(ctx context.Context, c millrace.Checkpoint) error {
	err := a.store.Keep(ctx, c)
	a.kept = nil
	return err
}

// The test above would notice repeated steps: with a store that keeps nothing, and without a record, steps are
// repeated.
func TestWhatIsForgottenIsAskedAgain(t *testing.T) {
	t.Parallel()
	n, s, fsys := make(asked), new(store), suite.Tree("a", "x\n")
	x := hosts(t, n)
	x.Checkpoints = amnesiac{s}
	s.next(4, true) // the tool was called, and its answer is in a file
	if _, err := x.Run(t.Context(), fsys, asking()); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	s.next(0, false)
	if _, err := x.Resume(t.Context(), fsys, asking(), s.saved()); err != nil || n["look/1/1"] != 2 {
		t.Errorf("%v, asked %v", err, n)
	}
}

// A step that acts outside of the tree is not repeated automatically when it was interrupted: it may have had its
// effect.
func TestInterruptedOutside(t *testing.T) {
	t.Parallel()
	var keys []string
	s := new(store)
	post := tool.Func("post", "", func(ctx context.Context, _ struct{}) (int, error) {
		keys = append(keys, tool.Current(ctx).Key)
		return len(keys), nil
	})
	tools, err := tool.New(post)
	if err != nil {
		t.Fatal(err)
	}
	p := millrace.New("p").
		Step("e", actions.Edit{Files: []string{"a"}, OldText: "x", NewText: "y"}).
		Step("post", actions.Tool{Tool: "post"}).
		Step("f", actions.Create{Path: "b", Content: "{{post.data}}"}).MustBuild()
	// The calls: Enter e, Keep e, Enter post, Keep that it has begun, Keep post, …
	for kill, want := range map[int]struct {
		late  bool
		calls int
		held  bool
	}{
		3: {true, 0, false},
		4: {false, 0, false},
		5: {false, 1, true}, // it was called, and its answer was lost
		6: {false, 1, false},
	} {
		keys, s = nil, new(store)
		fsys := suite.Tree("a", "x\n")
		x := millrace.Executor{Tools: tools, Checkpoints: s, RunID: "one"}
		s.next(kill, want.late)
		if _, err := x.Run(t.Context(), fsys, p); !errors.Is(err, errKilled) || len(keys) != want.calls {
			t.Fatalf("kill %d: %v, %d calls", kill, err, len(keys))
		}
		s.next(0, false)
		res, err := x.Resume(t.Context(), fsys, p, s.saved())
		if want.held {
			h := held(t, res, err)
			if text := "step 'post' was interrupted and may have had its effect: play to run it again"; h.Reason != text || len(keys) != want.calls {
				t.Errorf("kill %d: %q, %d calls", kill, h.Reason, len(keys))
			}
			res, err = x.Resume(t.Context(), fsys, p, s.saved())
		}
		if err != nil || res.CompletedSteps != 3 {
			t.Errorf("kill %d: %v, %+v", kill, err, res)
		}
		if len(slices.Compact(keys)) != 1 {
			t.Errorf("kill %d: the keys are %q", kill, keys)
		}
	}
}

// A step that was interrupted in parallel has paid for its answers once, although the last checkpoint of another step
// includes its costs.
func TestPaidOnceInParallel(t *testing.T) {
	t.Parallel()
	s, first := new(store), true
	begun, kept := make(chan bool), make(chan bool)
	look := tool.WithSpec(tool.Func("look", "", func(ctx context.Context, _ struct{ At string }) (string, error) {
		c := tool.Current(ctx)
		c.Spend(budget.Dollar)
		switch {
		case c.Step == "a" && c.Attempt == 1:
			return "", errors.New("not yet")
		case c.Step == "a" && first:
			close(begun)
			<-kept
		case first:
			<-begun
		}
		return "seen", nil
	}), func(s *tool.Spec) { s.Pure, s.Costs = true, true })
	tools, err := tool.New(look)
	if err != nil {
		t.Fatal(err)
	}
	s.onEnd = func(c millrace.Checkpoint) {
		if c.Step == "b" && first {
			s.kill = s.calls // all later calls
			close(kept)
		}
	}
	p := millrace.New("p").Options(millrace.Options{Parallel: true}).
		Step("a", actions.Tool{Tool: "look", Args: map[string]any{"At": "a"}}).MaxRetries(1).Backoff(time.Millisecond).
		Step("b", actions.Tool{Tool: "look", Args: map[string]any{"At": "b"}}).MustBuild()
	x := millrace.Executor{Tools: tools, Workers: 2, Checkpoints: s, Recorder: millrace.NewMemoryRecorder()}
	fsys := suite.Tree("a", "x\n")
	if _, err := x.Run(t.Context(), fsys, p); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	first = false
	s.next(0, false)
	res, err := x.Resume(t.Context(), fsys, p, s.saved())
	if err != nil || res.Cost != 3*budget.Dollar || res.Results[0].Cost != 2*budget.Dollar {
		t.Errorf("%v, cost %v, of the first step %v", err, res.Cost, res.Results[0].Cost)
	}
}
