// Package poll waits for a lock that can only be tried, and makes one that is given back once.
package poll

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/millrace-go/millrace/capability"
)

// Lock calls try until it succeeds, fails or ctx is done. It tries at least once.
func Lock(ctx context.Context, try func() (bool, error)) error {
	const shortest, longest = time.Millisecond, 50 * time.Millisecond
	for wait := shortest; ; wait = min(2*wait, longest) {
		if ok, err := try(); ok || err != nil {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w: %w", capability.ErrLocked, context.Cause(ctx))
		case <-timer.C:
		}
	}
}

// onceCloser calls a function at the first Close and returns its error at each.
type onceCloser struct{ close func() error }

func CloseOnce(do func() error) io.Closer { return onceCloser{sync.OnceValue(do)} }

func (c onceCloser) Close() error { return c.close() }
