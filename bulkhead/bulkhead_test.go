package bulkhead_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace-go/millrace/bulkhead"
	"github.com/millrace-go/millrace/internal/fstest"
)

func Example() {
	ctx := context.Background()
	all := map[string]*bulkhead.Bulkhead{"exec": bulkhead.New(1, 0), "gpu": bulkhead.New(1, 0)}
	release, err := bulkhead.Acquire(ctx, all, "exec", "tool:lint")
	fmt.Println(err)

	_, err = bulkhead.Acquire(ctx, all, "exec", "gpu")
	var full *bulkhead.SaturatedError
	fmt.Println(errors.As(err, &full), err)

	release()
	release, err = bulkhead.Acquire(ctx, all, "exec", "gpu")
	fmt.Println(err)
	release()
	// Output:
	// <nil>
	// true bulkhead 'exec' is full: 1 at work, 0 waiting
	// <nil>
}

func TestSaturated(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		in          *bulkhead.Bulkhead
		held        int
		want        string
		limit, line int
	}{
		{"full", bulkhead.New(2, 0), 2, "bulkhead is full: 2 at work, 0 waiting", 2, 0},
		{"a limit of nothing", bulkhead.New(0, 5), 0, "bulkhead is full: 0 at work, 5 waiting", 0, 5},
		{"less than nothing", bulkhead.New(-1, -1), 0, "bulkhead is full: 0 at work, 0 waiting", 0, 0},
		{"the zero Bulkhead", new(bulkhead.Bulkhead), 0, "bulkhead is full: 0 at work, 0 waiting", 0, 0},
	} {
		for range test.held {
			if _, err := test.in.Acquire(t.Context()); err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
		}
		_, err := test.in.Acquire(t.Context())
		full, ok := errors.AsType[*bulkhead.SaturatedError](err)
		if !ok || err.Error() != test.want || full.Limit != test.limit || full.Queue != test.line || full.Retryable() || full.Code() != "bulkhead_saturated" {
			t.Errorf("%s: %#v, want %s", test.name, err, test.want)
		}
	}
	var none *bulkhead.Bulkhead
	for range 3 {
		release, err := none.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		release()
	}
}

// Waiting callers get places in the order of the queue, and requests beyond the queue are refused at once.
func TestQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := bulkhead.New(2, 3)
		var mu sync.Mutex
		var served []int
		var wg sync.WaitGroup
		hold := func(n int) {
			release, err := b.Acquire(t.Context())
			if err != nil {
				t.Errorf("%d: %v", n, err)
				return
			}
			mu.Lock()
			served = append(served, n)
			mu.Unlock()
			time.Sleep(time.Duration(60+n) * time.Second) // so that no two end at the same moment
			release()
			release() // no second place
		}
		for n := range 5 {
			wg.Go(func() { hold(n) })
			synctest.Wait()
		}
		start := time.Now()
		if _, err := b.Acquire(t.Context()); err == nil || time.Since(start) != 0 {
			t.Errorf("the sixth: %v after %v", err, time.Since(start))
		}
		wg.Wait()
		if fmt.Sprint(served) != "[0 1 2 3 4]" {
			t.Errorf("served in the order %v", served)
		}
		if d := time.Since(start); d != (60+62+64)*time.Second {
			t.Errorf("5 times a minute and more by two took %v", d)
		}
		free(t, b, 2)
	})
}

// free checks that a bulkhead has exactly that many free places.
func free(t *testing.T, b *bulkhead.Bulkhead, places int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var releases []func()
	for range places {
		release, err := b.Acquire(ctx)
		if err != nil {
			t.Fatalf("place %d of %d: %v", len(releases), places, err)
		}
		releases = append(releases, release)
	}
	over := make(chan error)
	go func() {
		_, err := b.Acquire(ctx)
		over <- err
	}()
	synctest.Wait()
	cancel()
	if err := <-over; err == nil {
		t.Errorf("there are more than %d places", places)
	}
	for _, release := range releases {
		release()
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := bulkhead.New(1, 2)
		why := errors.New("enough")
		done, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		for _, acquire := range []func() error{
			func() error { _, err := b.Acquire(done); return err },
			func() error { _, err := bulkhead.Acquire(done, map[string]*bulkhead.Bulkhead{"b": b}, "b"); return err },
			func() error { _, err := bulkhead.Acquire(done, nil); return err },
		} {
			if err := acquire(); !errors.Is(err, why) {
				t.Errorf("with a context that is done: %v", err)
			}
		}
		release, err := b.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// The first in the queue gives up; the second must get the place, and the queue must have room for a third.
		first, giveUp := context.WithCancelCause(t.Context())
		errs, second := make(chan error, 1), make(chan error, 1)
		go func() { _, err := b.Acquire(first); errs <- err }()
		synctest.Wait()
		go func() {
			release, err := b.Acquire(t.Context())
			if err == nil {
				release()
			}
			second <- err
		}()
		synctest.Wait()
		if _, err := b.Acquire(t.Context()); err == nil {
			t.Error("the line holds more than two")
		}
		giveUp(why)
		if err := <-errs; !errors.Is(err, why) {
			t.Errorf("the caller that gave up: %v", err)
		}
		synctest.Wait()
		select {
		case err := <-second:
			t.Fatalf("the second has not waited: %v", err)
		default:
		}
		release()
		if err := <-second; err != nil {
			t.Error(err)
		}
		free(t, b, 1)
	})
}

