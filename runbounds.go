package millrace

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/errorform"
)

// DeadlineError means that the deadline of a run has passed, see [Pipeline.Deadline]. All that was staged is discarded.
type DeadlineError struct {
	// After is the deadline, counted from the first step.
	After time.Duration
	// Step is the id of the step that was running then, or was to run next, "" if all steps were done.
	Step string
	// Err is what the action returned that was cut off, nil if none was, or if it succeeded after that time.
	Err error
}

// Error names the deadline and the step.
func (e *DeadlineError) Error() string {
	if e.Step == "" {
		return fmt.Sprintf("the deadline of %v has passed before the commit", e.After)
	}
	return fmt.Sprintf("the deadline of %v has passed at step '%s'", e.After, e.Step)
}

// Unwrap returns what the action returned.
func (e *DeadlineError) Unwrap() error { return e.Err }

// Code returns "deadline_exceeded".
func (e *DeadlineError) Code() string { return errorform.DeadlineExceeded }

// within returns the context of the steps, which ends with the deadline.
func (r *run) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.p.Bounds.Deadline <= 0 {
		return ctx, func() {}
	}
	r.deadline = time.Now().Add(r.p.Bounds.Deadline)
	if r.kept != nil {
		r.deadline = r.deadline.Add(-r.kept.elapsed)
	}
	return context.WithDeadline(ctx, r.deadline)
}

// late reports whether the deadline of the run has passed.
func (r *run) late() bool { return !r.deadline.IsZero() && !time.Now().Before(r.deadline) }

// missed is the error of a run whose deadline has passed at a step, or behind all of them.
func (r *run) missed(step string) error {
	return &DeadlineError{After: r.p.Bounds.Deadline, Step: step}
}

// inTime is nil, or the error of a run whose deadline has passed when all its steps were done.
func (r *run) inTime() error {
	if r.late() {
		return r.missed("")
	}
	return nil
}

// cut returns the time, or what is left of the run if that is less.
func (r *run) cut(d time.Duration) time.Duration {
	if r.deadline.IsZero() {
		return d
	}
	return max(0, min(d, time.Until(r.deadline)))
}

// errLate is why the context of an attempt has ended that took longer than the timeout of its step.
var errLate = errors.New("the timeout of the step has passed")

// limited returns the context of one attempt of a step. One that has as much time as the run, or more, is cut off by
// the deadline of the run alone.
func (r *run) limited(ctx context.Context, s definition.Step) (context.Context, context.CancelFunc) {
	timeout := r.timeout(s)
	if timeout <= 0 || !r.deadline.IsZero() && time.Until(r.deadline) <= timeout {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, timeout, errLate)
}

// over reports whether the run has to end in a visit: it was canceled, or its deadline has passed, which it notes.
func (r *run) over(ctx context.Context, v *visit) bool {
	if r.late() {
		r.stopped = r.missed(v.result.StepID)
		return true
	}
	return ctx.Err() != nil
}

// timeout is how long an attempt of a step may take, 0 for no bound. Where a prompt has no timeout, the sandbox of the
// pipeline has it. A command gets at most the time that the host allows.
func (r *run) timeout(s definition.Step) time.Duration {
	if _, ok := definition.ExecOf(s.Action); ok {
		if most := r.x.Commands.Timeout(); s.Timeout <= 0 || s.Timeout > most {
			return most
		}
	}
	if _, ok := definition.PromptOf(s.Action); ok && s.Timeout == 0 {
		return r.p.Bounds.Sandbox.Timeout
	}
	return s.Timeout
}

// spending is what a run has spent, and may spend. It is all that a run that is taken up again has to know of it.
type spending struct {
	limit budget.Limit

	mu    sync.Mutex // held while an event reports a cost, so that totals come in order
	total budget.Cost
	steps []budget.Cost // by step
	over  bool          // the run has been told of
}

// end stops counting: the result is reported, and the last event has come.
func (s *spending) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
}

// spend takes what an attempt has cost. It counts at once, whatever becomes of the attempt.
func (r *run) spend(v *visit, cost budget.Cost) {
	if cost <= 0 {
		return
	}
	r.spent.mu.Lock()
	defer r.spent.mu.Unlock()
	if r.spent.over {
		return
	}
	v.cost = v.cost.Plus(cost)
	r.spent.total = r.spent.total.Plus(cost)
	r.spent.steps[v.step] = r.spent.steps[v.step].Plus(cost)
	r.notify(CostSpent{Step: v.result.StepID, Cost: cost, Total: r.spent.total})
}

