package millrace

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/flow"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/schedule"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/workspace"
	"github.com/millrace-go/millrace/risk"
	"golang.org/x/sync/errgroup"
)

// run is one execution of a pipeline on a stage.
type run struct {
	x       Executor
	p       Pipeline
	stage   *stage.Stage
	log     *slog.Logger
	handled map[string]bool // steps whose failure a later step waits for

	mu       sync.Mutex
	specs    []actions.Spec // of the steps, with what the host's tools say
	identity func() string  // of the run, for services outside

	now    []*visit // by step: what other steps know of it; nil for one that has not run in this sweep
	last   []*visit // by step: the last visit in any sweep, which the result shows; nil for one that has not run
	stopAt int      // steps from this index on do not run: the first unhandled failure comes before them

	// Of a run in sequence:
	machine *flow.Machine
	visited []*visit          // in the order of execution, as the machine numbers them
	saves   []stage.Savepoint // of the visits that a run that is resumed has had
	stopped error             // why the run ended before its end, if it was not a step that failed; in parallel too

	scratch  workspace.Space
	spent    spending
	deadline time.Time // zero for none

	kept  *keeping // nil for a run that is not kept
	force bool     // what Force of the options lifts is lifted in any case
}

// stage runs all steps and judges the outcome, of a run that was kept the rest. The plan is nil only if such a run cannot
// be resumed.
func (x Executor) stage(ctx context.Context, t *tree, p Pipeline, s *Saved) (*Plan, error) {
	start := time.Now()
	x.Observe, x.Logger, x.StepContext = t.x.Observe, t.x.Logger, t.x.StepContext
	stage := stage.New(t.fs)
	t.held.Add(stage.Close)
	stage.SetGuard(t.policy)
	if !x.ReplaceForeign {
		stage.RefuseForeign()
	}
	stage.RefuseMounted(x.InPlace)
	stage.SetMaxRead(x.limits().FileBytes())
	r := &run{
		x: x, p: p, stage: stage, log: x.logger().With("pipeline", p.name),
		handled: p.handledSteps(), stopAt: p.Len(),
		scratch: workspace.Space{Policy: x.Commands, Shared: x.Shared, FS: t.fs, Note: t.notes.Add},
		specs:   p.specs(x.Tools), identity: sync.OnceValue(x.identityOf(p)),
		now: make([]*visit, p.Len()), last: make([]*visit, p.Len()),
		spent: spending{limit: p.bounds.budget.Within(x.Budget), steps: make([]budget.Cost, p.Len())},
	}
	r.log.DebugContext(ctx, "run started", "steps", p.Len(), "parallel", p.options.Parallel)
	steps, cancel, waves, err := r.begin(inStep(ctx), t, s)
	defer cancel()
	if err != nil {
		return nil, err
	}
	defer r.scratch.Close()
	if r.machine != nil {
		r.sequence(steps)
	} else {
		for _, wave := range waves {
			r.runWave(steps, wave)
		}
		r.settle()
	}
	r.scratch.Close()
	r.spent.end()
	plan, err := r.plan(ctx, t)
	plan.since = start
	plan.result.TotalDuration = time.Since(start)
	if r.kept != nil && s != nil {
		plan.since, plan.result.TotalDuration = s.Began, r.kept.running()
	}
	r.log.DebugContext(ctx, "run worked out", "result", plan.result.String(), "duration", plan.result.TotalDuration)
	plan.result.Warnings = t.notes.Take(plan.result.Warnings)
	return plan, err
}

