// Package fleet runs one pipeline over many trees. Each tree is changed completely or not at all.
//
//	w := fleet.Worker{Executor: x, Trees: fleet.Dirs{}}
//	f := fleet.Fleet{Scheduler: fleet.Local{Worker: w, Parallel: 8}}
//	campaign := fleet.Campaign{ID: "rename-2026-03", Pipeline: p}
//	sum, err := f.Run(ctx, campaign, fleet.Paths(dirs...), func(o fleet.Outcome) error { return store(o) })
//
// Every target has one [Outcome], which is passed to a function and not kept, so ten thousand trees need no more memory
// than ten. A failed target does not stop the others. Committed targets are recognized by the id of the campaign: the
// same campaign, run again, runs the targets that failed or were not begun, and leaves all others alone.
//
// A [Scheduler] passes targets to a [Worker]. It may pass a target twice, even to two machines at once. The lock of the
// tree and the RunID ensure that the tree is changed once.
package fleet

import (
	"context"
	"errors"
	"iter"
	"math"
	"strconv"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/panics"
)

// Fleet runs campaigns. It is safe for concurrent use as long as its fields are not changed.
type Fleet struct {
	// Scheduler passes the targets to workers. Required.
	Scheduler Scheduler
	// Observe receives the events of the runs, each as an [Event] that names its target, from one goroutine at a time:
	// [millrace.JSONEvents] works too. It is called if the workers are in this process, as with [Local].
	// If it panics, the Result of that run has a warning. Nil means no observer.
	Observe func(millrace.Event)
	// StopAfter is the number of failed targets after which no more targets are begun. Zero means that failures stop
	// nothing.
	StopAfter int
	// Deadline is the time after the beginning of Run from which no more targets are begun. A target that has begun
	// continues to its end. Zero means no limit.
	Deadline time.Duration
	// Budget limits the spending of all targets of one Run together: once the money is spent, or too many files or edits
	// were made, no more targets are begun. Replayed targets do not count. Bytes is not supported here and must be zero.
	// The zero Limit means no limit.
	Budget budget.Limit
	// PerSecond is the number of targets that are begun per second at most, evenly spread. Zero means no limit.
	PerSecond float64
}

// Check returns an error for the first field with a value that is not allowed.
func (f Fleet) Check() error {
	const negative = "a negative number is not allowed"
	switch {
	case f.Scheduler == nil:
		return &errorform.FieldError{Field: "Fleet.Scheduler", Value: "nil", Reason: "a scheduler is required, such as Local"}
	case f.StopAfter < 0:
		return &errorform.FieldError{Field: "Fleet.StopAfter", Value: strconv.Itoa(f.StopAfter), Reason: negative}
	case f.Deadline < 0:
		return &errorform.FieldError{Field: "Fleet.Deadline", Value: f.Deadline.String(), Reason: negative}
	case f.PerSecond < 0 || math.IsNaN(f.PerSecond):
		return &errorform.FieldError{Field: "Fleet.PerSecond", Value: strconv.FormatFloat(f.PerSecond, 'g', -1, 64),
			Reason: "a number from 0 is required"}
	case f.Budget.Bytes != 0:
		return &errorform.FieldError{Field: "Fleet.Budget.Bytes", Value: strconv.FormatInt(f.Budget.Bytes, 10),
			Reason: "bytes are not counted here: set Executor.Budget"}
	}
	return f.Budget.Check()
}

// Run runs the pipeline on all targets. Each target has one outcome, which is counted in the Summary and passed to
// sink: in the order in which they end, one at a time, from any goroutine. sink may be nil. An invalid target is a
// failed outcome with the code [CodeInvalidTarget].
//
// StopAfter, Deadline, Budget and the end of ctx stop Run from beginning targets: the remaining targets are still read,
// and are Skipped. A limit that depends on outcomes may be exceeded by the targets that have begun when it is reached,
// with Local by Parallel-1. When ctx ends, running targets become Canceled, or still finish.
//
// Failed targets, and targets that a limit has kept from being begun, are not an error: the Summary has them. Errors
// are an error of [Fleet.Check] before anything is begun; the cause of ctx, which also matches ctx.Err();
// the error of sink, after which sink is not called any more and the runs that are on their way are canceled; that of
// targets, after which no more are taken; that of the scheduler. The Summary counts the outcomes until then.
func (f Fleet) Run(ctx context.Context, c Campaign, targets iter.Seq2[Target, error],
	sink func(Outcome) error) (Summary, error) {
	if err := errors.Join(f.Check(), c.Check()); err != nil {
		return Summary{Campaign: c.ID}, err
	}
	working, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &running{Fleet: f, ctx: working, cancel: cancel, sink: sink, begun: time.Now(), sum: Summary{Campaign: c.ID}}
	c.Observe = r.observer()
	next, end := iter.Pull2(targets)
	defer end()
	r.next = func() (t Target, err error, ok bool) {
		failed := panics.Protect(func() error { t, err, ok = next(); return nil })
		if failed != nil {
			return Target{}, failed, true
		}
		return t, err, ok
	}
	err := panics.Protect(func() error { return f.Scheduler.Schedule(working, c, r.targets(), r.done) })
	r.rest(err)
	err = r.failure(ctx, err)
	r.sum.Duration = time.Since(r.begun)
	return r.sum, err
}
