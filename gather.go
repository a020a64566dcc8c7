package millrace

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/flow"
	"github.com/millrace-go/millrace/risk"
)

// plan gathers the changes of the steps. It returns the same error as Run.
func (r *run) plan(ctx context.Context, t *tree) (*Plan, error) {
	p := &Plan{
		tree: t, stage: r.stage, name: r.p.Name, options: r.p.Options, budget: r.p.Bounds.Budget,
		digest: sync.OnceValue(r.p.Digest), mutates: r.p.Mutates(), markCommit: r.markCommit,
	}
	p.result = r.gather()
	p.failed = r.firstError(ctx)
	p.held, _ = p.failed.(*HeldError)
	_, canceled := p.failed.(*canceledError) // ctx may end right after firstError
	p.options.Force = p.options.Force || r.force
	p.abandoned = p.held == nil &&
		(canceled || r.stopped != nil || r.stopAt < r.p.Len() || r.machine != nil && !r.machine.Completed())
	if p.failed != nil {
		p.result.Success = false
	}
	if p.mutates && p.abandoned {
		p.result.OverallRiskLevel = r.riskSoFar(p.result)
	}
	if !p.abandoned {
		err := p.collect(ctx, r.stage, r.inTime)
		if err != nil && ctx.Err() != nil {
			err = cmp.Or(r.firstError(ctx), err) // reading was cut short
		}
		if err != nil {
			p.failed, p.abandoned, p.held = err, true, nil
			p.result.Success = false
		}
	}
	r.outsideSteps(p)
	r.manualSteps(p)
	r.account(p)
	p.result.RollbackPerformed = p.abandoned && r.rolledBack()
	p.result.History = r.history()
	if r.machine != nil {
		if warning := r.handlesFailure(); warning != "" && !p.abandoned && p.held == nil {
			p.result.Warnings = append(p.result.Warnings, warning)
		}
	}
	if step, ok := p.failed.(*StepError); ok {
		step.RolledBack = p.result.RollbackPerformed
	}
	if p.failed != nil {
		p.result.failed(p.failed)
	}
	r.notify(RiskJudged{
		Level: p.result.OverallRiskLevel, Files: p.result.FilesChanged.Count(), Edits: p.result.TotalEdits,
		Blocked: p.result.BlockReason,
	})
	return p, p.failed
}

// gather builds the result of the steps, without the commit.
func (r *run) gather() *Result {
	res := &Result{
		Name: r.p.Name, Success: true, TotalSteps: r.p.Len(), DryRun: true, Verbose: r.p.Options.Verbose,
		RunID: r.x.RunID, Commit: CommitOutcome{State: CommitNone}, FilesAffected: []string{}, Results: []StepResult{},
		Classification: r.p.Bounds.Classification, Cost: r.totalCost(),
	}
	for _, w := range problemsOf(r.p.Warnings) {
		res.Warnings = append(res.Warnings, w.String())
	}
	affected := make(map[string]bool)
	for _, v := range r.shown() {
		res.Results = append(res.Results, v.result)
		if !v.result.Failed() {
			res.CompletedSteps++
		}
	}
	for _, v := range r.counted() {
		res.TotalEdits += v.result.EditsApplied
		for _, f := range v.result.FilesMatched {
			affected[f] = true
		}
	}
	res.FilesAffected = append(res.FilesAffected, slices.Sorted(maps.Keys(affected))...)
	return res
}

// firstError returns the error of the first step that failed unhandled, or the reason why the run was cut short.
func (r *run) firstError(ctx context.Context) error {
	if ctx.Err() != nil {
		// a canceled step has not failed on its own
		return &canceledError{cause: context.Cause(ctx), ended: ctx.Err()}
	}
	if r.stopped != nil {
		return r.stopped
	}
	for _, v := range r.shown() {
		if v.err != nil && !v.result.Handled {
			return &StepError{Step: v.result.StepID, Index: v.step, Action: v.result.Action, Err: v.err}
		}
	}
	return nil
}

// riskSoFar returns the level of a failed run: the highest level of its steps and of all their edits. The joint change
// of the steps does not count, because it depends on how many steps ran concurrently with the failed step.
func (r *run) riskSoFar(res *Result) risk.Level {
	level := r.x.Risk.Assess(0, res.TotalEdits)
	for _, s := range res.Results {
		level = max(level, s.RiskLevel)
	}
	return level
}

// rolledBack reports whether completed work of a step was undone because the run failed. The staged part of a failed
// step does not count, because its progress can depend on scheduling. Nor do steps that ran concurrently with the
// failed step, and would not have run in sequence.
func (r *run) rolledBack() bool {
	return slices.ContainsFunc(r.counted(), func(v *visit) bool { return v.staged })
}

// shown returns the visits of a result: the visits of the first steps. Steps after the first unhandled failure are left
// out even if they ran concurrently, and so are steps after a step that a canceled run has not reached.
func (r *run) shown() []*visit {
	shown := slices.Clone(r.last)
	if r.machine == nil {
		shown = shown[:min(r.stopAt+1, len(shown))]
	}
	if i := slices.Index(shown, nil); i >= 0 {
		shown = shown[:i] // so that the place in a result is that in the pipeline
	}
	return shown
}

