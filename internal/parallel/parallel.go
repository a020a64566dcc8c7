// Package parallel runs numbered tasks concurrently. Its results do not depend on their speed.
package parallel

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"github.com/millrace-go/millrace/internal/panics"
)

// Later is the second part of a task. One of its functions is called, once; nil means no second part.
type Later struct {
	Finish func() error
	Drop   func() // cancels the task
}

// EachInTwo is Each for tasks with two parts. The second part runs some time after the first, and is dropped after a
// failure. most limits the started tasks of each goroutine, which may have files open.
func EachInTwo(ctx context.Context, workers, most, n int, do func(i int) (Later, error)) error {
	errs := make([]error, n)
	var failed atomic.Bool
	goOn := func() bool { return !failed.Load() && ctx.Err() == nil }
	note := func(i int, work func() error) {
		if errs[i] = panics.Protect(work); errs[i] != nil {
			failed.Store(true)
		}
	}
	size := max(1, min(most, n/max(1, workers)))
	err := Each(ctx, workers, (n+size-1)/size, func(part int) error {
		first, end := part*size, min(n, part*size+size)
		later := make([]Later, end-first)
		for i := first; i < end && goOn(); i++ {
			note(i, func() (err error) {
				later[i-first], err = do(i)
				return err
			})
		}
		for i, l := range later {
			switch {
			case l.Finish == nil:
			case goOn():
				note(first+i, l.Finish)
			default:
				l.Drop()
			}
		}
		return nil
	})
	return cmp.Or(cmp.Or(errs...), err)
}

// Each calls do for 0 to n-1, up to workers at a time, and waits for all of them. After a failure, or when ctx is done,
// it starts no more. The error is that of the lowest number that failed, regardless of the schedule.
func Each(ctx context.Context, workers, n int, do func(i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var failed atomic.Bool
	work := func() {
		for !failed.Load() && ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if errs[i] = panics.Protect(func() error { return do(i) }); errs[i] != nil {
				failed.Store(true)
			}
		}
	}
	var wg sync.WaitGroup
	for range min(workers, n) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return cmp.Or(cmp.Or(errs...), context.Cause(ctx))
}
