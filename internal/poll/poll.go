// Package poll waits for a lock that can only be tried, and makes its unlock run once.
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

// Lock calls try as long as that returns an error that matches [capability.ErrLocked], which may say who has the lock,
// and ctx is not done. It tries at least once.
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

// onceCloser calls a function at the first Close and returns its error at each.
type onceCloser struct{ close func() error }

func CloseOnce(do func() error) io.Closer { return onceCloser{sync.OnceValue(do)} }

func (c onceCloser) Close() error { return c.close() }
