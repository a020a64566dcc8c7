package millraceotel

import (
	"context"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
)

// Runner does what its executor does, and makes spans of it. It is safe for concurrent use. The zero Runner is
// unusable; [Instrument] returns a Runner.
type Runner struct {
	x millrace.Executor
	s settings
}

// Instrument returns a Runner for an executor. Observe, StepContext and RunContext of the executor are still called.
// The latter two get a context with the new span, so that they can add to it. Commands find the span of their step as
// TRACEPARENT, unless Commands.EnvFor of the executor sets it.
func Instrument(x millrace.Executor, opts ...Option) Runner {
	return Runner{x: x, s: settingsOf(opts)}
}

// Run is [millrace.Executor.Run] with a span, even if the pipeline is refused.
func (r Runner) Run(ctx context.Context, fsys afero.Fs, p millrace.Pipeline) (*millrace.Result, error) {
	t := r.tracing()
	t.asked = askedBy(p)
	res, err := t.executor().Run(ctx, fsys, p)
	t.refused(ctx, r.started(p, millrace.PhaseRun, p.Options().DryRun), err)
	return res, err
}

// Plan is [millrace.Executor.Plan] with a span. The plan's Commit makes a span of its own, in the context that it gets;
// so do plans derived from this one.
func (r Runner) Plan(ctx context.Context, fsys afero.Fs, p millrace.Pipeline) (*millrace.Plan, error) {
	t := r.tracing()
	t.asked = askedBy(p)
	plan, err := t.executor().Plan(ctx, fsys, p)
	t.refused(ctx, r.started(p, millrace.PhasePlan, true), err)
	return plan, err
}

// OpenPlan is [millrace.Executor.OpenPlan]. It makes no span; the plan's Commit does.
func (r Runner) OpenPlan(ctx context.Context, fsys afero.Fs, data []byte) (*millrace.Plan, error) {
	return r.tracing().executor().OpenPlan(ctx, fsys, data)
}

// Restore is [millrace.Executor.Restore] with a span.
func (r Runner) Restore(ctx context.Context, fsys afero.Fs, backupID string) (*millrace.Result, error) {
	t := r.tracing()
	res, err := t.executor().Restore(ctx, fsys, backupID)
	started := millrace.RunStarted{Pipeline: restorePrefix + backupID, RunID: r.x.RunID, Phase: millrace.PhaseCommit,
		DryRun: r.x.DryRun}
	t.refused(ctx, started, err)
	return res, err
}

// PlanRestore is [millrace.Executor.PlanRestore]. It makes no span; the plan's Commit does.
func (r Runner) PlanRestore(ctx context.Context, fsys afero.Fs, backupID string) (*millrace.Plan, error) {
	return r.tracing().executor().PlanRestore(ctx, fsys, backupID)
}

// started returns the event with which a run would have started.
func (r Runner) started(p millrace.Pipeline, phase string, dryRun bool) millrace.RunStarted {
	return millrace.RunStarted{
		Pipeline: p.Name(), RunID: r.x.RunID, Phase: phase, Classification: p.Classification(), Steps: p.Len(),
		DryRun: dryRun || r.x.DryRun,
	}
}

func (r Runner) tracing() *tracing {
	return &tracing{host: r.x, s: r.s, visits: make(map[string]*visit)}
}
