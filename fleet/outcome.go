package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/risk"
)

// Status is the state of a target at its end.
type Status string

// The statuses of a target.
const (
	Success  Status = "success"  // the pipeline was committed, or had nothing to write
	Failed   Status = "failed"   // Code and Message give the reason
	Skipped  Status = "skipped"  // every step was skipped, or the target was never begun: then Code gives the reason
	Canceled Status = "canceled" // the context ended during the run; the tree is as before
)

// Codes of outcomes that [millrace.ErrorCode] does not have. Of its codes, "deadline_exceeded", "budget_exceeded" and
// "canceled" are also about targets that were not begun.
const (
	CodeTreeUnavailable = "tree_unavailable" // the tree could not be opened
	CodePlanChanged     = "plan_changed"     // the plan is not the approved plan
	CodeInvalidTarget   = "invalid_target"   // a *TargetError: its id, its root or its labels cannot be
	CodeStopped         = "stopped"          // not begun: as many targets have failed as may, see [Fleet.StopAfter]
)

// Retryable reports whether another attempt may succeed a moment later without any change. This is so for
// tree_unavailable, locked, conflict and recovery_needed. Any other code ends the same way each time, or costs money to
// retry, so the step's own settings decide about retries.
func Retryable(code string) bool {
	switch code {
	case CodeTreeUnavailable, errorform.RecoveryNeeded, "locked", "conflict":
		return true
	}
	return false
}

// maxMessageLen is the largest number of characters in the message of an outcome.
const maxMessageLen = 2000

// Outcome is the result for one target. Its JSON form is complete, with the duration in milliseconds.
type Outcome struct {
	Target Target `json:"target"`
	// Index is the position of the target in the campaign, from 0.
	Index int `json:"index"`
	// RunID is the run id of the run, see [RunID]. Empty if the tree was not opened.
	RunID  string `json:"run_id,omitempty"`
	Status Status `json:"status"`
	// Code is [millrace.ErrorCode] of the error, or a code of this package. Message is its text, cut to 2,000
	// characters. Both are empty without an error.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// PlanDigest is the digest of the plan, for an outcome of [Worker.Plan].
	PlanDigest string `json:"plan_digest,omitempty"`
	// Cost is the cost of the attempts. A Replayed run was paid before, so its cost is not included. For a run that has
	// resumed from a [Store] it is the cost of the whole run.
	Cost budget.Cost `json:"cost_usd,omitzero"`
	// Replayed means that the target was already committed before: the other fields describe that commit.
	Replayed bool `json:"replayed,omitempty"`
	// Files is the number of files that have changed, or would change after a dry run. Edits is the number of edits. Both
	// are 0 if nothing was written.
	Files int `json:"files"`
	Edits int `json:"edits"`
	// Attempts is the number of times that the tree was opened, 0 if the target was not begun.
	Attempts int `json:"attempts"`
	// Risk is the risk of the change, Unset if there was nothing to judge.
	Risk risk.Level `json:"risk,omitzero"`
	// Duration is the time from the first attempt to the end of the last attempt, including the waits.
	Duration time.Duration `json:"-"`
}

// outcome returns the empty outcome of a task.
func (t Task) outcome() Outcome { return Outcome{Target: t.Target, Index: t.Index} }

// skipped returns the outcome of a target that is not begun.
func skipped(t Target, index int, why stop) Outcome {
	return Outcome{Target: t, Index: index, Status: Skipped, Code: why.code, Message: why.text}
}

// fail sets an error. An empty code means the code of the error.
func (o *Outcome) fail(ctx context.Context, err error, code string) {
	if code == "" {
		code = codeOf(err)
	}
	if ctx.Err() != nil && (code == CodeTreeUnavailable || code == "locked") {
		code = errorform.Canceled // it is the wait for them that has ended
	}
	o.Status, o.Code, o.Message = Failed, code, message(err)
	if code == errorform.Canceled && ctx.Err() != nil {
		o.Status = Canceled
	}
}

// take sets the result and the error of a run.
func (o *Outcome) take(ctx context.Context, res *millrace.Result, err error) {
	if res != nil {
		o.Replayed, o.Risk = res.Replayed, res.OverallRiskLevel
		if !res.Replayed {
			o.Cost = res.Cost
		}
		if res.Success || millrace.Written(err) {
			o.Files, o.Edits = res.FilesChanged.Count(), res.TotalEdits
		}
	}
	switch {
	case err != nil:
		o.fail(ctx, err, "")
	case everyStepSkipped(res):
		o.Status = Skipped
	default:
		o.Status = Success
	}
}

func everyStepSkipped(res *millrace.Result) bool {
	for _, s := range res.Results {
		if !s.Skipped {
			return false
		}
	}
	return len(res.Results) > 0
}

func codeOf(err error) string {
	if _, ok := errors.AsType[*TargetError](err); ok {
		return CodeInvalidTarget
	}
	if _, ok := errors.AsType[*planChangedError](err); ok {
		return CodePlanChanged
	}
	if _, ok := errors.AsType[*panics.Error](err); ok {
		return "internal" // for any value of the panic
	}
	return millrace.ErrorCode(err)
}

func message(err error) string { return cut(err.Error(), maxMessageLen) }

type plainOutcome Outcome

// jsonOutcome is an outcome in JSON.
type jsonOutcome struct {
	plainOutcome
	Duration float64 `json:"duration"` // in milliseconds
}

// MarshalJSON writes the duration in milliseconds.
func (o Outcome) MarshalJSON() ([]byte, error) {
	return json.Marshal(jsonOutcome{plainOutcome(o), millisOf(o.Duration)})
}

// UnmarshalJSON reads the JSON of MarshalJSON.
func (o *Outcome) UnmarshalJSON(data []byte) error {
	var read jsonOutcome
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*o = Outcome(read.plainOutcome)
	o.Duration = durationOf(read.Duration)
	return nil
}

// millisOf returns a duration in milliseconds with at most three decimals.
func millisOf(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Microsecond)) / 1000
}

func durationOf(millis float64) time.Duration {
	return time.Duration(math.Round(millis*1000)) * time.Microsecond
}
