package actions_test

import (
	"context"
	"errors"
	"testing"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
)

// space is a workspace that counts its calls.
type space struct{ opened, taken, dropped int }

func (s *space) open(context.Context, actions.WorkspaceOptions) (*actions.Workspace, error) {
	s.opened++
	return &actions.Workspace{
		Root: "/scratch",
		OnTakeBack: func(context.Context) (actions.Outcome, error) {
			s.taken++
			return actions.Outcome{Files: []string{"a.txt"}, Data: map[string]any{"changed": "a.txt"}}, nil
		},
		OnDrop: func() { s.dropped++ },
	}, nil
}

// The workspace is created at the first request and only once. It is taken back if the answer is good, and dropped in
// any case.
func TestPromptWorkspace(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prompt actions.Prompt
		asks   int // requests for the workspace
		err    error
		want   space
	}{
		"not asked for":  {actions.Prompt{}, 0, nil, space{}},
		"asked for":      {actions.Prompt{}, 2, nil, space{1, 1, 1}},
		"only read":      {actions.Prompt{Workspace: "read"}, 2, nil, space{1, 0, 1}},
		"failed":         {actions.Prompt{}, 1, errors.New("no"), space{1, 0, 1}},
		"it is not JSON": {actions.Prompt{Format: "json"}, 1, nil, space{1, 0, 1}},
	} {
		var s space
		var late func(context.Context) (string, error)
		spent := budget.Cost(0)
		c := &actions.Call{
			Step: "s", Visit: 2, Attempt: 3, OpenWorkspace: s.open, OnSpend: func(cost budget.Cost) { spent += cost },
			AskAgent: func(ctx context.Context, _ string, r *agent.Request) (agent.Reply, error) {
				if r.Step != "s" || r.Visit != 2 || r.Attempt != 3 {
					t.Errorf("%s: asked %+v", name, r)
				}
				for range test.asks {
					if dir, err := r.Workspace(ctx); dir != "/scratch" || err != nil {
						t.Errorf("%s: %s, %v", name, dir, err)
					}
				}
				late = r.Workspace
				return agent.Reply{Output: "said", Cost: 7}, test.err
			},
		}
		out, err := test.prompt.Run(t.Context(), c)
		if (err != nil) != (test.err != nil || test.prompt.Format == "json") || out.Output != "said" || out.Data != nil ||
			spent != 7 {
			t.Errorf("%s: %+v, %v, spent %v", name, out, err, spent)
		}
		if s != test.want || len(out.Files) != test.want.taken {
			t.Errorf("%s: got %+v, want %+v", name, s, test.want)
		}
		if _, err := late(t.Context()); err == nil || s != test.want {
			t.Errorf("%s: there is a workspace after the answer: %v, %+v", name, err, s)
		}
	}
	var s space
	c := &actions.Call{OpenWorkspace: s.open, AskAgent: func(ctx context.Context, _ string, r *agent.Request) (agent.Reply, error) {
		_, _ = r.Workspace(ctx)
		panic("boom")
	}}
	func() {
		defer func() { _ = recover() }()
		_, _ = actions.Prompt{}.Run(t.Context(), c)
	}()
	if s != (space{1, 0, 1}) {
		t.Errorf("after a panic: %+v", s)
	}
	if _, err := (actions.Prompt{}).Run(t.Context(), new(actions.Call)); err == nil {
		t.Error("without agents there is an answer")
	}
}
