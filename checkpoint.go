package millrace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/watch"
)

// Checkpointer keeps how far a run has come, so that another process can go on with it: see [Executor.Checkpoints] and
// [Executor.Resume]. An error of a method ends the run with that error, and nothing is committed; what was kept before
// stays good. The methods are called from several goroutines in a run in parallel, but Keep never at the same time as
// another Keep.
//
// A Checkpointer that has the method of an [Approver] is shown what is to be committed.
type Checkpointer interface {
	// Enter is called before each attempt, and before the commit of what was changed: the Step of the position is "" then,
	// and its Index the number of steps. An error that matches ErrHold ends the run in front of it, with a *HeldError.
	// Steps that are skipped are not entered.
	Enter(ctx context.Context, at Position) error
	// Keep is called after each attempt, one at a time, and once for each visit that was skipped. The run goes on when it
	// returns. What it is given must not be changed, and is not changed later. An attempt that the end of its context has
	// cut short is not kept, nor is one that the process did not live to see the end of.
	Keep(ctx context.Context, c Checkpoint) error
	// Spill is where the run puts the bytes of files that it has written as a whole: those that a Delta names. They are
	// needed as long as the run is to be resumed. It is asked for once a run, and its bytes must still be there, at the same
	// offsets, when the run is resumed. Nil means a temporary file, for a run that is never going to be.
	Spill() fsutil.Spill
}

// Position is a place in a run: an attempt of a visit of a step, or the commit.
type Position struct {
	// Step is the id of the step, Index its place in the pipeline, from 0. The commit has "" and the number of steps.
	Step  string `json:"step"`
	Index int    `json:"index"`
	// Visit counts the arrivals at the step, and Attempt the attempts in that visit, both from 1. Attempt is 0 for a visit
	// that was skipped; of the commit both are 0.
	Visit   int `json:"visit,omitempty"`
	Attempt int `json:"attempt,omitempty"`
}

// Checkpoint is what came of an attempt, and what it takes to go on behind it. Its fields can be kept as JSON.
//
// One without a Result (its StepID is "") is a mark: that the run was held at the position, that an attempt which acts
// outside of the tree has begun there, or that the commit begins. It has neither a Delta nor a job of its own, but it has
// to be kept among the others and given back with them: it is what lets a run that is resumed go through where it was held.
// One at the commit is given back also where the run goes back to before a step: it has what the commit took away, which
// is how files that were put back after a crash are known.
type Checkpoint struct {
	Position
	// Result is what the step has done, as it stands in the Result of a run. Of an attempt that is followed by another one
	// it is that attempt's.
	Result StepResult `json:"result"`
	// Final says that the visit is over. A run goes on behind a Final checkpoint.
	Final bool `json:"final,omitempty"`
	// State is the interpreter's, and of no use to others.
	State json.RawMessage `json:"state,omitempty"`
	// Parent is the number of the checkpoint whose Delta this one's follows, 0 for none: checkpoints are numbered from 1,
	// those of [Saved] first, in the order in which they were kept.
	Parent int `json:"parent,omitempty"`
	// Delta is what has changed on the stage since Parent, nil if that cannot be anything. It is bytes, of any value.
	Delta []byte `json:"delta,omitempty"`
}

// keeping is what a run has of its [Checkpointer]. A run that is not kept has none.
type keeping struct {
	to      Checkpointer
	keeper  *stage.Keeper
	notes   *watch.Notes
	start   time.Time     // in this process
	elapsed time.Duration // how long the run had gone on before

	mu      sync.Mutex // held while a checkpoint is made and kept
	number  int        // of the last checkpoint
	before  int        // of the last Final one on the way that the run has come
	parents []int      // by the depth of a delta, the number of the checkpoint that has it; the first is 0, the beginning

	resumed bool
	done    int                 // how many visits were done before this process
	marks   map[visitKey]marked // those behind the last of them
	stop    *stop               // why a run in parallel ends, nil if it does not
}

// visitKey names a visit of a run.
type visitKey struct{ step, visit int }

// marked is what marks say of a visit.
type marked struct {
	held bool     // the run was held in front of it
	last markKind // "" if something was kept of the visit since
}

// markKind says why there is a checkpoint without a result.
type markKind string

