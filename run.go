package millrace

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/spf13/afero"
	"golang.org/x/sync/errgroup"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/flow"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/schedule"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/workspace"
)

// run is an execution of a pipeline on a stage.
type run struct {
	x       Executor
	p       definition.Pipeline
	stage   *stage.Stage
	log     *slog.Logger
	handled map[string]bool // steps whose failure a later step waits for

	mu       sync.Mutex
	specs    []actions.Spec // of the steps, with the Specs of the host's tools
	identity func() string  // of the run, for services outside

	now    []*visit // by step: the visit that other steps use; nil for a step that has not run in this sweep
	last   []*visit // by step: the last visit in any sweep, for the result; nil for a step that has not run
	stopAt int      // steps from this index on do not run: the first unhandled failure comes before them

	// For a run in sequence:
	machine *flow.Machine
	visited []*visit          // in the order of execution, with the machine's numbers
	saves   []stage.Savepoint // of the visits before a run was resumed
	stopped error             // why the run ended early, if not by a failed step; in parallel too

	scratch  workspace.Space
	spent    spending
	deadline time.Time // zero for none

	kept  *keeping // nil for a run that is not kept
	force bool     // acts as Force of the options
}

// stage runs all steps, or the remaining steps of a kept run, and judges the outcome. The plan is nil only if a kept
// run cannot be resumed.
func (x Executor) stage(ctx context.Context, t *tree, p definition.Pipeline, s *Saved) (*Plan, error) {
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
		x: x, p: p, stage: stage, log: x.logger().With("pipeline", p.Name),
		handled: p.HandledSteps(), stopAt: p.Len(),
		scratch: workspace.Space{Policy: x.Commands, Shared: x.Shared, FS: t.fs, Note: t.notes.Add},
		specs:   p.Specs(x.Tools), identity: sync.OnceValue(x.identityOf(p)),
		now: make([]*visit, p.Len()), last: make([]*visit, p.Len()),
		spent: spending{limit: p.Bounds.Budget.Within(x.Budget), steps: make([]budget.Cost, p.Len())},
	}
	r.log.DebugContext(ctx, "run started", "steps", p.Len(), "parallel", p.Options.Parallel)
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

// notify calls the observer, if there is one.
func (r *run) notify(e Event) {
	if r.x.Observe != nil {
		r.x.Observe(e)
	}
}

// waves puts the steps into the order in which they run: the steps of a wave run at the same time.
func (r *run) waves(ctx context.Context) [][]int {
	waves := make([][]int, len(r.p.Steps))
	steps := make([]schedule.Step, len(r.p.Steps))
	for i := range steps {
		waves[i] = []int{i}
		if r.p.Options.Parallel {
			// An action whose Touches panics may touch anything.
			if err := panics.Protect(func() error { steps[i] = r.p.Scheduled(i, true); return nil }); err != nil {
				r.log.ErrorContext(ctx, "action panicked in Touches", "step", r.p.Steps[i].ID, "error", err)
				steps[i] = r.p.Scheduled(i, false)
			}
			manual := r.p.Steps[i].Manual // nothing runs in parallel with a step that waits
			steps[i].Outside, steps[i].Exclusive = r.specs[i].Outside || manual, r.specs[i].Exclusive || manual
		}
	}
	if r.p.Options.Parallel {
		waves = schedule.Waves(ctx, steps, r.stage)
	}
	return waves
}

