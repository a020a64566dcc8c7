// Package bulkhead limits the number of concurrent operations of one kind: commands, agents, calls of a tool, the use
// of a device.
//
// A [Bulkhead] has a number of places, and a queue of limited length. Requests beyond that are refused at once with a
// [SaturatedError], instead of making the queue longer. Users with a common limit share one Bulkhead, such as the
// executors of a server.
//
//	b := bulkhead.New(2, 10)           // 2 at work, 10 waiting
//	release, err := b.Acquire(ctx)
//	if err != nil {
//		return err                     // saturated, or ctx is done
//	}
//	defer release()
//
// To acquire several, use one call of [Acquire], which acquires them in the same order everywhere: then two callers can
// never wait for each other. Separate calls for several bulkheads may deadlock.
package bulkhead

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/millrace-go/millrace/internal/errorform"
)

// Bulkhead is a number of places, with a queue. It is made by New and safe for concurrent use. The zero Bulkhead has no
// places, so it admits nothing. A nil *Bulkhead has no limit.
type Bulkhead struct {
	limit, queue int
	order        uint64 // the order in which several are acquired

	mu      sync.Mutex
	held    int
	waiting []chan struct{} // first come, first served; a place is handed over by closing
}

// New returns a bulkhead with limit places and a queue of length queue. A limit of 0 or less admits nothing, and with a
// queue of 0 or less nothing waits.
func New(limit, queue int) *Bulkhead {
	return &Bulkhead{limit: max(limit, 0), queue: max(queue, 0), order: rand.Uint64()}
}

// SaturatedError reports that all places are taken and the queue is full. Retrying at once does not help, and harms the
// waiting callers.
type SaturatedError struct {
	// Name is the name of the bulkhead in the call of Acquire, "" if it has none.
	Name string
	// Limit and Queue are the arguments of New.
	Limit, Queue int
}

// Error names the full bulkhead.
func (e *SaturatedError) Error() string {
	name := "bulkhead"
	if e.Name != "" {
		name += " '" + e.Name + "'"
	}
	return fmt.Sprintf("%s is full: %d at work, %d waiting", name, e.Limit, e.Queue)
}

// MarshalJSON returns the code, the message and the paths.
func (e *SaturatedError) MarshalJSON() ([]byte, error) {
	return errorform.Marshal(e.Code(), e)
}

// Code returns "bulkhead_saturated".
func (e *SaturatedError) Code() string { return errorform.Saturated }

// Retryable returns false: a request that is refused because of overload is not retried automatically.
func (e *SaturatedError) Retryable() bool { return false }

// Acquire takes a place, and waits in the queue if all places are taken. Callers in the queue get places in order. The
// error is a *SaturatedError, or the cause why ctx is done; then no place is taken even if a place is free. release
// returns the place. It must be called; further calls do nothing.
func (b *Bulkhead) Acquire(ctx context.Context) (release func(), err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if b == nil {
		return func() {}, nil
	}
	b.mu.Lock()
	switch {
	case b.held < b.limit:
		b.held++
		b.mu.Unlock()
		return sync.OnceFunc(b.release), nil
	case b.limit == 0 || len(b.waiting) >= b.queue:
		b.mu.Unlock()
		return nil, &SaturatedError{Limit: b.limit, Queue: b.queue}
	}
	mine := make(chan struct{})
	b.waiting = append(b.waiting, mine)
	b.mu.Unlock()
	select {
	case <-mine:
		return sync.OnceFunc(b.release), nil
	case <-ctx.Done():
		b.leave(mine)
		return nil, context.Cause(ctx)
	}
}

// release passes a place to the first in the queue, or frees it.
func (b *Bulkhead) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		b.held--
		return
	}
	close(b.waiting[0])
	b.waiting = slices.Delete(b.waiting, 0, 1)
}

// leave removes a caller from the queue. If it has got a place in the meantime, the place goes to the next.
func (b *Bulkhead) leave(mine chan struct{}) {
	b.mu.Lock()
	at := slices.Index(b.waiting, mine)
	if at >= 0 {
		b.waiting = slices.Delete(b.waiting, at, at+1)
	}
	b.mu.Unlock()
	if at < 0 {
		b.release()
	}
}

// Acquire takes a place in each of the bulkheads with any of the names, all or none. Names without a bulkhead are
// ignored, and a bulkhead with several names is taken once. They are taken in a fixed order, which is the same for all
// callers, whatever names they use. A *SaturatedError has the name.
func Acquire(ctx context.Context, bulkheads map[string]*Bulkhead, names ...string) (release func(), err error) {
	type place struct {
		name string
		in   *Bulkhead
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var places []place
	for _, name := range slices.Sorted(slices.Values(names)) {
		b := bulkheads[name]
		if b != nil && !slices.ContainsFunc(places, func(p place) bool { return p.in == b }) {
			places = append(places, place{name, b})
		}
	}
	slices.SortStableFunc(places, func(p, q place) int { return cmp.Compare(p.in.order, q.in.order) })

	var held []func()
	release = func() { // each releases only once
		for _, give := range slices.Backward(held) {
			give()
		}
	}
	for _, p := range places {
		give, err := p.in.Acquire(ctx)
		if err != nil {
			release()
			if full, ok := errors.AsType[*SaturatedError](err); ok {
				full.Name = p.name
			}
			return nil, err
		}
		held = append(held, give)
	}
	return release, nil
}
