package millrace

import (
	"fmt"

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