// plan gathers what the steps have done. The error is the one that Run returns.
func (r *run) plan(ctx context.Context, t *tree) (*Plan, error) {
	p := &Plan{
		tree: t, stage: r.stage, name: r.p.name, options: r.p.options, budget: r.p.bounds.budget,
		digest: sync.OnceValue(r.p.Digest), mutates: r.p.Mutates(), kept: r.kept,
	}
	p.result = r.gather()
	p.failed = r.firstError(ctx)
	p.held, _ = p.failed.(*HeldError)
	p.options.Force = p.options.Force || r.force
	p.abandoned = p.held == nil && (ctx.Err() != nil || r.stopped != nil || r.stopAt < r.p.Len() || r.machine != nil && !r.machine.Completed())
	if p.failed != nil {
		p.result.Success = false
	}
	if p.mutates && p.abandoned {
		p.result.OverallRiskLevel = r.riskSoFar(p.result)
	}
	if !p.abandoned {
		err := p.collect(ctx, r.stage, r.inTime)
		if err != nil && ctx.Err() != nil {
			err = cmp.Or(r.firstError(ctx), err) // it has not read on
		}
		if err != nil {
			p.failed, p.abandoned, p.held = err, true, nil
			p.result.Success = false
		}
	}
	p.outsideSteps(r)
	p.manualSteps(r)
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

// riskSoFar is the level of a run that failed: the highest of its steps, and that of all their edits. What the steps
// have changed together does not count, for it depends on how many of them ran beside the one that failed.
func (r *run) riskSoFar(res *Result) risk.Level {
	level := r.x.Risk.Assess(0, res.TotalEdits)
	for _, s := range res.Results {
		level = max(level, s.RiskLevel)
	}
	return level
}

// rolledBack reports whether a step that had done its work was taken back, because all is given up. What a failed
// step had staged of itself does not count: how far it got can depend on the schedule, and so do steps that ran beside
// the failed one, and in sequence would not have.
func (r *run) rolledBack() bool {
	return slices.ContainsFunc(r.counted(), func(v *visit) bool { return v.staged })
}

// shown are the visits that a result tells of: those of the first steps. Steps after the first unhandled failure are left
// out although they may have run beside it, and so are those after one that a canceled run has not come to.
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

// counted are the visits whose work is in the result: those that have succeeded and were not taken back by a restart.
func (r *run) counted() []*visit {
	all := r.visited
	if r.machine == nil {
		all = r.shown()
	}
	return slices.DeleteFunc(slices.Clone(all), func(v *visit) bool { return v.discarded || v.err != nil })
}

// gather makes the result of the steps alone.
func (r *run) gather() *Result {
	res := &Result{
		Name: r.p.name, Success: true, TotalSteps: r.p.Len(), DryRun: true, Verbose: r.p.options.Verbose, RunID: r.x.RunID,
		Commit: CommitOutcome{State: CommitNone}, FilesAffected: []string{}, Results: []StepResult{},
		Classification: r.p.bounds.classification, Cost: r.totalCost(),
	}
	for _, w := range r.p.warnings {
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

// firstError returns the error of the first step that failed unhandled, or why the run was cut short.
func (r *run) firstError(ctx context.Context) error {
	if ctx.Err() != nil {
		return &canceledError{cause: context.Cause(ctx), ended: ctx.Err()} // a step that was cancelled has not failed by itself
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

// notify calls the observer, if there is one.
func (r *run) notify(e Event) {
	if r.x.Observe != nil {
		r.x.Observe(e)
	}
}

// waves puts the steps into the order in which they run: those of a wave at the same time.
func (r *run) waves(ctx context.Context) [][]int {
	waves := make([][]int, len(r.p.steps))
	steps := make([]schedule.Step, len(r.p.steps))
	for i := range steps {
		waves[i] = []int{i}
		if r.p.options.Parallel {
			// An action that does not say what it touches may meet anything.
			if err := panics.Protect(func() error { steps[i] = r.p.scheduled(i, true); return nil }); err != nil {
				r.log.ErrorContext(ctx, "action panicked in Touches", "step", r.p.steps[i].ID, "error", err)
				steps[i] = r.p.scheduled(i, false)
			}
			manual := r.p.steps[i].Manual // nothing goes on beside a step that waits
			steps[i].Outside, steps[i].Exclusive = r.specs[i].Outside || manual, r.specs[i].Exclusive || manual
		}
	}
	if r.p.options.Parallel {
		waves = schedule.Waves(ctx, steps, r.stage)
	}
	return waves
}

// scheduled is a step with what its order depends on: every step that it names, by its inputs, its condition or its
// templates, and, if its action is asked and has its parameters already, what it can meet in the file system.
func (p Pipeline) scheduled(i int, ask bool) schedule.Step {
	s, refs := p.steps[i], p.compiled[i].texts.Refs()
	step := schedule.Step{ReadOnly: s.Action.Spec().ReadOnly}
	inputs := s.inputs()
	if t, ok := s.Action.(actions.Toucher); ok && ask && len(inputs) == 0 && !p.compiled[i].texts.Anywhere() {
		step.Reads, step.Writes, step.Known = t.Touches()
		if path := s.When.Path(); path != "" {
			step.Reads = append(slices.Clone(step.Reads), path)
		}
	}
	refs = append(refs, inputs...)
	if ref := s.When.StepRef(); ref != "" {
		refs = append(refs, ref)
	}
	for _, ref := range refs {
		step.After = append(step.After, p.index[ref])
	}
	if p.compiled[i].texts.Names(definition.RootPrev) || p.isTold(i) { // any of them may be the last that is not skipped
		for j := range i {
			step.After = append(step.After, j)
		}
	}
	return step
}

// runWave runs the steps of a wave at the same time and waits for all of them.
func (r *run) runWave(ctx context.Context, wave []int) {
	var g errgroup.Group
	g.SetLimit(r.x.workers())
	for _, i := range wave {
		g.Go(func() error {
			// A step before the failed one still runs, for it may fail too, and then it is the one to report: in
			// sequence it would have been the first.
			if r.last[i] == nil && r.mayRun(i) && ctx.Err() == nil {
				r.visit(ctx, i)
			}
			return nil
		})
	}
	_ = g.Wait() // the goroutines return nil
}

func (r *run) mayRun(i int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return i < r.stopAt
}

// handledSteps are the steps whose failure a later step waits for.
func (p Pipeline) handledSteps() map[string]bool {
	handled := make(map[string]bool)
	for _, s := range p.steps {
		if s.When.Type() == condition.TypeStepFailed {
			handled[s.When.StepRef()] = true
		}
	}
	return handled
}

// begin starts the time of the run, and takes up what was kept of it. The context that it returns is that of the steps;
// a run in sequence has no waves.
func (r *run) begin(ctx context.Context, t *tree, s *Saved) (steps context.Context, cancel context.CancelFunc, waves [][]int, err error) {
	up, err := r.keepOn(t, s)
	if err != nil {
		return ctx, func() {}, nil, err
	}
	steps, cancel = r.within(ctx)
	if r.inSequence() {
		if r.machine, r.stopped = r.newMachine(); r.stopped != nil {
			return steps, cancel, nil, nil
		}
	} else {
		waves = r.waves(steps) // of the tree as it is without what was staged
	}
	if r.kept != nil {
		err = r.takeUp(steps, up)
	}
	return steps, cancel, waves, err
}