// runWave runs the steps of a wave at the same time and waits for all of them.
func (r *run) runWave(ctx context.Context, wave []int) {
	var g errgroup.Group
	g.SetLimit(r.x.workers())
	for _, i := range wave {
		g.Go(func() error {
			// A step before the failed one still runs, because it may fail too. Then its failure is reported, as in a run in
			// sequence.
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

// begin starts the clock of the run, and restores its kept progress. It returns the context for the steps; a run in
// sequence has no waves.
func (r *run) begin(
	ctx context.Context, t *tree, s *Saved,
) (steps context.Context, cancel context.CancelFunc, waves [][]int, err error) {
	up, err := r.keepOn(t, s)
	if err != nil {
		return ctx, func() {}, nil, err
	}
	steps, cancel = r.within(ctx)
	if r.inSequence(up) {
		if r.machine, r.stopped = r.newMachine(); r.stopped != nil {
			return steps, cancel, nil, nil
		}
	} else {
		waves = r.waves(steps) // of the tree without staged changes
	}
	if r.kept != nil {
		err = r.takeUp(steps, up)
	}
	return steps, cancel, waves, err
}

// Run runs a pipeline with the zero [Executor].
func Run(ctx context.Context, fsys afero.Fs, p Pipeline) (*Result, error) {
	return Executor{}.Run(ctx, fsys, p)
}

// Run computes the change of the pipeline on a stage over fsys, and commits it, all of it or nothing. The Result is
// never nil if the pipeline was run, even with an error.
//
// Errors: a *ValidationError for the zero Pipeline, ErrNested, ErrReadOnly, ErrManual, a *[HeldError] if the run waits,
// a *StepError, a *BlockedError, a *ConflictError if another program has written to the tree since, a *CommitError,
// or the context's error. After any of them except a *CommitError in state CommitPending the tree is unchanged. The
// exception is ContinueOnError: the successful steps are committed, and the *StepError of the first failed step is
// returned.
func (x Executor) Run(ctx context.Context, fsys afero.Fs, p Pipeline) (*Result, error) {
	return x.runFrom(ctx, fsys, p.def, nil)
}

// Resume continues a run of the pipeline that was held, has failed, was canceled, or whose process has died. It is
// [Executor.Run], but steps that were done are not repeated. The stage is rebuilt as it was after the last Final
// checkpoint that did not end the run. The run continues from there, with the earlier results, visits, costs and times.
// So the tree and the Result are the same as for a run that was never stopped, except for durations. The caller makes
// sure that no other process works on the same run. If the Recorder has answers for the interrupted visit, their costs
// count, because this run has paid for them.
//
// A run that was held passes the place where it was held: resuming it is the permission. Checkpointer.Enter may hold it
// again.
//
// With [Executor.RunID], a run that was already committed is not repeated: its stored result is returned, with Replayed
// set.
//
// Errors: the errors of Run, a *[HeldError], and a *[DriftError] if the tree has changed since the steps have read it.
// After each of them the kept state is still valid for another Resume.
func (x Executor) Resume(ctx context.Context, fsys afero.Fs, p Pipeline, s Saved) (*Result, error) {
	return x.runFrom(ctx, fsys, p.def, &s)
}

// runFrom is Run, or Resume with saved progress.
func (x Executor) runFrom(ctx context.Context, fsys afero.Fs, p definition.Pipeline, s *Saved) (*Result, error) {
	t, err := x.open(ctx, fsys, p)
	if err != nil {
		return nil, err
	}
	defer t.done()
	started := startOf(p, PhaseRun, x.DryRun || p.Options.DryRun)
	return t.told(ctx, started, func(ctx context.Context) (*Result, error) { return x.runOn(ctx, t, p, s) })
}

// runOn is runFrom on an open tree.
func (x Executor) runOn(ctx context.Context, t *tree, p definition.Pipeline, s *Saved) (*Result, error) {
	if x.DryRun || p.Options.DryRun {
		x.DryRun = true
		t.warnOfUnfinished()
		plan, err := x.stage(ctx, t, p, nil)
		return plan.result, err
	}
	if err := mayWait(p, x.Checkpoints); err != nil {
		return nil, err
	}
	if err := x.mayAct(p); err != nil {
		return nil, err
	}
	if !p.Mutates() {
		t.warnOfUnfinished()
		plan, err := x.stage(ctx, t, p, s)
		return plan.end(err)
	}
	if x.ReadOnly {
		return nil, ErrReadOnly
	}
	return t.write(ctx, func(lock io.Closer) (*Result, error) {
		if done, err := t.storedRun(p.Digest); done != nil || err != nil {
			return done, err
		}
		plan, err := x.stage(ctx, t, p, s)
		if plan == nil || plan.abandoned || plan.held != nil {
			return plan.end(err)
		}
		left, err := plan.mayCommit(ctx)
		if left != plan {
			defer left.Close()
		}
		if is[*HeldError](err) {
			return plan.end(err) // the whole plan waits
		}
		if err != nil {
			return left.end(err)
		}
		return left.commit(ctx, lock, left.since)
	})
}

// Plan computes the change of the pipeline on a stage over fsys and writes nothing at all. The plan can be looked at,
// trimmed, stored and committed later. An error means that the plan has nothing to commit: if a step has failed, Plan
// returns its *StepError with the plan, whose Result reports the progress of the run. If the plan can be committed, the
// error is nil. If the change would be blocked, Result reports it, and Commit refuses. If a step of a pipeline with
// ContinueOnError has failed, Result reports it, Commit makes the changes of the other steps, and returns the
// *StepError.
//
// A step that acts outside of the tree, such as a call of a tool that is not pure, is not run, nor is a step that
// refers to it. Such a plan can only be shown: the Result is Incomplete, and Commit returns ErrIncomplete.
//
// Plan takes no lock: if a crash has left the tree between old and new, or another run is writing to it, the Result has
// a warning. This also applies to a dry run and to a run that only reads.
func (x Executor) Plan(ctx context.Context, fsys afero.Fs, p Pipeline) (*Plan, error) {
	t, err := x.open(ctx, fsys, p.def)
	if err != nil {
		return nil, err
	}
	defer t.done()
	x.DryRun = true // for the steps; whether the plan can be committed is for the executor that it keeps
	var plan *Plan
	_, err = t.told(ctx, startOf(p.def, PhasePlan, true), func(ctx context.Context) (*Result, error) {
		t.warnOfUnfinished()
		if plan, err = x.stage(ctx, t, p.def, nil); !plan.abandoned {
			err = nil
		}
		return plan.result, err
	})
	return plan.keep(), err
}

// open checks the executor's fields, the pipeline and the file system, and writes nothing.
func (x Executor) open(ctx context.Context, fsys afero.Fs, p definition.Pipeline) (*tree, error) {
	if err := refuseNested(ctx); err != nil {
		return nil, err
	}
	if p.Len() == 0 {
		return nil, &ValidationError{Problems: []Problem{{Code: definition.CodeNoSteps, Pointer: "/steps", Message: "at least one step is required"}}}
	}
	if err := p.CheckValues(); err != nil {
		return nil, validationError(err)
	}
	if err := x.checkHost(ctx, p); err != nil {
		return nil, validationError(err)
	}
	return x.openTree(fsys)
}