// costOf returns what a visit has cost so far.
func (r *run) costOf(v *visit) budget.Cost {
	r.spent.mu.Lock()
	defer r.spent.mu.Unlock()
	return v.cost
}

// totalCost returns what the run has cost so far.
func (r *run) totalCost() budget.Cost {
	r.spent.mu.Lock()
	defer r.spent.mu.Unlock()
	return r.spent.total
}

// withinBudget returns a *BudgetError if what the steps before that one have used leaves nothing for it.
func (r *run) withinBudget(step int) error {
	limit, s := r.spent.limit, r.p.Steps[step]
	if limit.IsZero() {
		return nil
	}
	use, err := r.usedBefore(step)
	if err != nil {
		return err
	}
	if r.specs[step].Costs && limit.Spent(use.USD) {
		return &BudgetError{What: budgetUSD, Limit: int64(limit.USD), Spent: int64(use.USD), Step: s.ID}
	}
	if e := exceeded(limit, use, s.ID); e != nil {
		return e
	}
	return nil
}

// usedBefore counts what was used when a step is to begin. In parallel that is what the steps before it in the list
// have used so far, which only grows: what it forbids, the run in sequence would have forbidden.
func (r *run) usedBefore(step int) (use budget.Use, err error) {
	if r.machine == nil {
		r.spent.mu.Lock()
		for _, cost := range r.spent.steps[:step] {
			use.USD = use.USD.Plus(cost)
		}
		r.spent.mu.Unlock()
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, v := range r.last[:step] {
			if v != nil {
				use.Edits += v.result.EditsApplied
			}
		}
		return use, nil
	}
	return r.used()
}

// used counts what the run has used so far. The steps run one at a time then, or are done.
func (r *run) used() (budget.Use, error) {
	var changes []change.Change
	if r.spent.limit.Files > 0 || r.spent.limit.Bytes > 0 {
		var err error
		if changes, err = r.stage.Outline(); err != nil {
			return budget.Use{}, collectError(err, r.p.Len())
		}
	}
	edits := 0
	for _, v := range r.counted() {
		edits += v.result.EditsApplied
	}
	return used(changes, edits, r.totalCost()), nil
}

// settle ends a run in parallel where it would have ended in sequence: before the first step for which the steps before
// it have left no budget. It has not run then, whatever it did, and so have those after it; what they have cost is
// spent.
func (r *run) settle() {
	if r.late() {
		id := ""
		if i := r.firstUndone(); i < r.p.Len() {
			id, r.stopAt = r.p.Steps[i].ID, min(i, r.stopAt)
		}
		r.stopped = r.missed(id)
		return
	}
	for i := range r.p.Steps[:min(r.stopAt+1, r.p.Len())] {
		if v := r.last[i]; v != nil && !v.entered {
			continue // it was skipped, or has failed before anything was spent
		}
		if err := r.withinBudget(i); err != nil {
			r.stopped = err
			clear(r.last[i:])
			return
		}
	}
	if r.kept != nil && r.kept.stop != nil && r.kept.stop.step == r.stopAt {
		r.stopped = r.kept.stop.err
		clear(r.last[r.stopAt:])
	}
}

// firstUndone is the index of the first step that is not done, the number of steps if all are.
func (r *run) firstUndone() int {
	for i, v := range r.last {
		if v == nil || v.stop != nil || is[*DeadlineError](v.err) {
			return i
		}
	}
	return r.p.Len()
}

// isBound reports whether an error of a run is about its own bounds.
func isBound(err error) bool {
	switch err.(type) {
	case *BudgetError, *DeadlineError, *executionsError:
		return true
	}
	return false
}

// halt ends a run in parallel before a step that must not begin.
func (r *run) halt(v *visit) {
	if !isBound(v.stop) {
		r.endAt(v.step, v.stop) // which settle does not find out by itself
	}
	r.mu.Lock()
	r.stopAt = min(r.stopAt, v.step)
	r.mu.Unlock()
	r.unbegun(v, v.stop)
}
