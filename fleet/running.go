package fleet

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/panics"
)

// stop is the reason why no more targets are begun.
type stop struct{ code, text string }

// running is a call of Run.
type running struct {
	Fleet
	ctx    context.Context
	cancel context.CancelCauseFunc
	sink   func(Outcome) error
	next   func() (Target, error, bool) // from one goroutine at a time
	begun  time.Time
	due    time.Time // of the next target, for PerSecond
	index  int       // of the next target
	over   bool      // all targets were read
	inHand *Target   // a target that was read but not begun
	left   int       // targets that were not begun

	mu    sync.Mutex
	sum   Summary
	spent budget.Use // without replayed runs
	got   int        // outcomes of targets that were begun
	given int        // targets that were begun
	why   *stop      // nil while targets are begun
	cut   string     // the code of a target that the scheduler did not begin, or canceled
	sunk  error      // of sink
	wrong error      // of targets
}

// observer returns a function that calls the host's observer for one event at a time.
func (r *running) observer() func(millrace.Event) {
	if r.Observe == nil {
		return nil
	}
	var mu sync.Mutex
	return func(e millrace.Event) {
		mu.Lock()
		defer mu.Unlock()
		r.Observe(e)
	}
}

// targets returns the targets for the scheduler. They end when there is a reason to begin no more.
func (r *running) targets() iter.Seq2[Target, error] {
	return func(yield func(Target, error) bool) {
		for !r.stopped() {
			t, ok := r.take()
			if !ok {
				return
			}
			r.pace()
			if r.stopped() {
				r.inHand = &t
				return
			}
			r.index++
			r.mu.Lock()
			r.given++
			r.mu.Unlock()
			if !yield(t, nil) {
				return
			}
		}
	}
}

// take reads the next target.
func (r *running) take() (Target, bool) {
	if r.inHand != nil {
		t := *r.inHand
		r.inHand = nil
		return t, true
	}
	t, err, ok := r.next()
	if !ok || err != nil {
		r.over = true
		r.mu.Lock()
		r.wrong = err
		r.mu.Unlock()
		return Target{}, false
	}
	return t, true
}

// pace waits until the next target may begin, or until the deadline.
func (r *running) pace() {
	if r.PerSecond == 0 {
		return
	}
	now := time.Now()
	until := r.due
	if end := r.begun.Add(r.Deadline); r.Deadline > 0 && end.Before(until) {
		until = end
	}
	if until.After(now) {
		_ = sleep(r.ctx, until.Sub(now)) // stopped sees that ctx is done
		now = until
	}
	r.due = now.Add(time.Duration(min(float64(time.Second)/r.PerSecond, math.MaxInt64/2)))
}

// stopped reports whether there is a reason to begin no more targets. The first reason stays.
func (r *running) stopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.why != nil || r.sunk != nil {
		return true
	}
	switch exceeded := r.Budget.Exceeded(r.spent); {
	case r.ctx.Err() != nil:
		r.why = &stop{errorform.Canceled, fmt.Sprintf("not begun: %v", context.Cause(r.ctx))}
	case r.StopAfter > 0 && r.sum.Failed >= r.StopAfter:
		r.why = &stop{CodeStopped, fmt.Sprintf("not begun: %d targets have failed", r.StopAfter)}
	case r.Deadline > 0 && time.Since(r.begun) >= r.Deadline:
		r.why = &stop{errorform.DeadlineExceeded, fmt.Sprintf("not begun: the deadline of %v has passed", r.Deadline)}
	case r.Budget.Spent(r.spent.USD):
		r.why = &stop{errorform.BudgetExceeded, fmt.Sprintf("not begun: the budget of %v is spent", r.Budget.USD)}
	case exceeded != "":
		r.why = &stop{errorform.BudgetExceeded,
			fmt.Sprintf("not begun: more %s were changed than the budget allows", exceeded)}
	}
	return r.why != nil
}

// done adds the outcome of a target that was begun.
func (r *running) done(o Outcome) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.got == r.given {
		return errors.New("scheduler has given more outcomes than there were targets")
	}
	r.got++
	if o.Code != "" && (o.Status == Skipped || o.Status == Canceled) && r.cut == "" {
		r.cut = o.Code
	}
	if !o.Replayed {
		r.spent.Files += o.Files
		r.spent.Edits += o.Edits
	}
	r.spent.USD = r.spent.USD.Plus(o.Cost)
	return r.count(o)
}

// count counts an outcome and passes it to sink. The caller holds the mutex.
func (r *running) count(o Outcome) error {
	if r.sunk != nil {
		return r.sunk
	}
	r.sum.Add(o)
	if r.sink == nil {
		return nil
	}
	if r.sunk = panics.Protect(func() error { return r.sink(o) }); r.sunk != nil {
		r.cancel(r.sunk)
	}
	return r.sunk
}

// rest skips the targets that were not begun. err is the error of the scheduler.
func (r *running) rest(err error) {
	if !r.over && !r.stopped() && err != nil {
		r.why = &stop{"internal", cut(fmt.Sprintf("not begun: scheduler: %v", err), maxMessageLen)}
	}
	for !r.over && r.sunk == nil {
		t, ok := r.take()
		if !ok {
			return
		}
		why := stop{"internal", "not begun: the scheduler has left it out"}
		if r.why != nil {
			why = *r.why
		}
		r.mu.Lock()
		_ = r.count(skipped(t, r.index, why)) // the loop checks the error
		r.mu.Unlock()
		r.index++
		r.left++
	}
}

// failure returns the error of Run after the scheduler has returned err.
func (r *running) failure(ctx context.Context, err error) error {
	lost := r.given - r.got
	whole := r.over && lost == 0 && r.left == 0 && r.cut == "" && r.wrong == nil
	r.sum.Stopped = r.cut
	if r.left > 0 && r.why != nil {
		r.sum.Stopped = r.why.code
	}
	switch {
	case r.sunk != nil:
		err = fmt.Errorf("fleet: outcome could not be kept: %w", r.sunk)
	case ctx.Err() != nil && whole:
		return nil // everything was done before
	case ctx.Err() != nil:
		r.sum.Stopped = errorform.Canceled
		return &canceledError{cause: context.Cause(ctx), ended: ctx.Err()}
	case r.wrong != nil:
		err = fmt.Errorf("fleet: targets: %w", r.wrong)
	case err != nil:
		err = fmt.Errorf("fleet: scheduler: %w", err)
	case lost > 0:
		err = fmt.Errorf("fleet: scheduler has returned without the outcomes of %d targets", lost)
	default:
		return nil
	}
	if r.sum.Stopped == "" {
		r.sum.Stopped = "internal"
	}
	return err
}

// canceledError is the cause for the end of a context, and matches both the cause and the context's error.
type canceledError struct{ cause, ended error }

func (e *canceledError) Error() string { return fmt.Sprintf("fleet canceled: %v", e.cause) }

// Unwrap returns the cause, and the error of the context itself.
func (e *canceledError) Unwrap() []error { return []error{e.cause, e.ended} }
