package millracetemporal

import (
	"errors"
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/errorform"
)

// CodeWorkerLost is the code of a target whose workers stopped sending heartbeats, or did not finish in time, in every
// attempt.
const CodeWorkerLost = "worker_lost"

// outcomeOf returns an activity's report on a target, or the outcome of its error.
func outcomeOf(ctx workflow.Context, index int, f workflow.Future) report {
	var r report
	err := f.Get(ctx, &r)
	if err == nil {
		return r
	}
	var app *temporal.ApplicationError
	var timeout *temporal.TimeoutError
	r = report{Outcome: fleet.Outcome{Index: index, Status: fleet.Failed, Code: "internal", Message: err.Error()}}
	switch {
	case temporal.IsCanceledError(err):
		r.Outcome.Status, r.Outcome.Code, r.Outcome.Message = fleet.Canceled, errorform.Canceled, "canceled"
		var canceled *temporal.CanceledError
		if errors.As(err, &canceled) && canceled.HasDetails() {
			_ = canceled.Details(&r) // without details the report stays
		}
	case errors.As(err, &app):
		r.Outcome.Message = app.Message()
		if app.HasDetails() { // otherwise its type is a Go type, not a code
			r.Outcome.Code = app.Type()
			_ = app.Details(&r)
		}
	case errors.As(err, &timeout):
		r.Outcome.Code = CodeWorkerLost
	}
	r.Outcome.Index = index
	return r
}

// count counts an outcome, or removes one from the counts.
func (c *campaign) count(r report, by int) {
	before := c.Sum.Failed
	if c.Sum.Add(r.Outcome, by); c.Sum.Failed > before && len(c.Failed) < mostFailed {
		c.Failed = append(c.Failed, failed{r.Outcome.Index, r.Outcome.Code, r.Outcome.Risk})
	}
}

// forget removes a failed target from the counts, so that it can be tried again.
func (c *campaign) forget(index int) (f failed, ok bool) {
	at := slices.IndexFunc(c.Failed, failedAt(index))
	if at < 0 {
		return failed{}, false
	}
	f = c.Failed[at]
	c.Failed = slices.Delete(c.Failed, at, at+1)
	c.count(f.report(), -1)
	return f, true
}

func failedAt(index int) func(failed) bool { return func(f failed) bool { return f.Index == index } }

// report returns the fields of the outcome that are known without reading it.
func (f failed) report() report {
	return report{Outcome: fleet.Outcome{Index: f.Index, Status: fleet.Failed, Code: f.Code, Risk: f.Risk}}
}

// canceledAgain is the outcome of a target that was canceled before it was tried again.
func canceledAgain(index int) report {
	return report{Outcome: fleet.Outcome{Index: index, Status: fleet.Canceled, Code: errorform.Canceled,
		Message: "canceled before it was tried again"}}
}
