package millrace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/flow"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/replay"
)

// newMachine returns the machine that determines the next step. The pipeline was checked, so there is an error only for
// the zero pipeline.
func (r *run) newMachine() (*flow.Machine, error) {
	p := r.p
	steps := make([]flow.Step, len(p.Steps))
	for i, s := range p.Steps {
		// An empty id has index 0, which no forward jump can lead to.
		steps[i] = flow.Step{
			OnFail: p.Index[s.OnFail], Next: p.Index[s.Next], MaxRetries: r.retries(i), MaxVisits: s.VisitLimit(),
			Awaited: r.handled[s.ID], Continue: p.Options.ContinueOnError,
		}
		for _, w := range s.RetryIf {
			steps[i].Retries = append(steps[i].Retries, flow.Retry{To: p.Index[w.Step], Restart: w.Restart})
		}
	}
	return flow.New(steps, p.MaxAttempts)
}

// sequence runs the steps one at a time, in the order of the machine.
func (r *run) sequence(ctx context.Context) {
	saves := r.saves
	var v *visit
	for at, ok := r.machine.At(); ok; at, ok = r.machine.At() {
		if at.Attempt == 1 {
			if ctx.Err() != nil && !r.late() { // a step that does not begin is not reported
				r.machine.Done(flow.Outcome{Status: flow.Stopped})
				return
			}
			saves = append(saves, r.stage.Savepoint())
			v = r.arrive(ctx, at.Step, at.Visit)
		}
		out := r.outcome(ctx, v, at)
		if is[*HeldError](r.stopped) {
			r.unbegun(v, r.stopped)
			return // the machine stays where it is, because the run will continue
		}
		move := r.machine.Done(out)
		if move.Stage == flow.Back || move.Stage == flow.Restart {
			r.stage.Rollback(saves[move.Savepoint])
		}
		if move.Stage == flow.Restart {
			for _, earlier := range r.visited[move.Savepoint:] {
				earlier.discarded = true
			}
			v.discarded = true
		}
		if !move.Again {
			r.leave(v, at, move)
		}
		if out.Status != flow.Stopped && out.Status != flow.Interrupted && !r.keepInSequence(ctx, v, move.Again) {
			return
		}
		if move.Again {
			r.wait(ctx, v, at.Attempt)
		}
	}
}

// outcome makes the next attempt of a visit and returns its outcome.
func (r *run) outcome(ctx context.Context, v *visit, at flow.Position) flow.Outcome {
	if r.over(ctx, v) {
		return flow.Outcome{Status: flow.Stopped}
	}
	r.attempt(ctx, v, at.Spent)
	var out flow.Outcome
	switch {
	case v.stop != nil:
		r.stopped = v.stop
		return flow.Outcome{Status: flow.Stopped}
	case v.result.Skipped:
		return flow.Outcome{Status: flow.Skipped}
	case r.over(ctx, v):
		if v.err == nil { // the attempt succeeded, but too late
			v.fail(cmp.Or(r.stopped, ctx.Err()))
		}
		return flow.Outcome{Status: flow.Interrupted}
	case v.err != nil:
		out.Retryable = retryable(r.p.Steps[v.step].Action, v.err)
	}
	if !out.Retryable || at.Left == 0 {
		out.Retry = r.wayBack(v)
	}
	if out.Status = flow.Succeeded; v.err != nil {
		out.Status = flow.Failed
	}
	return out
}

// wayBack returns the number of the first retry_if of the step that holds after a visit, from 1, or 0.
func (r *run) wayBack(v *visit) int {
	s := r.p.Steps[v.step]
	if len(s.RetryIf) == 0 {
		return 0
	}
	v.tell()
	r.see(v)
	way := 0
	err := panics.Apart(errGoexit, func() error {
		for i, w := range s.RetryIf {
			holds, err := w.Keyword != "" && v.says(w.Keyword), error(nil)
			if w.Keyword == "" {
				holds, _, err = w.When.Holds(facts{r})
			}
			if err != nil {
				return fmt.Errorf("retry_if %d: %w", i, err)
			}
			if holds {
				way = i + 1
				return nil
			}
		}
		return nil
	})
	if err != nil {
		v.fail(errors.Join(v.err, err))
		return 0
	}
	return way
}

// wait waits for the backoff after that many attempts.
func (r *run) wait(ctx context.Context, v *visit, attempts int) {
	const most = 30 * time.Second
	first := r.backoff(v.step)
	wait := first
	for range attempts - 1 {
		wait = min(2*wait, max(most, first))
	}
	if wait = r.cut(wait); is[*replay.Error](v.err) {
		wait = 0 // nothing outside was asked, so waiting is useless
	}
	r.log.Info("step is tried again", "step", v.result.StepID, "error", v.err, "wait", wait)
	r.notify(StepRetrying{Step: v.result.StepID, Visit: v.number, Attempt: attempts + 1, Err: v.err, Wait: wait})
	if wait > 0 {
		start := time.Now()
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		v.result.Duration += time.Since(start)
	}
}

