package commit

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/millrace-go/millrace/fsutil"
)

// each calls do for 0 to n-1, up to workers at a time, and waits for all of them. After a failure, or when ctx is done, no
// more are begun. The error is that of the lowest number that failed, whatever the schedule was.
func each(ctx context.Context, workers, n int, do func(i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var failed atomic.Bool
	work := func() {
		for !failed.Load() && ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if errs[i] = fsutil.Protect(func() error { return do(i) }); errs[i] != nil {
				failed.Store(true)
			}
		}
	}
	if workers = min(workers, n); workers <= 1 {
		work()
	} else {
		var wg sync.WaitGroup
		for range workers {
			wg.Go(work)
		}
		wg.Wait()
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}