// A place that is passed on just when the waiting caller gives up is not lost.
func TestHandedOverTooLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for round := range fstest.Runs(200, 2_000, 50_000) {
			b := bulkhead.New(1, 1)
			release, err := b.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			wg.Go(func() {
				if release, err := b.Acquire(ctx); err == nil {
					release()
				}
			})
			synctest.Wait() // now it waits
			if round%2 == 0 {
				cancel()
				release() // usually before the other goroutine has run
			} else {
				release()
				cancel()
			}
			wg.Wait()
			free(t, b, 1)
		}
	})
}

// Two hosts share two bulkheads under swapped names: with a fixed order of names they would wait for each other.
func TestSeveralWithoutDeadlock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const most, workers = 2, 24
		shared := []*bulkhead.Bulkhead{bulkhead.New(1, workers), bulkhead.New(most, workers), bulkhead.New(1, workers)}
		here := map[string]*bulkhead.Bulkhead{"exec": shared[0], "gpu": shared[1], "tool": shared[2], "again": shared[0]}
		there := map[string]*bulkhead.Bulkhead{"exec": shared[2], "gpu": shared[0], "tool": shared[1], "again": shared[1]}
		var inside [3]atomic.Int64
		var wg sync.WaitGroup
		for worker := range workers {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(1, uint64(worker)))
				all := here
				if worker%2 == 0 {
					all = there
				}
				for range fstest.Runs(20, 100, 2_000) {
					var names []string
					for _, name := range []string{"tool", "again", "exec", "none", "gpu"} {
						if r.IntN(3) > 0 {
							names = append(names, name, name)
						}
					}
					r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
					release, err := bulkhead.Acquire(t.Context(), all, names...)
					if err != nil {
						t.Errorf("%v: %v", names, err)
						return
					}
					used := make(map[*bulkhead.Bulkhead]bool)
					for _, name := range names {
						used[all[name]] = true
					}
					for i, b := range shared {
						if used[b] {
							if now := inside[i].Add(1); now > []int64{1, most, 1}[i] {
								t.Errorf("%d are in bulkhead %d", now, i)
							}
						}
					}
					time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
					for i, b := range shared {
						if used[b] {
							inside[i].Add(-1)
						}
					}
					release()
				}
			})
		}
		wg.Wait()
		free(t, shared[0], 1)
		free(t, shared[1], most)
		free(t, shared[2], 1)
	})
}

// If any of several is full, the others are released.
func TestAllOrNone(t *testing.T) {
	t.Parallel()
	for range 20 { // the order in which they are taken is random
		all := map[string]*bulkhead.Bulkhead{"a": bulkhead.New(1, 0), "b": bulkhead.New(1, 0), "c": bulkhead.New(1, 0)}
		release, err := bulkhead.Acquire(t.Context(), all, "b")
		if err != nil {
			t.Fatal(err)
		}
		_, err = bulkhead.Acquire(t.Context(), all, "c", "b", "a")
		if full, ok := errors.AsType[*bulkhead.SaturatedError](err); !ok || full.Name != "b" {
			t.Fatalf("with 1 of 3 full: %v", err)
		}
		release()
		if release, err = bulkhead.Acquire(t.Context(), all, "c", "b", "a"); err != nil {
			t.Fatal(err)
		}
		release()
		release()
		if _, err = bulkhead.Acquire(t.Context(), all, "a", "c", "b"); err != nil {
			t.Fatal(err)
		}
		if _, err = bulkhead.Acquire(t.Context(), all, "a"); err == nil {
			t.Fatal("released twice, there is a place too many")
		}
	}
}