// leave ends a visit and records which steps were bypassed, or will be visited again.
func (r *run) leave(v *visit, at flow.Position, move flow.Move) {
	if move.Row == 10 && !move.Failed {
		r.unbegun(v, r.stopped)
		return // it had no attempt, so it is not a visit
	}
	step := r.p.Steps[v.step]
	if x := move.Exhausted; x != nil {
		w := step.RetryIf[x.Retry]
		v.fail(&RetriesError{Step: w.Step, Holds: w.Holds(), Visits: x.Visits, Err: v.err})
	}
	v.result.Handled = move.Handled
	if move.By != "" {
		v.result.Jump = &Jump{To: r.p.Steps[move.To].ID, By: string(move.By)}
	}
	if at.Visit > 1 {
		v.result.Visits = at.Visit
	}
	if len(v.attempts) > 1 {
		v.result.Attempts = len(v.attempts)
	}
	r.visited = append(r.visited, v)
	r.finish(v)
	if v.action, v.kept = nil, nil; !v.result.Skipped {
		r.forget(v)
	}
	r.pass(v, move.By, move.To, move.Bypassed)
	if move.By != "" {
		r.log.Info("step leads on", "step", step.ID, "to", r.p.Steps[move.To].ID, "by", string(move.By))
		r.notify(StepJumped{From: step.ID, To: r.p.Steps[move.To].ID, By: string(move.By)})
	}
}

// pass records the steps that a finished visit bypasses, or jumps back to.
func (r *run) pass(v *visit, by flow.By, to int, bypassed []int) {
	for _, j := range bypassed {
		s := r.p.Steps[j]
		b := &visit{step: j, result: StepResult{
			StepID: s.ID, Action: s.Action.Spec().Name, Success: true, Skipped: true,
			SkipReason: fmt.Sprintf("bypassed by %s of '%s'", by, r.p.Steps[v.step].ID),
		}}
		r.see(b)
		if last := r.last[j]; last == nil || last.number == 0 { // else its last visit is shown
			r.last[j] = b
		}
	}
	if by == flow.ByRetry {
		clear(r.now[to:])
	}
}

// unbegun reports to the observer that a started step has not begun, because the run has ended.
func (r *run) unbegun(v *visit, why error) {
	v.result.ErrorCode = errorform.Canceled
	if why != nil {
		v.result.Error, v.result.ErrorCode = why.Error(), stepCode(why)
	}
	r.notify(StepFinished{Step: v.result.StepID, Index: v.step, Visit: v.number, Result: v.result,
		Duration: v.result.Duration})
}

// before returns the last visit that was executed before step i. It differs from previous only for a run that is not in
// sequence. It is nil if no step was executed before.
func (r *run) before(i int) *visit {
	if r.machine != nil {
		v, _ := r.previous()
		return v
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for j := i - 1; j >= 0; j-- {
		if v := r.now[j]; v != nil && !v.result.Skipped {
			return v
		}
	}
	return nil
}

// previous returns the last visit that was executed, and whether it has an error. It is nil if there is none.
func (r *run) previous() (v *visit, hasError bool) {
	if r.machine == nil {
		return nil, false
	}
	was, number, ok := r.machine.Previous()
	if !ok {
		return nil, false
	}
	return r.visited[number], was.HasError()
}

// forget drops the texts of the earlier visits of a step that has run again: results, conditions, inputs and templates
// only use its last visit. So many visits keep no more text than one visit.
func (r *run) forget(last *visit) {
	for _, v := range r.visited {
		if v.step != last.step || v == last || v.thin {
			continue
		}
		res := &v.result
		v.thin, v.outcome = true, actions.Outcome{}
		v.result = StepResult{
			StepID: res.StepID, Action: res.Action, Success: res.Success, Skipped: res.Skipped, Handled: res.Handled,
			FilesMatched: res.FilesMatched, EditsApplied: res.EditsApplied, Jump: res.Jump, Duration: res.Duration,
		}
		if slices.Equal(res.FilesMatched, last.result.FilesMatched) {
			v.result.FilesMatched = last.result.FilesMatched
		}
	}
}

// stagedBefore returns the size of the new text from earlier visits of the step that is still staged, or may come back
// by a rollback: many visits may stage no more than one visit.
func (r *run) stagedBefore(v *visit) int64 {
	n := int64(0)
	for _, u := range r.visited {
		if u.step == v.step && u.err == nil && !u.discarded {
			n += u.newText
		}
	}
	return n
}
