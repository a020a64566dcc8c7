package agents_test

import (
	"context"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
)

// A reply that is nested too deep for a result is not recorded: the next run asks again.
func TestReplyNotKept(t *testing.T) {
	t.Parallel()
	const depth = 1000
	replies := []string{strings.Repeat("[", depth) + strings.Repeat("]", depth), `{"a": 1}`}
	x := millrace.Executor{Recorder: millrace.NewMemoryRecorder(), Agents: map[string]agent.Agent{"": agent.Func(
		func(context.Context, *agent.Request) (agent.Reply, error) {
			reply := replies[0]
			replies = replies[1:]
			return agent.Reply{Output: reply}, nil
		},
	)}}
	p := millrace.New("p").Step("a", actions.Prompt{Prompt: "p", Format: "json", Workspace: "none"}).MaxRetries(0).MustBuild()
	if _, err := x.Run(t.Context(), mixedTree(), p); err == nil || !strings.Contains(err.Error(), "nested") {
		t.Fatalf("%v", err)
	}
	for range 2 {
		if res, err := x.Run(t.Context(), mixedTree(), p); err != nil || len(replies) > 0 {
			t.Errorf("%v, %+v", err, res)
		}
	}
}
