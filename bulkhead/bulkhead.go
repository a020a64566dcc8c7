// Package bulkhead bounds how much of one kind goes on at the same time: commands, agents, calls of a tool, the use
// of a device.
//
// A [Bulkhead] lets a number of holders in and a number of others wait. Requests beyond that are refused at once, by a
// [SaturatedError], instead of making the line longer. One Bulkhead is shared by all that are to be bounded together,
// such as the executors of a server.
//
//	b := bulkhead.New(2, 10)           // 2 at work, 10 waiting
//	release, err := b.Acquire(ctx)
//	if err != nil {
//		return err                     // saturated, or ctx is done
//	}
//	defer release()
//
// To take several, ask for all of them by one call of [Acquire], which takes them in an order that is the same
// everywhere: then no two can each hold what the other one waits for. A holder that asks for another one by a call of
// its own has no such promise.
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

// Bulkhead is a number of places, and a line of those that wait. It is made by New and safe for concurrent use. The
// zero Bulkhead has no places: it lets nothing in. A nil *Bulkhead bounds nothing.
type Bulkhead struct {
	limit, queue int
	order        uint64 // in which several are taken

	mu      sync.Mutex
	held    int
	waiting []chan struct{} // first come, first served; a place is handed over by closing
}

// New returns a bulkhead with limit places and room for queue in the line. A limit of 0 or less lets nothing in, and
// a queue of 0 or less lets nothing wait.
func New(limit, queue int) *Bulkhead {
	return &Bulkhead{limit: max(limit, 0), queue: max(queue, 0), order: rand.Uint64()}
}

// SaturatedError reports that all places are taken and the line is full. Asking again at once does not help, and makes
// things worse for those that wait.
type SaturatedError struct {
	// Name is what the caller of Acquire calls the bulkhead, "" if it has no name.
	Name string
	// Limit and Queue are those of New.
	Limit, Queue int
}

// Error says which bulkhead is full.
func (e *SaturatedError) Error() string {
	name := "bulkhead"
	if e.Name != "" {
		name += " '" + e.Name + "'"
	}
	return fmt.Sprintf("%s is full: %d at work, %d waiting", name, e.Limit, e.Queue)
}

// MarshalJSON gives the code, the message and the paths.
func (e *SaturatedError) MarshalJSON() ([]byte, error) {
	return errorform.Marshal(e.Code(), e)
}

// Code is "bulkhead_saturated".
func (e *SaturatedError) Code() string { return errorform.Saturated }

// Retryable is false: a request that is refused for too much work is not retried automatically.
func (e *SaturatedError) Retryable() bool { return false }

// Acquire takes a place, and waits in the line if there is none. Places are given in the order of the line. The error
// is a *SaturatedError, or the cause why ctx is done; then no place is taken even if there is one. release gives the
// place back. It must be called, and further calls do nothing.
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

// release hands a place over to the first in the line, or makes it free.
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

// leave takes one out of the line. If it was given a place meanwhile, that goes on to the next.
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

// Acquire takes a place in each of the bulkheads that have any of the names, all or none. Names without a bulkhead are
// left out, and a bulkhead with several names is taken once. They are taken in an order of their own, which is the
// same for all callers, whatever they call them. A *SaturatedError has the name.
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
	release = func() { // each of them does it once
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
