package millrace

import (
	"context"
	"errors"
)

// ErrNested says that a step has tried to run a pipeline, or to commit, restore or tidy up: the context is that of a
// step. A run keeps others from its tree until it ends, so this one would wait for itself. What a step does to the tree
// of its run goes through its Call; to run the steps of another pipeline, use [Builder.Include].
var ErrNested = errors.New("a step cannot run a pipeline, for the run that it belongs to keeps all others waiting until it ends: " +
	"put its steps into one pipeline (Builder.Include), or run one after the other")

// nestingActions are what actions are called elsewhere that run a pipeline.
var nestingActions = []string{"pipeline", "mcp_pipeline", "batch_operations"}

// stepKey is the key of the mark that the contexts of steps carry.
type stepKey struct{}

// inStep returns the context that the steps of a run are given.
func inStep(ctx context.Context) context.Context { return context.WithValue(ctx, stepKey{}, true) }

// refuseNested returns ErrNested if the context is that of a step.
func refuseNested(ctx context.Context) error {
	if ctx.Value(stepKey{}) != nil {
		return ErrNested
	}
	return nil
}