const (
	markHeld   markKind = "held"   // the run was held in front of an attempt
	markBegun  markKind = "begun"  // an attempt that acts outside of the tree has begun
	markCommit markKind = "commit" // the commit begins
)

// stop says why a run in parallel ends in front of a step.
type stop struct {
	step int
	err  error
}

// running is how long the run has gone on, in all processes.
func (k *keeping) running() time.Duration { return k.elapsed + time.Since(k.start) }

// enter says why an attempt of a visit must not begin now, or returns nil.
func (r *run) enter(ctx context.Context, v *visit) error {
	k := r.kept
	if k == nil {
		return nil
	}
	s := r.p.steps[v.step]
	at := Position{Step: s.ID, Index: v.step, Visit: v.number, Attempt: len(v.attempts) + 1}
	held := &HeldError{At: at}
	switch before := k.marks[visitKey{v.step, v.number}]; {
	case before.last == markBegun:
		held.Reason = fmt.Sprintf("step '%s' was interrupted and may have had its effect: play to run it again", s.ID)
	case s.Manual && !before.held && at.Attempt == 1:
		held.Reason = fmt.Sprintf("step '%s' is manual: play to run it", s.ID)
	default:
		err := panics.Protect(func() error { return k.to.Enter(ctx, at) })
		switch {
		case err == nil && r.specs[v.step].Outside:
			return k.keepMark(ctx, at, runState{Mark: markBegun})
		case !errors.Is(err, ErrHold):
			return err
		}
		held = heldBy(at, err)
	}
	if err := k.keepMark(ctx, at, runState{Mark: markHeld}); err != nil {
		return err
	}
	return held
}

// keepMark keeps a checkpoint without a result.
func (k *keeping) keepMark(ctx context.Context, at Position, s runState) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	state, err := json.Marshal(s)
	if err != nil {
		return err
	}
	k.number++
	return panics.Protect(func() error { return k.to.Keep(ctx, Checkpoint{Position: at, State: state}) })
}

// keep keeps what came of an attempt of a visit, or of the whole visit.
func (r *run) keep(ctx context.Context, v *visit, final bool) error {
	k := r.kept
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if v.err == nil {
		if left := k.keeper.RestOn(v.outcome.Files); left > 0 {
			k.notes.Add("checkpoints", "the run rests on more files than are compared when it is resumed: %d of step '%s' are not", left, v.result.StepID)
		}
	}
	delta, depth, err := k.keeper.Delta()
	if err != nil {
		return fmt.Errorf("what step '%s' has staged cannot be kept: %w", v.result.StepID, err)
	}
	c := Checkpoint{
		Position: Position{Step: v.result.StepID, Index: v.step, Visit: v.number, Attempt: len(v.attempts)},
		Result:   v.result, Final: final, Parent: k.parents[depth], Delta: delta,
	}
	k.number++
	k.parents = append(k.parents[:depth+1], k.number)
	if c.State, err = json.Marshal(r.stateOf(v)); err != nil {
		return err
	}
	if final {
		k.before = k.number
	}
	return panics.Protect(func() error { return k.to.Keep(ctx, c) })
}

// keepInSequence is keep for a run in sequence, which ends if it fails.
func (r *run) keepInSequence(ctx context.Context, v *visit, again bool) bool {
	if again {
		v.tell()
	}
	if r.stopped = r.keep(ctx, v, !again); r.stopped == nil {
		return true
	}
	if again {
		r.unbegun(v, r.stopped)
	}
	return false
}

// keepInParallel is keep for a step that others may run beside. What keeps it from being kept ends the run in front of it.
func (r *run) keepInParallel(ctx context.Context, v *visit, final bool) error {
	if ctx.Err() != nil {
		return nil // the end of the run may have cut it short
	}
	if !final {
		v.tell()
	}
	err := r.keep(ctx, v, final)
	if err != nil {
		r.endAt(v.step, err)
	}
	return err
}

// endAt ends a run in parallel in front of a step, unless it ends before that.
func (r *run) endAt(step int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.kept; k.stop == nil || step < k.stop.step {
		k.stop = &stop{step, err}
	}
	r.stopAt = min(r.stopAt, step)
}

// wasPaid reports whether an answer on record is one that this run has paid for, in a process that did not come to keep
// what it was for.
func (r *run) wasPaid() bool {
	return r.kept != nil && r.kept.resumed && (r.machine == nil || len(r.visited) == r.kept.done)
}
