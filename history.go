package millrace

import (
	"encoding/json"
	"slices"
	"time"
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
