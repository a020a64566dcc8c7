package flow

import (
	"fmt"
	"slices"
)

// Status is the status of a step in this sweep, the result of a visit, or the result of an attempt.
type Status uint8

// The statuses. Each comment begins with the things that can have the status.
const (
	// NotReached applies to steps: this sweep has not reached it.
	NotReached Status = iota
	// Skipped applies to steps, visits and outcomes: the condition was false, or the input was missing.
	Skipped
	// Bypassed applies to steps: a jump ahead has passed over it.
	Bypassed
	// Succeeded applies to steps, visits and outcomes.
	Succeeded
	// Failed applies to steps, visits and outcomes. For steps and visits it means that nothing handles the failure.
	Failed
	// Handled applies to steps and visits: it has failed, and a jump or a later step handles the failure.
	Handled
	// Stopped applies to outcomes: the run ends before this attempt.
	Stopped
	// Interrupted applies to outcomes: the run ends during this attempt.
	Interrupted
)

// String returns the status in words.
func (s Status) String() string {
	words := [...]string{"not reached", "skipped", "bypassed", "succeeded", "failed", "handled", "stopped",
		"interrupted"}
	if int(s) < len(words) {
		return words[s]
	}
	return fmt.Sprintf("Status(%d)", uint8(s))
}

// Visit is a completed visit.
type Visit struct {
	// Step is the index of the step, and Visit the number of this visit of the step, from 1.
	Step, Visit int
	// Attempts is the number of attempts, 0 if the visit was skipped.
	Attempts int
	// Status is Skipped, Succeeded, Failed or Handled. A success after which a way back was exhausted is a failure.
	Status Status
	// To is the next step, and By the field that led to it. To is the number of steps at the end.
	To int
	By By
	// Discarded means that a later restart or the end of the run rolled back the staged changes of the visit. The changes
	// of a failed visit are rolled back in any case.
	Discarded bool
}

// Executed reports whether the visit was not skipped.
func (v Visit) Executed() bool { return v.Status != Skipped }

// Failed reports whether the visit has failed, handled or not.
func (v Visit) Failed() bool { return v.Status == Failed || v.Status == Handled }

// HasError reports whether the visit has failed, or has led back.
func (v Visit) HasError() bool { return v.Failed() || v.By == ByRetry }

// record appends a completed visit to the history.
func (m *Machine) record(at Position, o Outcome, move Move) {
	v := Visit{Step: at.Step, Visit: at.Visit, Attempts: at.Attempt, Status: Succeeded, To: move.To, By: move.By}
	switch {
	case o.Status == Skipped:
		v.Status, v.Attempts = Skipped, 0
	case move.Handled:
		v.Status = Handled
	case move.Failed:
		v.Status = Failed
	}
	if o.Status == Stopped {
		v.Attempts-- // the run was stopped before this attempt
	}
	m.status[at.Step] = v.Status
	m.history = append(m.history, v)
}

// Status returns the status of step i in this sweep, for conditions and inputs: for a step before the current one its
// last result, for the current step and the steps after it NotReached.
func (m *Machine) Status(i int) Status { return m.status[i] }

// Visits returns the number of visits of step i in the whole run, including the current visit. A bypassed step has no
// visit.
func (m *Machine) Visits(i int) int { return m.visits[i] }

// Attempts returns the number of attempts in the whole run.
func (m *Machine) Attempts() int { return m.attempts }

// History returns the completed visits, in the order of their execution. At most as many of them are executed as the
// run has attempts.
func (m *Machine) History() []Visit { return slices.Clone(m.history) }

// Previous returns the last visit that was executed, in any sweep, and its number. ok is false if there was none.
func (m *Machine) Previous() (v Visit, number int, ok bool) {
	for k, v := range slices.Backward(m.history) {
		if v.Executed() {
			return v, k, true
		}
	}
	return Visit{}, 0, false
}
