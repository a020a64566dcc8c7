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

// DeadlineError means that the deadline of a run has passed, see [Pipeline.Deadline]. All staged changes are discarded.
type DeadlineError struct {
	// After is the deadline, counted from the first step.
	After time.Duration
	// Step is the id of the step that was running, or was next, "" if all steps were done.
	Step string
	// Err is the error of the interrupted action, nil if none was interrupted, or if it succeeded after that time.
	Err error
}

// Error names the deadline and the step.
func (e *DeadlineError) Error() string {
	if e.Step == "" {
		return fmt.Sprintf("the deadline of %v has passed before the commit", e.After)
	}
	return fmt.Sprintf("the deadline of %v has passed at step '%s'", e.After, e.Step)
}

// Unwrap returns the error of the action.
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

// missed returns the error of a run whose deadline has passed at a step, or after all steps.
func (r *run) missed(step string) error {
	return &DeadlineError{After: r.p.Bounds.Deadline, Step: step}
}

// inTime returns nil, or the error of a run whose deadline has passed when all its steps were done.
func (r *run) inTime() error {
	if r.late() {
		return r.missed("")
	}
	return nil
}

// cut returns the shorter of d and the remaining time of the run.
func (r *run) cut(d time.Duration) time.Duration {
	if r.deadline.IsZero() {
		return d
	}
	return max(0, min(d, time.Until(r.deadline)))
}

// errLate is the cause for the end of an attempt's context when the timeout of its step has passed.
var errLate = errors.New("the timeout of the step has passed")

// limited returns the context of one attempt of a step. If the timeout is not shorter than the rest of the run, only
// the deadline of the run ends the attempt.
func (r *run) limited(ctx context.Context, s definition.Step) (context.Context, context.CancelFunc) {
	timeout := r.timeout(s)
	if timeout <= 0 || !r.deadline.IsZero() && time.Until(r.deadline) <= timeout {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, timeout, errLate)
}

// over reports whether the run has to end in a visit: it was canceled, or its deadline has passed, which over records.
func (r *run) over(ctx context.Context, v *visit) bool {
	if r.late() {
		r.stopped = r.missed(v.result.StepID)
		return true
	}
	return ctx.Err() != nil
}

// timeout returns the time limit for an attempt of a step, 0 for none. A prompt without a timeout has the timeout of
// the pipeline's sandbox. A command has at most the time that the host allows.
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

// spending is the spent amount of a run and its limit. It is everything that a resumed run needs to know about its
// spending.
type spending struct {
	limit budget.Limit

	mu    sync.Mutex // held while an event reports a cost, so that totals come in order
	total budget.Cost
	steps []budget.Cost // by step
	over  bool          // the result of the run is reported
}

// end stops counting: the result is reported, and the last event was sent.
func (s *spending) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
}

// spend adds the cost of an attempt. It counts at once, even if the attempt fails.
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

// costOf returns the cost of a visit so far.
func (r *run) costOf(v *visit) budget.Cost {
	r.spent.mu.Lock()
	defer r.spent.mu.Unlock()
	return v.cost
}

// totalCost returns the cost of the run so far.
func (r *run) totalCost() budget.Cost {
	r.spent.mu.Lock()
	defer r.spent.mu.Unlock()
	return r.spent.total
}

// withinBudget returns a *BudgetError if the steps before that step have used up the budget.
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

// usedBefore returns the use of the budget before a step begins. In parallel that is the use of the steps before it in
// the list so far, which only grows: a step that it forbids would also be forbidden in sequence.
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

// used returns the use of the run so far. At that time the steps run one at a time, or are done.
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
// it have left no budget. That step and all later steps then count as not run, even if they ran; their costs are spent.
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
			continue // it was skipped, or failed before spending anything
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

// firstUndone returns the index of the first step that is not done, the number of steps if all are done.
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
		r.endAt(v.step, v.stop) // settle does not find this error
	}
	r.mu.Lock()
	r.stopAt = min(r.stopAt, v.step)
	r.mu.Unlock()
	r.unbegun(v, v.stop)
}
