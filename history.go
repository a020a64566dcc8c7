package millrace

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/flow"
)

// Visit is one arrival at a step, as [Result.History] tells it.
type Visit struct {
	StepID string `json:"step_id"`
	// Visit counts the arrivals at this step, from 1.
	Visit int `json:"visit"`
	// Outcome is "success", "failed", "skipped", or "retry" where a retry_if held and led back.
	Outcome string `json:"outcome"`
	// Attempts has one entry for each time the action ran. None for a visit that was skipped.
	Attempts []Attempt `json:"attempts,omitempty"`
	// Jump says where the visit led to by next, on_fail or retry_if. Nil for the next step in the list.
	Jump *Jump `json:"jump,omitempty"`
	// Discarded says that what the visit had staged was taken back by a later restart, or at the end of the run.
	Discarded bool `json:"discarded,omitempty"`
	// Duration is the time of all attempts and of the waits between them; in JSON "duration", in milliseconds.
	Duration time.Duration `json:"-"`
}

// The outcomes of visits.
const (
	VisitSuccess = "success"
	VisitFailed  = "failed"
	VisitSkipped = "skipped"
	VisitRetry   = "retry"
)

// Attempt is one run of an action.
type Attempt struct {
	// Error is its error, at most 4 KiB of it, "" for none; ErrorCode is the code of that, as in [StepResult].
	Error     string        `json:"error,omitempty"`
	ErrorCode string        `json:"error_code,omitempty"`
	Duration  time.Duration `json:"-"` // in JSON "duration", in milliseconds
}

// Jump is a way from a step to one that need not be the next in the list.
type Jump struct {
	// To is the id of the step that it leads to.
	To string `json:"to"`
	// By is the field of the step that leads there: "next", "on_fail" or "retry_if".
	By string `json:"by"`
}

// longestAttemptError is how much of an error an Attempt keeps, in bytes.
const longestAttemptError = 4 << 10

// mostVisits is how many visits a history tells with all that were skipped. Others have an attempt each, so there are no
// more of them than MaxAttempts.
const mostVisits = MaxAttempts

// history tells the visits of a run, nil if each step was visited once at most, with one attempt, and none jumped.
func (r *run) history() []Visit {
	var told []Visit
	eventful := false
	if r.machine == nil {
		return r.historyInParallel()
	}
	steps := r.machine.History()
	for i, v := range r.visited {
		s := steps[i]
		outcome := VisitSuccess
		switch {
		case s.Status == flow.Skipped:
			outcome = VisitSkipped
		case s.By == flow.ByRetry:
			outcome = VisitRetry
		case s.Failed():
			outcome = VisitFailed
		}
		eventful = eventful || s.Visit > 1 || s.Attempts > 1 || s.By != ""
		told = append(told, Visit{
			StepID: v.result.StepID, Visit: s.Visit, Outcome: outcome, Attempts: v.attempts, Jump: v.result.Jump,
			Discarded: s.Discarded, Duration: v.result.Duration,
		})
	}
	if !eventful {
		return nil
	}
	if len(told) > mostVisits {
		told = slices.DeleteFunc(told, func(v Visit) bool { return v.Outcome == VisitSkipped })
	}
	return told
}

// stagedBefore is how much new text earlier visits of the step have put into files that is still staged, or may come
// back by a rollback: what many visits may stage is no more than what one may.
func (r *run) stagedBefore(v *visit) int64 {
	n := int64(0)
	for _, u := range r.visited {
		if u.step == v.step && u.err == nil && !u.discarded {
			n += u.newText
		}
	}
	return n
}

// forget drops the texts of the earlier visits of a step that has run again: results show its last visit alone, and
// conditions, inputs and templates see no other. What many visits hold is no more than what one may then.
func (r *run) forget(last *visit) {
	for _, v := range r.visited {
		if v.step != last.step || v == last || v.thin {
			continue
		}
		res := &v.result
		v.thin, v.outcome = true, actions.Outcome{}
		v.result = StepResult{
			StepID: res.StepID, Action: res.Action, Success: res.Success, Skipped: res.Skipped, Handled: res.Handled, FilesMatched: res.FilesMatched,
			EditsApplied: res.EditsApplied, Jump: res.Jump, Duration: res.Duration,
		}
		if slices.Equal(res.FilesMatched, last.result.FilesMatched) {
			v.result.FilesMatched = last.result.FilesMatched
		}
	}
}

// historyInParallel tells the visits of a run in parallel as the run in sequence would have had them.
func (r *run) historyInParallel() []Visit {
	var told []Visit
	eventful, ended := false, r.stopped != nil || r.stopAt < r.p.Len()
	for _, v := range r.shown() {
		outcome := VisitSuccess
		switch {
		case v.result.Skipped:
			outcome = VisitSkipped
		case v.err != nil:
			outcome = VisitFailed
		}
		eventful = eventful || len(v.attempts) > 1
		told = append(told, Visit{
			StepID: v.result.StepID, Visit: v.number, Outcome: outcome, Attempts: v.attempts, Discarded: ended, Duration: v.result.Duration,
		})
	}
	if !eventful {
		return nil
	}
	return told
}

// clone copies the visit so deep that the copy shares nothing.
func (v Visit) clone() Visit {
	v.Attempts, v.Jump = slices.Clone(v.Attempts), cloned(v.Jump)
	return v
}

type plainVisit Visit

type visitJSON struct {
	plainVisit
	Duration millis `json:"duration"`
}

// MarshalJSON writes the duration in milliseconds.
func (v Visit) MarshalJSON() ([]byte, error) {
	return json.Marshal(visitJSON{plainVisit(v), millis(v.Duration)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (v *Visit) UnmarshalJSON(data []byte) error {
	var j visitJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*v = Visit(j.plainVisit)
	v.Duration = time.Duration(j.Duration)
	return nil
}

type plainAttempt Attempt

type attemptJSON struct {
	plainAttempt
	Duration millis `json:"duration"`
}

// MarshalJSON writes the duration in milliseconds.
func (a Attempt) MarshalJSON() ([]byte, error) {
	return json.Marshal(attemptJSON{plainAttempt(a), millis(a.Duration)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (a *Attempt) UnmarshalJSON(data []byte) error {
	var j attemptJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*a = Attempt(j.plainAttempt)
	a.Duration = time.Duration(j.Duration)
	return nil
}
