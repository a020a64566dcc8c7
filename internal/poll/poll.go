// Package poll waits for a lock that can only be tried, and makes sure that its unlock runs once.
package poll

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/millrace-go/millrace/capability"
)

// Lock calls try until it returns an error that does not match [capability.ErrLocked], or nil, or until ctx is done. It
// tries at least once. The last error of try may name the holder of the lock.
func Lock(ctx context.Context, try func() error) error {
	const shortest, longest = time.Millisecond, 50 * time.Millisecond
	for wait := shortest; ; wait = min(2*wait, longest) {
		err := try()
		if !errors.Is(err, capability.ErrLocked) {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w: %w", err, context.Cause(ctx))
		case <-timer.C:
		}
	}
}

// onceCloser calls a function at the first Close and returns its error at every Close.
type onceCloser struct{ close func() error }

func CloseOnce(do func() error) io.Closer { return onceCloser{sync.OnceValue(do)} }

func (c onceCloser) Close() error { return c.close() }
