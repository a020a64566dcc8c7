package millrace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/stage"
)

// ErrHold is what [Checkpointer.Enter] and [Approver.Approve] return to stop a run in front of what comes next. An error
// that wraps it gives the reason: fmt.Errorf("waits for Ann: %w", ErrHold).
var ErrHold = errors.New("the run is held")

// ErrManual says that a pipeline has a step that waits for a person, see [Step.Manual], and that the executor has nothing
// to keep the run with meanwhile.
var ErrManual = errors.New("the pipeline has a manual step, which waits for a person, and this executor cannot keep the run meanwhile: " +
	"set Executor.Checkpoints, or run it with dry_run")

// Approver is what a [Checkpointer] can be besides: it sees what is to be committed, before Enter is called for the
// commit, also if limits or risk block it.
type Approver interface {
	// Approve returns nil to go on, where what blocks the change still does. An error that matches ErrHold ends the run with a
	// *HeldError at the commit, another one with that error. The plan must not be committed or closed, nor used later; that
	// of the *HeldError can be.
	Approve(ctx context.Context, plan *Plan) error
}

// HeldError says that a run waits for a decision: at a step that is Manual, at one that was interrupted and may have had
// its effect outside of the tree, or where the [Checkpointer] has said so. It comes beside a Result. Nothing was written, and no
// lock is held; [Executor.Resume] goes on. Its code is "held".
type HeldError struct {
	// At is what the run was to begin: an attempt, or the commit.
	At Position
	// Reason says why, and what to do.
	Reason string
	// Plan is what is staged so far, or all that is to be committed. It can be looked at, its Digest too, but neither
	// stored as JSON nor committed. Close it when it is not needed any more.
	Plan *Plan
}

// Error gives "run is held: step 'deploy' is manual: play to run it".
func (e *HeldError) Error() string { return "run is held: " + e.Reason }

// Code returns "held".
func (e *HeldError) Code() string { return "held" }

// heldBy returns the error of a run that a [Checkpointer] holds at a position.
func heldBy(at Position, err error) *HeldError {
	reason := strings.TrimSuffix(err.Error(), ": "+ErrHold.Error())
	if err.Error() == ErrHold.Error() {
		reason = "the host holds it before the commit"
		if at.Step != "" {
			reason = fmt.Sprintf("the host holds it before step '%s'", at.Step)
		}
	}
	return &HeldError{At: at, Reason: reason}
}

// mayWait returns ErrManual if a step waits for a person and there is nothing to keep the run with.
func (p Pipeline) mayWait(c Checkpointer) error {
	if c == nil && slices.ContainsFunc(p.steps, func(s Step) bool { return s.Manual }) {
		return ErrManual
	}
	return nil
}

// end is what Run returns of a plan that is not committed. The plan is nil for a run that could not be resumed.
func (p *Plan) end(err error) (*Result, error) {
	if p == nil {
		return nil, err
	}
	held, ok := err.(*HeldError)
	if !ok {
		return p.outcome(commit.Report{}, err)
	}
	p.held, p.failed = held, err
	p.result.failed(err)
	held.Plan = p.keep()
	res := p.result.clone()
	res.DryRun = false
	return res, err
}

// mayCommit says why a run must not commit its plan now, or returns nil.
func (p *Plan) mayCommit(ctx context.Context) error {
	c := p.tree.x.Checkpoints
	if c == nil || len(p.changes) == 0 {
		return p.blocked()
	}
	at := Position{Index: p.result.TotalSteps}
	ask := func(do func() error) error {
		err := panics.Protect(do)
		if errors.Is(err, ErrHold) {
			return heldBy(at, err)
		}
		return err
	}
	if a, ok := c.(Approver); ok {
		if err := ask(func() error { return a.Approve(ctx, p) }); err != nil {
			return err
		}
	}
	if err := p.blocked(); err != nil {
		return err
	}
	taken, err := stage.TakenBy(ctx, p.changes)
	if err != nil {
		return &canceledError{cause: context.Cause(ctx), ended: ctx.Err()}
	}
	if err := p.kept.keepMark(ctx, at, runState{Mark: markCommit, Taken: taken}); err != nil {
		return err
	}
	return ask(func() error { return c.Enter(ctx, at) })
}

// blocked returns what blocks the plan, or nil.
func (p *Plan) blocked() error {
	if p.block != nil {
		return p.block
	}
	return nil
}

// manualSteps notes which steps a dry run has not waited for.
func (p *Plan) manualSteps(r *run) {
	if !r.x.DryRun {
		return
	}
	for _, v := range r.shown() {
		if r.p.steps[v.step].Manual && !v.result.Skipped {
			p.result.Warnings = append(p.result.Warnings, fmt.Sprintf("step '%s' is manual: a run waits there until a person lets it go on", v.result.StepID))
		}
	}
}
