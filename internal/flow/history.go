package flow

import (
	"fmt"
	"slices"
)

// Status describes how a step stands in this sweep, how a visit has ended, or what came of an attempt.
type Status uint8

// The statuses. The first comments say where they occur.
const (
	// NotReached is of steps: this sweep has not been there.
	NotReached Status = iota
	// Skipped applies to steps, visits and outcomes: the condition was false, or the input was missing.
	Skipped
	// Bypassed is of steps: a jump ahead has passed over it.
	Bypassed
	// Succeeded is of steps, visits and outcomes.
	Succeeded
	// Failed applies to steps, visits and outcomes. For steps and visits it means that nothing handles the failure.
	Failed
	// Handled is of steps and visits: it has failed, and a jump or a later step provides for that.
	Handled
	// Stopped is of outcomes: the run ends before this attempt.
	Stopped
	// Interrupted is of outcomes: the run ends at this attempt, which had begun.
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

// Visit is a visit that is over.
type Visit struct {
	// Step is the index of the step, and Visit the number of this visit of it, from 1.
	Step, Visit int
	// Attempts is how many there were, 0 if it was skipped.
	Attempts int
	// Status is Skipped, Succeeded, Failed or Handled. A success after which a way back was exhausted is a failure.
	Status Status
	// To and By say where it has led and by which field. To is the number of steps at the end.
	To int
	By By
	// Discarded means that a later restart or the end of the run took back what the visit has staged. The changes of a
	// failed visit are gone in any case.
	Discarded bool
}

// Executed reports whether the visit was not skipped.
func (v Visit) Executed() bool { return v.Status != Skipped }

// Failed reports whether the visit has failed, handled or not.
func (v Visit) Failed() bool { return v.Status == Failed || v.Status == Handled }

// HasError reports whether the visit has failed, or has led back.
func (v Visit) HasError() bool { return v.Failed() || v.By == ByRetry }

// record puts a visit that is over into the history.
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
		v.Attempts-- // the attempt that it was stopped before
	}
	m.status[at.Step] = v.Status
	m.history = append(m.history, v)
}

// Status returns how step i stands in this sweep, as conditions and inputs see it: of each step before the current step
// its last outcome, of the current step and the steps after it NotReached.
func (m *Machine) Status(i int) Status { return m.status[i] }

// Visits returns how many visits step i has had in the whole run, the current visit included. A step that was only
// bypassed has none.
func (m *Machine) Visits(i int) int { return m.visits[i] }

// Attempts returns how many attempts there were in the whole run.
func (m *Machine) Attempts() int { return m.attempts }

// History returns the visits that are over, in the order of their execution. Those that are not skipped are at most
// as many as the attempts of the run.
func (m *Machine) History() []Visit { return slices.Clone(m.history) }

// Previous returns the last visit that was executed, in whichever sweep, and its number. ok is false if there was none.
func (m *Machine) Previous() (v Visit, number int, ok bool) {
	for k, v := range slices.Backward(m.history) {
		if v.Executed() {
			return v, k, true
		}
	}
	return Visit{}, 0, false
}