// counted returns the visits whose work is in the result: those that succeeded and that no restart has undone.
func (r *run) counted() []*visit {
	all := r.visited
	if r.machine == nil {
		all = r.shown()
	}
	return slices.DeleteFunc(slices.Clone(all), func(v *visit) bool { return v.discarded || v.err != nil })
}

// handlesFailure returns a warning if a run has ended in a step for failures while other steps have staged changes,
// because these are committed; "" otherwise.
func (r *run) handlesFailure() string {
	last, _ := r.previous()
	if last == nil {
		return ""
	}
	history := r.machine.History()
	var failed *visit // the executed visit before the last one
	for i, v := range r.visited {
		if v == last {
			break
		}
		if history[i].Executed() && history[i].HasError() {
			failed = v
		} else if history[i].Executed() {
			failed = nil
		}
	}
	if failed == nil {
		return ""
	}
	byError := r.p.Steps[last.step].AfterError()
	byJump := failed.result.Jump != nil && failed.result.Jump.By == string(flow.ByOnFail) &&
		failed.result.Jump.To == last.result.StepID
	if !byError && !byJump {
		return ""
	}
	for _, v := range r.counted() {
		if v != last && v.staged {
			return fmt.Sprintf(
				"the run ended in '%s', which handles a failure of '%s', and commits what other steps have staged; "+
					"end it in fail to commit nothing", last.result.StepID, failed.result.StepID)
		}
	}
	return ""
}

// mostVisits is the number of visits up to which a history includes skipped visits. Other visits have an attempt each,
// so there are at most MaxAttempts of them.
const mostVisits = definition.MaxAttempts

// history returns the visits of a run, nil if each step was visited at most once, with one attempt, and without a jump.
func (r *run) history() []Visit {
	var told []Visit
	eventful := false
	if r.machine == nil {
		return r.historyInParallel()
	}
	steps := r.machine.History()
	for i, v := range r.visited {
		s := steps[i]
		outcome := visitSuccess
		switch {
		case s.Status == flow.Skipped:
			outcome = visitSkipped
		case s.By == flow.ByRetry:
			outcome = visitRetry
		case s.Failed():
			outcome = visitFailed
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
		told = slices.DeleteFunc(told, func(v Visit) bool { return v.Outcome == visitSkipped })
	}
	return told
}

// historyInParallel returns the visits of a run in parallel as a run in sequence would list them.
func (r *run) historyInParallel() []Visit {
	var told []Visit
	eventful, ended := false, r.stopped != nil || r.stopAt < r.p.Len()
	for _, v := range r.shown() {
		outcome := visitSuccess
		switch {
		case v.result.Skipped:
			outcome = visitSkipped
		case v.err != nil:
			outcome = visitFailed
		}
		eventful = eventful || len(v.attempts) > 1
		told = append(told, Visit{
			StepID: v.result.StepID, Visit: v.number, Outcome: outcome, Attempts: v.attempts, Discarded: ended,
			Duration: v.result.Duration,
		})
	}
	if !eventful {
		return nil
	}
	return told
}

// account adds the use of the run's bounds to the result of a plan. If there is a change to judge, the use was counted
// with it.
func (r *run) account(p *Plan) {
	res, limit := p.result, r.spent.limit
	if r.p.Bounds.Deadline > 0 {
		res.DeadlineMet = new(!is[*DeadlineError](p.failed))
	}
	if p.abandoned || !p.mutates {
		use, err := r.used()
		if err != nil { // which the run has failed of
			use = budget.Use{USD: res.Cost, Edits: res.TotalEdits}
		}
		res.Budget = budgetReport(limit, use)
	}
	stop, stopped := p.failed.(*BudgetError)
	if limit.USD > 0 && res.Cost > limit.USD && !(stopped && stop.What == budgetUSD) {
		res.Warnings = append(res.Warnings, fmt.Sprintf("budget of %v is exceeded: %v were spent", limit.USD, res.Cost))
	}
}

// outsideSteps warns of effects of a run outside of the tree, or of effects that a dry run has left out.
func (r *run) outsideSteps(p *Plan) {
	visits := r.visited
	if r.machine == nil {
		visits = r.shown()
	}
	told := make(map[string]bool)
	for _, v := range visits {
		id := v.result.StepID
		if told[id] {
			continue
		}
		if v.acted {
			told[id] = true
			p.acted = append(p.acted, fmt.Sprintf("what step '%s' has done outside of the tree is not taken back", id))
		}
		if v.uncalled == id {
			told[id] = true
			p.result.Incomplete = true
			p.result.Warnings = append(p.result.Warnings,
				fmt.Sprintf(
					"the plan is incomplete, for step '%s' acts outside of the tree and was not run: run the pipeline instead", id))
		}
	}
}

// manualSteps warns of the steps that a dry run has not waited for.
func (r *run) manualSteps(p *Plan) {
	if !r.x.DryRun {
		return
	}
	for _, v := range r.shown() {
		if r.p.Steps[v.step].Manual && !v.result.Skipped {
			p.result.Warnings = append(p.result.Warnings,
				fmt.Sprintf("step '%s' is manual: a run waits there until a person lets it go on", v.result.StepID))
		}
	}
}
