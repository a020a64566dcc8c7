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

// run is one execution of a pipeline on a stage.
type run struct {
	x       Executor
	p       definition.Pipeline
	stage   *stage.Stage
	log     *slog.Logger
	handled map[string]bool // steps whose failure a later step waits for

	mu       sync.Mutex
	specs    []actions.Spec // of the steps, with what the host's tools say
	identity func() string  // of the run, for services outside

	now    []*visit // by step: the visit that other steps see; nil for a step that has not run in this sweep
	last   []*visit // by step: the last visit in any sweep, which the result shows; nil for a step that has not run
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

// stage runs all steps and judges the outcome, of a run that was kept the rest. The plan is nil only if such a run
// cannot be resumed.
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

// waves puts the steps into the order in which they run: those of a wave at the same time.
func (r *run) waves(ctx context.Context) [][]int {
	waves := make([][]int, len(r.p.Steps))
	steps := make([]schedule.Step, len(r.p.Steps))
	for i := range steps {
		waves[i] = []int{i}
		if r.p.Options.Parallel {
			// An action that does not say what it touches may meet anything.
			if err := panics.Protect(func() error { steps[i] = r.p.Scheduled(i, true); return nil }); err != nil {
				r.log.ErrorContext(ctx, "action panicked in Touches", "step", r.p.Steps[i].ID, "error", err)
				steps[i] = r.p.Scheduled(i, false)
			}
			manual := r.p.Steps[i].Manual // nothing goes on beside a step that waits
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

// begin starts the time of the run, and takes up what was kept of it. The context that it returns is that of the steps;
// a run in sequence has no waves.
func (r *run) begin(
	ctx context.Context, t *tree, s *Saved,
) (steps context.Context, cancel context.CancelFunc, waves [][]int, err error) {
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

// Run runs a pipeline with the zero [Executor].
func Run(ctx context.Context, fsys afero.Fs, p Pipeline) (*Result, error) {
	return Executor{}.Run(ctx, fsys, p)
}

// Run works the pipeline out on a stage over fsys, and commits what is there in the end, all of it or nothing. The
// Result is never nil when the pipeline was run, also beside an error.
//
// Errors: a *ValidationError for the zero Pipeline, ErrNested, ErrReadOnly, ErrManual, a *[HeldError] if the run waits,
// a *StepError, a *BlockedError, a *ConflictError if another program has written to the tree meanwhile, a *CommitError,
// or the context's error. On any of them but a *CommitError in state CommitPending the tree is what it was, except that
// with ContinueOnError the steps that did not fail are committed, and the *StepError of the first that did is returned.
func (x Executor) Run(ctx context.Context, fsys afero.Fs, p Pipeline) (*Result, error) {
	return x.runFrom(ctx, fsys, p.def, nil)
}

// Resume goes on with a run of the pipeline that was held, has failed, was canceled, or whose process has died. It is
// [Executor.Run], but steps that were done are not done again: the stage is built again as it was behind the last Final
// checkpoint that did not end the run, and the run goes on from there, with the results, visits, costs and times of
// before. So the tree and the Result are those of a run that was never stopped, less durations. The caller makes sure
// that no other process works on the same run. Answers that the Recorder has of the visit that was going on count with
// their costs, for they were paid in this run.
//
// A run that was held goes through where it was held: to resume it is to let it. Checkpointer.Enter may hold it again.
//
// Under [Executor.RunID] a run that was committed already is not done again: its stored result comes back, Replayed.
//
// Errors: as Run, a *[HeldError], and a *[DriftError] if the tree is no longer as the steps have read it. After
// each of them the kept state is good for another Resume.
func (x Executor) Resume(ctx context.Context, fsys afero.Fs, p Pipeline, s Saved) (*Result, error) {
	return x.runFrom(ctx, fsys, p.def, &s)
}

// runFrom is Run, or Resume with what was saved.
func (x Executor) runFrom(ctx context.Context, fsys afero.Fs, p definition.Pipeline, s *Saved) (*Result, error) {
	t, err := x.open(ctx, fsys, p)
	if err != nil {
		return nil, err
	}
	defer t.done()
	started := startOf(p, PhaseRun, x.DryRun || p.Options.DryRun)
	return t.told(ctx, started, func(ctx context.Context) (*Result, error) { return x.runOn(ctx, t, p, s) })
}

// runOn is runFrom on a tree that is open.
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

// Plan works the pipeline out on a stage over fsys and writes nothing at all. The plan can be looked at, trimmed,
// stored and committed later. An error means that there is nothing to commit: when a step has failed, Plan returns
// its *StepError beside the plan, whose Result reports how far the run got. A plan that can be committed is not an
// error. When the change would be blocked, Result reports it, and Commit refuses. When a step of a pipeline with
// ContinueOnError has failed, Result reports it, Commit makes the changes of the other steps, and returns the
// *StepError.
//
// A step that acts outside of the tree, such as a call of a tool that is not pure, is not run, nor is a step that
// refers to it. Such a plan can only be shown: the Result is Incomplete, and Commit returns ErrIncomplete.
//
// It takes no lock: if a crash has left the tree between old and new, or another run writes to it just now, the Result
// has a warning, and so has the Result of a dry run and of a run that only reads.
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

// open checks the executor's own fields, the pipeline and the file system, and writes nothing.
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
