package flow

import (
	"fmt"
	"slices"
)

// Outcome is the result of an attempt, or of the check whether to attempt the step. The zero Outcome is invalid and
// counts as Stopped.
type Outcome struct {
	// Status is Skipped (only before the first attempt), Succeeded, Failed, Stopped or Interrupted.
	Status Status
	// Retryable means that another attempt might succeed after this one has Failed.
	Retryable bool
	// Retry is the number of the way back that holds, from 1 in the order of Step.Retries, or 0 if none does. It matters
	// after Succeeded and Failed, and is ignored if this visit gets another attempt.
	Retry int
}

// Stage is the effect of a move on the stage.
type Stage uint8

// The effects on the stage.
const (
	// Keep leaves the stage unchanged.
	Keep Stage = iota
	// Back rolls it back to the savepoint of the visit that was current before the move.
	Back
	// Restart rolls it back to the savepoint of the first visit of the target.
	Restart
	// Discard rolls it back to the beginning: nothing of the run is left.
	Discard
)

// String returns "keep", "back", "restart" or "discard".
func (s Stage) String() string {
	switch s {
	case Keep:
		return "keep"
	case Back:
		return "back"
	case Restart:
		return "restart"
	case Discard:
		return "discard"
	}
	return fmt.Sprintf("Stage(%d)", uint8(s))
}

// By is the field of a step that determined the next position. "" means no field: the run went to the next step in the
// list, or to the end.
type By string

// The fields that determine the next position.
const (
	ByNext   By = "next"
	ByOnFail By = "on_fail"
	ByRetry  By = "retry_if"
)

// Move is the consequence of an outcome.
type Move struct {
	// Row is the row of the package's table that was applied.
	Row int
	// Stage is the effect on the stage. Savepoint is the number of the savepoint to go back to, unless Stage is Keep.
	// Savepoints with higher numbers are no longer needed.
	Stage     Stage
	Savepoint int
	// To is the index of the machine's present step, or the number of steps at the end.
	To int
	// By is the field that led to it, even if it is the next step in the list.
	By By
	// Again means that the same visit continues with another attempt.
	Again bool
	// Failed means that the visit has failed, Handled that a jump or a later step handles the failure.
	Failed, Handled bool
	// Exhausted is set if the way back that holds could not be taken. It is nil if none held or it was taken. If it is
	// set, the visit has failed, even if its action succeeded.
	Exhausted *Exhausted
	// Bypassed are the indices of the steps passed over, in order.
	Bypassed []int
}

// Exhausted is a way back that could not be taken.
type Exhausted struct {
	// Retry is its index in Step.Retries.
	Retry int
	// Target is the step that it leads to, and Visits the number of visits of that step.
	Target, Visits int
}

// Done records the outcome at the position that At has returned, and moves. An outcome that is impossible there counts
// as Stopped, so that nothing is committed for a caller that has lost count. Examples are an attempt when none was
// left, a second attempt that was skipped, an unknown way back. At the end Done does nothing.
func (m *Machine) Done(o Outcome) Move {
	at, ok := m.At()
	if !ok {
		return Move{Row: 11, To: m.step}
	}
	if m.fits(at, o) != nil {
		o = Outcome{Status: Stopped}
	}
	o.Retryable = o.Retryable && o.Status == Failed
	again := o.Retryable && at.Left > 0
	if again || o.Status != Succeeded && o.Status != Failed {
		o.Retry = 0
	}
	m.said = spell(m.said, o)
	if o.attempted() {
		m.attempts++
	}
	switch {
	case o.Status == Stopped || o.Status == Interrupted:
		return m.end(at, o, Move{Row: 10})
	case o.Status == Skipped:
		return m.leave(at, o, Move{Row: 1, To: at.Step + 1})
	case again:
		m.attempt++
		return Move{Row: 2, Stage: Back, Savepoint: at.Savepoint, To: at.Step, Again: true}
	case o.Retry > 0:
		return m.retry(at, o)
	case o.Status == Succeeded:
		if to := m.steps[at.Step].Next; to > 0 {
			return m.leave(at, o, Move{Row: 3, To: to, By: ByNext})
		}
		return m.leave(at, o, Move{Row: 3, To: at.Step + 1})
	}
	return m.fail(at, o, nil)
}

