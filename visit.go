package millrace

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/outcome"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/millrace-go/millrace/internal/watch"
	"github.com/millrace-go/millrace/wording"
)

var errGoexit = errors.New("the action has ended its goroutine")

// visit is one arrival at a step, with the effects of the step.
type visit struct {
	step      int // its index
	number    int // of the arrival at this step, from 1
	result    StepResult
	outcome   actions.Outcome
	err       error
	staged    bool           // the step has changed something
	newText   int64          // bytes of new text in files
	discarded bool           // a restart has undone its staged changes
	thin      bool           // its texts were dropped, see forget
	entered   bool           // its condition holds
	action    actions.Action // with all templates expanded; nil before the first attempt
	kept      any            // by the action's Validate
	uncalled  string         // id of the step that was not run in a dry run, this step or a step that it depends on
	acted     bool           // the action was allowed to act outside of the tree
	brought   int64          // bytes of new text from a workspace in this attempt
	changes   []scratch.Change
	attempts  []Attempt
	cost      budget.Cost     // of all attempts
	stop      error           // why the run ends before the next attempt
	depth     int             // in a kept run: the number of deltas before its beginning
	host      context.Context // the result of the host's StepContext; nil without
}

// visit makes the single visit of a step of a pipeline that does not jump.
func (r *run) visit(ctx context.Context, i int) {
	v := r.arrive(ctx, i, 1)
	for again := true; again; {
		r.attempt(ctx, v, false)
		// A visit that will not be reported, because an earlier step has failed, need not be retried.
		again = v.stop == nil && v.err != nil && ctx.Err() == nil && len(v.attempts) <= r.retries(i) &&
			retryable(r.p.Steps[i].Action, v.err) && r.mayRun(i)
		if again {
			if err := r.keepInParallel(ctx, v, false); err != nil {
				r.unbegun(v, err)
				return
			}
			r.wait(ctx, v, len(v.attempts))
			again = ctx.Err() == nil || r.late() // the next attempt records that
		}
	}
	if v.stop != nil && (len(v.attempts) == 0 || !isBound(v.stop)) {
		r.halt(v)
		return
	}
	if len(v.attempts) > 1 {
		v.result.Attempts = len(v.attempts)
	}
	v.result.Handled = v.err != nil && r.handled[v.result.StepID] && v.stop == nil && !is[*DeadlineError](v.err)
	r.finish(v)
	if v.stop == nil {
		_ = r.keepInParallel(ctx, v, true) // an error has ended the run
	}
}

// attempt runs the action of a step, or skips the step, or sets the reason why the run has to end before that. With
// spent, the run has used up its attempts, so the action must not run.
func (r *run) attempt(ctx context.Context, v *visit, spent bool) {
	start := time.Now()
	last, lastErr := v.result, v.err
	duration := v.result.Duration // of the attempts before
	v.result = StepResult{StepID: v.result.StepID, Action: v.result.Action}
	v.outcome, v.staged, v.brought, v.changes = actions.Outcome{}, false, 0, nil
	// A panic outside of the action's Run must not crash the program either.
	v.err = panics.Apart(errGoexit, func() error {
		if !v.entered {
			reason, err := r.whyNot(ctx, v)
			if v.result.Skipped, v.result.SkipReason = reason != "", reason; err != nil || reason != "" {
				return err
			}
			v.entered = true
		}
		if v.stop = r.mayBegin(v, spent); v.stop == nil {
			v.stop = r.enter(ctx, v)
		}
		if v.stop != nil {
			return nil
		}
		return r.perform(ctx, v)
	})
	if spent && v.err != nil {
		// a failure would need an attempt, and none is left
		v.stop = &executionsError{Step: v.result.StepID, Limit: r.machine.Attempts()}
	}
	if v.stop != nil {
		if len(v.attempts) > 0 {
			v.result, v.err = last, lastErr // the visit is over, with the attempt before
		}
		return
	}
	took := time.Since(start)
	v.result.Duration, v.result.Cost = duration+took, r.costOf(v)
	if !v.result.Skipped {
		v.attempts = append(v.attempts, attemptOf(v.err, took))
	}
}

