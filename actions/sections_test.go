package actions_test

import (
	"context"
	"errors"
	"testing"

	"github.com/millrace-go/millrace/actions"
)

// ending is a context that is done after a number of checks.
type ending struct {
	context.Context
	left int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestRangeHashesEnd: thousands of edits may each name all lines of a file, and hashing them takes long.
func TestRangeHashesEnd(t *testing.T) {
	t.Parallel()
	ctx := &ending{t.Context(), 10}
	err := actions.CompareRanges(ctx, &actions.Call{}, []byte("text"), 100)
	if !errors.Is(err, context.Canceled) || ctx.left != -1 {
		t.Errorf("%v, the context was asked %d times more, want 0", err, -1-ctx.left)
	}
}