// attempted reports whether there was an attempt.
func (o Outcome) attempted() bool {
	return o.Status == Succeeded || o.Status == Failed || o.Status == Interrupted
}

// fits returns an error if an outcome is impossible at a position.
func (m *Machine) fits(at Position, o Outcome) error {
	switch {
	case o.Status != Skipped && o.Status != Stopped && !o.attempted():
		return fmt.Errorf("'%v' is not an outcome", o.Status)
	case o.Status == Skipped && at.Attempt > 1:
		return fmt.Errorf("step %d cannot be skipped after an attempt", at.Step)
	case o.attempted() && at.Spent:
		return fmt.Errorf("step %d cannot be attempted after %d attempts", at.Step, m.maxSteps)
	case o.Retry < 0 || o.Retry > len(m.steps[at.Step].Retries):
		return fmt.Errorf("step %d has no retry number %d", at.Step, o.Retry)
	}
	return nil
}

// retry takes a way back, or fails if its target has no visits left.
func (m *Machine) retry(at Position, o Outcome) Move {
	way := m.steps[at.Step].Retries[o.Retry-1]
	if visits := m.visits[way.To]; visits >= m.steps[way.To].MaxVisits {
		return m.fail(at, o, &Exhausted{Retry: o.Retry - 1, Target: way.To, Visits: visits})
	}
	failed := o.Status == Failed
	move := Move{Row: 4, To: way.To, By: ByRetry, Failed: failed, Handled: failed}
	if failed {
		move.Stage, move.Savepoint = Back, at.Savepoint
	}
	m.record(at, o, move)
	first := slices.IndexFunc(m.history, func(v Visit) bool { return v.Step == way.To && !v.Discarded })
	if way.Restart && first >= 0 {
		move.Stage, move.Savepoint = Restart, first
		m.discard(first)
	}
	clear(m.status[way.To:])
	m.arrive(way.To)
	return move
}

// fail ends a visit that has failed.
func (m *Machine) fail(at Position, o Outcome, exhausted *Exhausted) Move {
	s := m.steps[at.Step]
	move := Move{Stage: Back, Savepoint: at.Savepoint, To: at.Step + 1, Failed: true, Exhausted: exhausted}
	switch {
	case s.OnFail > 0:
		move.Row, move.To, move.By, move.Handled = 6, s.OnFail, ByOnFail, true
	case s.Awaited:
		move.Row, move.Handled = 7, true
	case s.Continue:
		move.Row = 8
	default:
		move.Row = 9
		return m.end(at, o, move)
	}
	return m.leave(at, o, move)
}

// leave ends a visit and moves ahead.
func (m *Machine) leave(at Position, o Outcome, move Move) Move {
	m.record(at, o, move)
	for i := at.Step + 1; i < move.To; i++ {
		m.status[i] = Bypassed
		move.Bypassed = append(move.Bypassed, i)
	}
	m.arrive(move.To)
	return move
}

// end ends the run early. A visit without an attempt is not recorded.
func (m *Machine) end(at Position, o Outcome, move Move) Move {
	move.Failed = at.Attempt > 1 || o.attempted()
	move.Stage, move.Savepoint, move.To = Discard, 0, len(m.steps)
	if move.Failed {
		m.record(at, o, move)
	}
	m.discard(0)
	m.step = len(m.steps)
	return move
}

// discard marks the visits from number k on as discarded.
func (m *Machine) discard(k int) {
	for ; k < len(m.history); k++ {
		m.history[k].Discarded = true
	}
}