// tell sets success or the error in the result.
func (v *visit) tell() {
	res := &v.result
	if res.Success = v.err == nil; !res.Success {
		res.Error, res.ErrorCode = stepMessage(res.Action, v.err), stepCode(v.err)
	}
}

// fail marks the visit as failed, even if its action succeeded: then its staged changes are undone, and it keeps its
// text.
func (v *visit) fail(err error) {
	if v.err == nil {
		res := v.result
		v.result = StepResult{
			StepID: res.StepID, Action: res.Action, Output: res.Output, Data: res.Data, Warnings: res.Warnings,
			Duration: res.Duration, Cost: res.Cost,
		}
		v.outcome, v.staged = actions.Outcome{}, false
	}
	v.err = err
}

// says reports whether the text of the step contains a keyword of retry_if.
func (v *visit) says(keyword string) bool {
	res := &v.result
	return strings.Contains(res.Output, keyword) || strings.Contains(res.AggregatedContent, keyword) ||
		strings.Contains(res.Error, keyword)
}

// see makes a visit the visit that conditions, inputs and templates use for its step.
func (r *run) see(v *visit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now[v.step] = v
}

// finish records a visit, logs it and sends the event.
func (r *run) finish(v *visit) {
	v.tell()
	res := &v.result
	if a, ok := definition.ToolOf(r.p.Steps[v.step].Action); ok && !res.Skipped {
		res.Tool = a.Tool
	}
	r.see(v)
	r.mu.Lock()
	r.last[v.step] = v
	if v.err != nil && !res.Handled && !r.p.Options.ContinueOnError {
		r.stopAt = min(r.stopAt, v.step)
	}
	r.mu.Unlock()
	if v.err != nil {
		if p, ok := errors.AsType[*panics.Error](v.err); ok {
			r.log.Error("action panicked", "step", res.StepID, "panic", p.Value, "stack", string(p.Stack))
		}
		r.log.Info("step failed", "step", res.StepID, "error", v.err)
	} else {
		r.log.Debug("step finished", "step", res.StepID, "skipped", res.Skipped, "files", len(res.FilesMatched),
			"edits", res.EditsApplied)
	}
	r.notify(StepFinished{Step: res.StepID, Index: v.step, Visit: v.number, Result: *res, Duration: res.Duration})
}

// skipReason returns the reason to skip the step, or "". A step whose only input was skipped or has failed has nothing
// to work on, unless its own condition is about that very step.
func (r *run) skipReason(ctx context.Context, i int) (string, error) {
	s := r.p.Steps[i]
	if !s.When.IsZero() {
		when, err := r.expandCondition(ctx, i)
		if err != nil {
			return "", err
		}
		holds, reason, err := when.Holds(facts{r})
		if err != nil {
			return "", err
		}
		if !holds {
			return reason, nil
		}
	}
	if s.Action.Spec().Input == actions.InputNone {
		return "", nil // its inputs only set the order
	}
	if s.Input == definition.InputPrevious {
		switch v, _ := r.previous(); {
		case v == nil:
			return "no step was executed before", nil
		case v.err != nil:
			return fmt.Sprintf("step '%s', which was executed before, failed", v.result.StepID), nil
		}
		return "", nil
	}
	first := ""
	for _, ref := range s.Inputs() {
		in := r.result(ref)
		switch {
		case s.When.StepRef() == ref, in != nil && in.ran():
			return "", nil
		case first != "":
		case in != nil && in.Skipped:
			first = fmt.Sprintf("input step '%s' was skipped", ref)
		default:
			first = fmt.Sprintf("input step '%s' failed", ref)
		}
	}
	return first, nil
}

