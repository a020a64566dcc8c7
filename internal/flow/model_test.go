package flow_test

import (
	"slices"

	"github.com/millrace-go/millrace/internal/flow"
)

// model computes the moves that follow from outcomes, according to the table in the package's comment. It keeps only
// the past visits, derives everything else from them each time, and calls itself recursively.
type model struct {
	steps    []flow.Step
	maxSteps int
}

// moves returns the moves that follow from the outcomes, starting with an attempt of step i.
func (w model) moves(past []flow.Visit, i, attempt int, outcomes []flow.Outcome) []flow.Move {
	n := len(w.steps)
	switch {
	case len(outcomes) == 0:
		return nil
	case i == n:
		return append([]flow.Move{{Row: 11, To: n}}, w.moves(past, n, 0, outcomes[1:])...)
	}
	o, s, spent := outcomes[0], w.steps[i], attempt-1
	for _, v := range past {
		spent += v.Attempts
	}
	made := o.Status == flow.Succeeded || o.Status == flow.Failed || o.Status == flow.Interrupted
	odd := !made && o.Status != flow.Skipped && o.Status != flow.Stopped
	if odd || made && spent >= w.maxSteps || o.Status == flow.Skipped && attempt > 1 || o.Retry < 0 || o.Retry > len(s.Retries) {
		o, made = flow.Outcome{Status: flow.Stopped}, false
	}
	now := flow.Visit{Step: i, Visit: 1 + count(past, i), Attempts: attempt - 1}
	if made {
		now.Attempts++
	}
	move := flow.Move{Savepoint: len(past)}
	ended := false
	failed := o.Status == flow.Failed

	if failed && o.Retryable && attempt <= s.MaxRetries {
		move.Row, move.Stage, move.To, move.Again = 2, flow.Back, i, true
		return append([]flow.Move{move}, w.moves(past, i, attempt+1, outcomes[1:])...)
	}
	switch {
	case o.Status == flow.Skipped:
		move.Row, move.To, now.Status = 1, i+1, flow.Skipped
	case o.Status == flow.Stopped || o.Status == flow.Interrupted:
		move.Row, move.Failed, now.Status, ended = 10, now.Attempts > 0, flow.Failed, true
	case o.Retry > 0 && w.open(past, i, s.Retries[o.Retry-1].To):
		move.Row, move.By, move.To = 4, flow.ByRetry, s.Retries[o.Retry-1].To
		move.Failed, move.Handled, now.Status = failed, failed, flow.Succeeded
		if failed {
			move.Stage, now.Status = flow.Back, flow.Handled
		}
	case o.Retry == 0 && !failed:
		move.Row, move.To, now.Status = 3, i+1, flow.Succeeded
		if s.Next > 0 {
			move.To, move.By = s.Next, flow.ByNext
		}
	default:
		move.Failed, move.Stage, move.To, now.Status = true, flow.Back, i+1, flow.Failed
		if o.Retry > 0 {
			target := s.Retries[o.Retry-1].To
			move.Exhausted = &flow.Exhausted{Retry: o.Retry - 1, Target: target, Visits: count(append(slices.Clone(past), now), target)}
		}
		switch {
		case s.OnFail > 0:
			move.Row, move.To, move.By, move.Handled, now.Status = 6, s.OnFail, flow.ByOnFail, true, flow.Handled
		case s.Awaited:
			move.Row, move.Handled, now.Status = 7, true, flow.Handled
		case s.Continue:
			move.Row = 8
		default:
			move.Row, ended = 9, true
		}
	}
	if ended {
		move.To, move.Stage, move.Savepoint = n, flow.Discard, 0
	}
	now.To, now.By = move.To, move.By
	past = slices.Clone(past)
	if now.Attempts > 0 || now.Status == flow.Skipped {
		past = append(past, now)
	}
	if move.Row == 4 && s.Retries[o.Retry-1].Restart {
		first := slices.IndexFunc(past, func(v flow.Visit) bool { return v.Step == move.To && !v.Discarded })
		if first >= 0 {
			move.Stage, move.Savepoint = flow.Restart, first
			for k := range past[first:] {
				past[first+k].Discarded = true
			}
		}
	}
	if move.Stage == flow.Keep {
		move.Savepoint = 0
	}
	if move.Row != 4 && !ended {
		for between := i + 1; between < move.To; between++ {
			move.Bypassed = append(move.Bypassed, between)
		}
	}
	return append([]flow.Move{move}, w.moves(past, move.To, 1, outcomes[1:])...)
}

// open reports whether a jump back to the target is possible from step i.
func (w model) open(past []flow.Visit, i, target int) bool {
	most := w.steps[target].MaxVisits
	if most == 0 {
		most = 4
	}
	visits := count(past, target)
	if i == target {
		visits++
	}
	return visits < most
}

// count returns how many of the visits are of step i.
func count(past []flow.Visit, i int) (n int) {
	for _, v := range past {
		if v.Step == i {
			n++
		}
	}
	return n
}

// status returns the status of step i after the visits, from the last of them that concerns it.
func status(past []flow.Visit, i int) flow.Status {
	if len(past) == 0 {
		return flow.NotReached
	}
	switch v := past[len(past)-1]; {
	case v.By == flow.ByRetry && v.To <= i:
		return flow.NotReached
	case v.Step == i:
		return v.Status
	case v.Status != flow.Failed && v.Step < i && i < v.To:
		return flow.Bypassed
	}
	return status(past[:len(past)-1], i)
}
