package agents_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/bulkhead"
	"github.com/millrace-go/millrace/internal/suite"
)

// crowd is an agent that takes a second, and counts how many requests run at the same time.
type crowd struct{ now, most atomic.Int32 }

func (c *crowd) Ask(_ context.Context, r *agent.Request) (agent.Reply, error) {
	now := c.now.Add(1)
	defer c.now.Add(-1)
	for {
		most := c.most.Load()
		if now <= most || c.most.CompareAndSwap(most, now) {
			break
		}
	}
	time.Sleep(time.Second)
	previous := ""
	if r.Previous != nil {
		previous = " after " + r.Previous.Step + " " + r.Previous.Output
	}
	return agent.Reply{Output: r.Step + previous}, nil
}

// Prompts without a workspace that do not receive each other's output run in parallel; others wait. The result is that
// of the run in sequence.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	told := actions.Prompt{Prompt: "p", Workspace: "none"}
	reads := quiet("p")
	reads.Workspace = "read"
	for _, test := range []struct {
		name   string
		action actions.Prompt
		most   int32
	}{
		{"none", quiet("p"), 4}, {"told of the one before", told, 1}, {"with a workspace", reads, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := millrace.New("p").Step("a0", test.action)
			for i := 1; i < 4; i++ {
				b = b.Step(fmt.Sprintf("a%d", i), test.action)
			}
			var outputs [2][]string
			for i, parallel := range []bool{false, true} {
				c := new(crowd)
				x := millrace.Executor{Agents: map[string]agent.Agent{"": c}, Workers: 8}
				res, err := x.Run(t.Context(), suite.Tree(), b.MustBuild().WithOptions(millrace.Options{Parallel: parallel}))
				if err != nil {
					t.Fatal(err)
				}
				if most := c.most.Load(); parallel && most != test.most || !parallel && most != 1 {
					t.Errorf("%s, parallel %t: %d at the same time", test.name, parallel, most)
				}
				for _, s := range res.Results {
					outputs[i] = append(outputs[i], s.Output)
				}
			}
			if diff := cmp.Diff(outputs[0], outputs[1]); diff != "" {
				t.Errorf("%s (-sequence +parallel):\n%s", test.name, diff)
			}
		})
	}
}

// Bulkheads limit all prompts, the prompts of one agent, and the prompts that need a GPU. A full bulkhead fails the
// step at once.
func TestBulkheads(t *testing.T) {
	t.Parallel()
	named := quiet("p")
	named.Agent = "slow"
	gpu := quiet("p")
	gpu.GPU = new(true)
	for _, test := range []struct {
		name     string
		action   actions.Prompt
		bulkhead string
		most     int32
	}{
		{"all", quiet("p"), "prompt", 2}, {"one agent", named, "agent:slow", 2}, {"not the others", quiet("p"), "agent:slow", 4},
		{"a gpu", gpu, "gpu", 2}, {"no gpu", quiet("p"), "gpu", 4},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := millrace.New("p").Step("a0", test.action)
			for i := 1; i < 4; i++ {
				b = b.Step(fmt.Sprintf("a%d", i), test.action)
			}
			c := new(crowd)
			x := millrace.Executor{
				Agents: map[string]agent.Agent{"": c, "slow": c}, Workers: 8,
				Bulkheads: map[string]*bulkhead.Bulkhead{test.bulkhead: bulkhead.New(2, 10)},
			}
			p := b.MustBuild().WithOptions(millrace.Options{Parallel: true})
			if _, err := x.Run(t.Context(), suite.Tree(), p); err != nil || c.most.Load() != test.most {
				t.Errorf("%s: %v, %d at the same time", test.name, err, c.most.Load())
			}
			x.Bulkheads[test.bulkhead] = bulkhead.New(1, 0)
			res, err := x.Run(t.Context(), suite.Tree(), p)
			if full := strings.HasPrefix(test.name, "no"); millrace.ErrorCode(err) != map[bool]string{false: "bulkhead_saturated"}[full] {
				t.Errorf("%s: %v, %v", test.name, err, res)
			}
		})
	}
	// The gpu of the sandbox counts, unless the step turns it off.
	full := bulkhead.New(1, 0)
	release, err := full.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	without := quiet("p")
	without.GPU = new(false)
	for code, action := range map[string]actions.Prompt{"bulkhead_saturated": quiet("p"), "": without} {
		x := executor(t, new(host))
		x.Bulkheads = map[string]*bulkhead.Bulkhead{"gpu": full}
		_, err := x.Run(t.Context(), suite.Tree(), millrace.New("p").Sandbox(agent.Sandbox{GPU: true}).Step("a", action).MustBuild())
		if millrace.ErrorCode(err) != code {
			t.Errorf("%v, want %q", err, code)
		}
	}
}
