package millrace

import (
	"fmt"
	"sync"

	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/errorform"
)

// BudgetError says that a budget, that of the pipeline or [Executor.Budget], does not allow what was to come next. All
// that was staged is discarded.
type BudgetError struct {
	// What is "usd", "files", "edits" or "bytes".
	What string
	// Limit is what is allowed, and Spent what was used; "usd" is in millionths of a dollar, as a budget.Cost.
	Limit, Spent int64
	// Step is the id of the step that was to run next, "" if all steps were done and the change was to be committed.
	Step string
}

// Error gives "budget of $3.00 is spent ($3.02) before step 'x'".
func (e *BudgetError) Error() string {
	before := ""
	if e.Step != "" {
		before = fmt.Sprintf(" before step '%s'", e.Step)
	}
	if e.What == budgetUSD {
		return fmt.Sprintf("budget of %v is spent (%v)%s", budget.Cost(e.Limit), budget.Cost(e.Spent), before)
	}
	return fmt.Sprintf("budget of %d %s is exceeded (%d)%s", e.Limit, e.What, e.Spent, before)
}

// Code returns "budget_exceeded".
func (e *BudgetError) Code() string { return errorform.BudgetExceeded }

// budgetUSD is what BudgetError.What says of money.
const budgetUSD = "usd"

// exceeded returns an error if the change that is to come of a run, or has come so far, is larger than the budget
// allows, or nil. It is a nil pointer then.
func exceeded(limit budget.Limit, use budget.Use, step string) *BudgetError {
	e := &BudgetError{What: limit.Exceeded(use), Step: step}
	switch e.What {
	case "files":
		e.Limit, e.Spent = int64(limit.Files), int64(use.Files)
	case "edits":
		e.Limit, e.Spent = int64(limit.Edits), int64(use.Edits)
	case "bytes":
		e.Limit, e.Spent = limit.Bytes, use.Bytes
	default:
		return nil
	}
	return e
}

// used counts what a change takes of a budget.
func used(changes []fsutil.Change, edits int, cost budget.Cost) budget.Use {
	use := budget.Use{USD: cost, Files: filesChanged(changes).Count(), Edits: edits}
	for _, c := range changes {
		if c.Old.Hash != c.New.Hash { // only files have hashes and sizes
			use.Bytes += c.New.Size
		}
	}
	return use
}

// budgetReport is the budget beside what was used of it, nil if there is none.
func budgetReport(limit budget.Limit, use budget.Use) *budget.Report {
	if limit.IsZero() {
		return nil
	}
	return new(limit.Report(use))
}

// clonedReport copies a report so deep that the copy shares nothing.
func clonedReport(r *budget.Report) *budget.Report {
	if r == nil {
		return nil
	}
	c := *r
	c.Files, c.Edits, c.Bytes = cloned(r.Files), cloned(r.Edits), cloned(r.Bytes)
	return &c
}

// spending is what a run has spent, and may spend. It is all that a run that is taken up again has to know of it.
type spending struct {
	limit budget.Limit

	mu    sync.Mutex // held while an event tells of a cost, so that totals come in order
	total budget.Cost
	steps []budget.Cost // by step
	over  bool          // the run has been told of
}

// end makes what is spent later not count: the result is told, and the last event has come.
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
	limit, s := r.spent.limit, r.p.steps[step]
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
	var changes []fsutil.Change
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
			id, r.stopAt = r.p.steps[i].ID, min(i, r.stopAt)
		}
		r.stopped = r.missed(id)
		return
	}
	for i := range r.p.steps[:min(r.stopAt+1, r.p.Len())] {
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
	case *BudgetError, *DeadlineError, *ExecutionsError:
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

// account puts into the result of a plan what was used of the bounds of the run. Where there is a change to judge, it
// was counted with that.
func (r *run) account(p *Plan) {
	res, limit := p.result, r.spent.limit
	if r.p.bounds.deadline > 0 {
		res.DeadlineMet = new(!is[*DeadlineError](p.failed))
	}
	if p.abandoned || !p.mutates {
		use, err := r.used()
		if err != nil { // which the run has failed of
			use = budget.Use{USD: res.Cost, Edits: res.TotalEdits}
		}
		res.Budget = budgetReport(limit, use)
	}
	stop, stopped := p.failed.(*BudgetError)
	if limit.USD > 0 && res.Cost > limit.USD && !(stopped && stop.What == budgetUSD) {
		res.Warnings = append(res.Warnings, fmt.Sprintf("budget of %v is exceeded: %v were spent", limit.USD, res.Cost))
	}
}