// perform runs the action of a step, from savepoint to result.
func (r *run) perform(ctx context.Context, v *visit) error {
	s, res := r.p.Steps[v.step], &v.result
	spec := s.Action.Spec()
	if v.action == nil { // the same values hold for all attempts
		var err error
		if v.action, v.kept, err = r.expand(ctx, v.step); err != nil {
			return err
		}
	}
	action := v.action
	if r.retries(v.step) > 0 {
		action = params.Clone(action).(actions.Action) // it may change its parameters
	}
	view := r.stage.For(s.ID, spec.ReadOnly)
	files := r.filesOf(s, action)
	if spec.Input == actions.InputFiles && len(files) == 0 {
		res.Warnings = append(res.Warnings, wording.Of(noFiles(s), r.x.Words))
		if !spec.ReadOnly {
			res.RiskLevel = r.x.Risk.Assess(0, 0)
		}
		return actions.Permanent(checkExpect(r.expect(s), 0, 0)) // another attempt would have no files either
	}

	call, over := r.call(s, view, files, res)
	call.Kept, call.Visit, call.Attempt = v.kept, v.number, len(v.attempts)+1
	call.OnSpend = func(cost budget.Cost) { r.spend(v, cost) }
	call.StagedBefore = r.stagedBefore(v)
	leaveWorkspace, endOutput := r.workspaceOf(v, view, call), r.printed(v, call)
	savepoint, succeeded := r.stage.Savepoint(), false
	defer func() { // even if the action ends its goroutine
		endOutput()
		leaveWorkspace()
		view.End()
		over()
		if !succeeded && !spec.ReadOnly {
			r.stage.Rollback(savepoint)
		}
	}()
	var out actions.Outcome
	hosts, leave := v.within(ctx)
	defer leave()
	limited, cancel := r.limited(hosts, s)
	defer cancel()
	err := panics.Protect(func() (err error) {
		out, err = r.act(limited, v, action, call)
		return readable(action, outcome.Take(&out, call.Limits.ShownBytes(), err))
	})
	view.End()
	switch {
	case r.late():
		err = &DeadlineError{After: r.p.Bounds.Deadline, Step: s.ID, Err: err}
	case ctx.Err() == nil && context.Cause(limited) == errLate:
		err = &TimeoutError{After: r.timeout(s), Err: err}
	case err == nil:
		err = ctx.Err()
	}
	if err == nil {
		// For steps that only read, the guard counts the files that the action reports as matched.
		err = checkExpect(r.expect(s), len(out.Files), out.Edits)
		if expect, ok := errors.AsType[*ExpectError](err); ok {
			expect.Notes = res.Warnings // such as the nearest lines
		}
	}
	if err != nil {
		res.Output, res.Data = out.Output, out.Data
		res.report(out.Reports) // the failures of single files
		return err
	}
	succeeded = true
	res.take(&out)
	v.outcome, v.newText = out, call.Staged()+v.brought
	if !spec.ReadOnly {
		changed := r.stage.ChangedSince(savepoint)
		v.staged = len(changed) > 0
		res.RiskLevel = r.x.Risk.Assess(len(changed), out.Edits)
		for _, path := range changed {
			r.notify(FileStaged{Step: s.ID, Path: path})
		}
	}
	return nil
}

// arrive begins a visit.
func (r *run) arrive(ctx context.Context, i, number int) *visit {
	s := r.p.Steps[i]
	v := &visit{step: i, number: number, result: StepResult{StepID: s.ID, Action: s.Action.Spec().Name}}
	if r.kept != nil && r.machine != nil { // one step at a time
		v.depth = len(r.kept.parents) - 1
	}
	started := StepStarted{Step: s.ID, Index: i, Visit: number, Action: v.result.Action}
	r.notify(started)
	if r.x.StepContext != nil {
		v.host = r.x.StepContext(ctx, started)
	}
	return v
}

// within returns the context of an attempt: it has the values of the host, and ends with ctx. The caller must call the
// function when the attempt is over.
func (v *visit) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if v.host == nil {
		return ctx, func() {}
	}
	return watch.Within(v.host, ctx)
}

// mayBegin returns the reason why there must not be another attempt of a step, or nil. If all is set, the run has used
// up its attempts.
func (r *run) mayBegin(v *visit, all bool) error {
	switch {
	case all:
		return &executionsError{Step: v.result.StepID, Limit: r.machine.Attempts()}
	case r.late():
		return r.missed(v.result.StepID)
	}
	return r.withinBudget(v.step)
}
