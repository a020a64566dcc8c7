package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
)

// The exit status is the promise about the tree that `help exit-codes` describes. Statuses that scripts cannot produce
// are tested only here.
func TestStatus(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err    error
		status int
	}{
		{nil, 0},
		{io.ErrUnexpectedEOF, 1},
		{&millrace.StepError{Err: io.ErrUnexpectedEOF}, 1},
		{&millrace.ExpectError{}, 1},
		{&outputError{io.ErrShortWrite}, 1},
		{&usageError{io.ErrUnexpectedEOF}, 2},
		{&millrace.ExecutorError{Err: io.ErrUnexpectedEOF}, 2},
		{&sourceError{"p.json", &millrace.ValidationError{}}, 2},
		{&sourceError{"p.plan", &millrace.PlanError{Err: io.ErrUnexpectedEOF}}, 2},
		{&millrace.BlockedError{}, 3},
		{millrace.ErrReadOnly, 3},
		{errDeclined, 3},
		{&millrace.ConflictError{}, 4},
		{fmt.Errorf("the plan was applied already: %w", &millrace.ConflictError{}), 4},
		{fsutil.ErrLocked, 4},
		{fsutil.ErrDrift, 4},
		{&millrace.CommitError{State: millrace.CommitRolledBack, Err: io.ErrShortWrite}, 5},
		{&millrace.FileSystemError{}, 5},
		{&millrace.CommitError{State: millrace.CommitPending, Err: io.ErrShortWrite}, 6},
		{&millrace.CommitError{State: millrace.CommitPending, Err: errInterrupted}, 6},
		{&saidError{"would_change"}, 10},
		{&saidError{"waits"}, 7},
		{errInterrupted, 130},
		{context.Canceled, 130},
		// The state of the tree matters more than an output error.
		{errors.Join(&millrace.CommitError{State: millrace.CommitPending, Err: io.ErrShortWrite}, &outputError{io.ErrShortWrite}), 6},
		{errors.Join(&millrace.ConflictError{}, &outputError{io.ErrShortWrite}), 4},
	} {
		if got := statusOf(test.err); got != test.status {
			t.Errorf("%T %v: exit status %d, want %d", test.err, test.err, got, test.status)
		}
	}
}
