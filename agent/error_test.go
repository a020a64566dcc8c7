package agent_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/millrace-go/millrace/agent"
)

type coded string

func (c coded) Error() string { return "limited" }
func (c coded) Code() string  { return string(c) }

func TestError(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err        agent.Error
		text, code string
	}{
		{agent.Error{Err: errors.New("no")}, "agent: no", "agent_failed"},
		{agent.Error{Agent: "big", Err: errors.New("no")}, "agent 'big': no", "agent_failed"},
		{agent.Error{Err: fmt.Errorf("ask: %w", coded("rate_limited"))}, "agent: ask: limited", "rate_limited"},
		{agent.Error{Err: coded("")}, "agent: limited", "agent_failed"},
	} {
		if test.err.Error() != test.text || test.err.Code() != test.code || !errors.Is(&test.err, test.err.Err) {
			t.Errorf("got %v, %s", &test.err, test.err.Code())
		}
	}
}

// A function is an agent.
func ExampleFunc() {
	var a agent.Agent = agent.Func(func(_ context.Context, r *agent.Request) (agent.Reply, error) {
		return agent.Reply{Output: "you asked: " + r.Prompt}, nil
	})
	reply, err := a.Ask(context.Background(), &agent.Request{Prompt: "why?"})
	fmt.Println(reply.Output, err)
	// Output: you asked: why? <nil>
}
