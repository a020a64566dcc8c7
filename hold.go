package millrace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
