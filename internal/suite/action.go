package suite

import (
	"context"

	"github.com/millrace-go/millrace/actions"
)

// Action is an action that calls a function.
type Action struct {
	Files []string                                                            `json:"files,omitempty"`
	Do    func(ctx context.Context, c *actions.Call) (actions.Outcome, error) `json:"-"`
}

// Spec names the action "test".
func (Action) Spec() actions.Spec {
	return actions.Spec{Name: "test", Summary: "does what a test wants"}
}

// Run calls the function.
func (a Action) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	return a.Do(ctx, c)
}
