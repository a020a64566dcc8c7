package actions_test

import (
	"context"
	"errors"
	"testing"

	"github.com/millrace-go/millrace/actions"
)

// TestSectionsEnd: thousands of edits may each name all lines of a file, the hash of which takes long.
func TestSectionsEnd(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	seen := 0
	err := actions.Sections(ctx, &actions.Call{}, []byte("text"), 100, func() {
		if seen++; seen == 10 {
			stop()
		}
	})
	if !errors.Is(err, context.Canceled) || seen != 10 {
		t.Errorf("%v after %d sections, want 10", err, seen)
	}
}
