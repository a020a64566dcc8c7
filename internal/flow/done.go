package flow

import (
	"fmt"
	"slices"
)

// Outcome is what came of an attempt, or of asking whether there should be one. The zero Outcome is none, and taken
// for Stopped.
type Outcome struct {
	// Status is Skipped (before the first attempt alone), Succeeded, Failed, Stopped or Interrupted.
	Status Status
	// Retryable means that another attempt could succeed where this one has Failed.
	Retryable bool
	// Retry is the number of the way back that holds, from 1 in the order of Step.Retries, and 0 if none does. It is
	// asked for after Succeeded and Failed, and not looked at if there is to be another attempt in this visit.
	Retry int
}

// Stage is what a move wants of the stage.
type Stage uint8

// Possible effects on the stage.
const (
	// Keep leaves it as it is.
	Keep Stage = iota
	// Back takes it back to the savepoint of the visit that the machine stood at.
	Back
	// Restart takes it back to the savepoint of the first visit of the target.
	Restart
	// Discard takes it back to the beginning: nothing of the run is left.
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

// By is the field of a step that has led on from it. "" is none of them: to the next in the list, or to the end.
type By string

// The fields that lead on.
const (
	ByNext   By = "next"
	ByOnFail By = "on_fail"
	ByRetry  By = "retry_if"
)

// Move is what follows from an outcome.
type Move struct {
	// Row is the row of the package's table that was applied.
	Row int
	// Stage is what becomes of the stage, and Savepoint the number of the one to go back to, unless it is Keep. Those
	// with higher numbers are not asked for any more.
	Stage     Stage
	Savepoint int
	// To is the index of the step that the machine stands at now, the number of steps at the end.
	To int
	// By is the field that has led there, even if it is the next step in the list.
	By By
	// Again means that the same visit goes on with another attempt.
	Again bool
	// Failed means that the visit has failed, Handled that something provides for that.
	Failed, Handled bool
	// Exhausted is set if the way back that holds could not be taken, nil if none held or it was taken. The visit has
	// failed then, even if its action has not.
	Exhausted *Exhausted
	// Bypassed are the indices of the steps that were passed over, in order.
	Bypassed []int
}

// Exhausted says which way back could not be taken.
type Exhausted struct {
	// Retry is the index of it in Step.Retries.
	Retry int
	// Target is the step that it leads to, and Visits how many visits that has had.
	Target, Visits int
}

// Done takes the outcome at the position that At has returned, and moves. An outcome that is impossible there counts
// as Stopped, so that nothing is committed on the word of a caller that has lost count: an attempt when none was left,
// a second attempt that was skipped, an unknown way back. At the end it does nothing.
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

// fits returns why an outcome is impossible at a position.
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

// leave ends a visit and goes ahead.
func (m *Machine) leave(at Position, o Outcome, move Move) Move {
	m.record(at, o, move)
	for i := at.Step + 1; i < move.To; i++ {
		m.status[i] = Bypassed
		move.Bypassed = append(move.Bypassed, i)
	}
	m.arrive(move.To)
	return move
}

// end ends the run before its last step is done. A visit without an attempt was none.
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

// discard marks the visits from number k on.
func (m *Machine) discard(k int) {
	for ; k < len(m.history); k++ {
		m.history[k].Discarded = true
	}
}
