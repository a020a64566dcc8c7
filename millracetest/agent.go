package millracetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/agent"
)

// Answer is a question that the double of an agent expects, and its answer.
type Answer struct {
	// Prompt is a part of the question as [agent.Request.Text] returns it. Empty matches every question.
	Prompt string
	// Work changes the workspace of the step. The zero Work does not open a workspace.
	Work Work
	// Reply is the answer. The zero Reply is an empty answer without costs.
	Reply agent.Reply
	// Err is the error that the agent returns after its work. Nil means success.
	Err error
	// Times is how often the question is expected. Zero means once.
	Times int
}

// errUnexpected ends a step that asked a question or started a command that the test does not expect.
var errUnexpected = errors.New("the test does not expect this")

// unexpected is an error after which the step must not try again.
type unexpected struct{ error }

// Retryable reports that another attempt is useless.
func (unexpected) Retryable() bool { return false }

// Agent returns an agent that answers from a script:
//
//	x := millrace.Executor{Agents: map[string]agent.Agent{"": millracetest.Agent(t,
//		millracetest.Answer{Prompt: "fix the tests", Work: millracetest.Work{Files: "-- a.go --\npackage a\n"}},
//	)}}
//
// The first unused answer that matches the question is used, so a loop of questions gets its answers in the order of
// the script. A question without an answer fails the test and the step. An answer that is still unused at the end of
// the test fails the test. Agent is safe for steps that run in parallel.
func Agent(t testing.TB, script ...Answer) agent.Agent {
	t.Helper()
	s := newScript(t, "question", len(script), func(i int) (string, int) { return script[i].Prompt, script[i].Times })
	return agent.Func(func(ctx context.Context, r *agent.Request) (agent.Reply, error) {
		t.Helper()
		text := r.Text()
		i, ok := s.use(text, func(i int) bool { return strings.Contains(text, script[i].Prompt) })
		if !ok {
			return agent.Reply{}, unexpected{errUnexpected}
		}
		a := script[i]
		if !a.Work.isZero() {
			if err := workIn(ctx, r, a.Work); err != nil {
				t.Errorf("millracetest: the work on the question %q: %v", a.Prompt, err)
				return a.Reply, unexpected{err}
			}
		}
		return a.Reply, a.Err
	})
}

// workIn does the work in the workspace of a request.
func workIn(ctx context.Context, r *agent.Request, w Work) error {
	if r.Workspace == nil {
		return errors.New("the step has no workspace")
	}
	dir, err := r.Workspace(ctx)
	if err != nil {
		return err
	}
	return w.do(dir)
}
