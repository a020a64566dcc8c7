package agent_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/internal/errorform"
)

type coded string

func (c coded) Error() string { return "limited" }
func (c coded) Code() string  { return string(c) }

func TestError(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err        errorform.OutsideError
		text, code string
	}{
		{errorform.OutsideError{Kind: "agent", Err: errors.New("no")}, "agent: no", "agent_failed"},
		{errorform.OutsideError{Kind: "agent", Name: "big", Err: errors.New("no")}, "agent 'big': no", "agent_failed"},
		{
			errorform.OutsideError{Kind: "agent", Err: fmt.Errorf("ask: %w", coded("rate_limited"))},
			"agent: ask: limited", "rate_limited",
		},
		{errorform.OutsideError{Kind: "agent", Err: coded("")}, "agent: limited", "agent_failed"},
	} {
		if test.err.Error() != test.text || test.err.Code() != test.code || !errors.Is(&test.err, test.err.Err) {
			t.Errorf("got %v, %s", &test.err, test.err.Code())
		}
	}
}

// A function can be an agent.
func ExampleFunc() {
	var a agent.Agent = agent.Func(func(_ context.Context, r *agent.Request) (agent.Reply, error) {
		return agent.Reply{Output: "you asked: " + r.Prompt}, nil
	})
	reply, err := a.Ask(context.Background(), &agent.Request{Prompt: "why?"})
	fmt.Println(reply.Output, err)
	// Output: you asked: why? <nil>
}
