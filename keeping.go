package millrace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/replay"
	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/watch"
)

// keeping is the state of a run with a [Checkpointer]. A run without a Checkpointer has none.
type keeping struct {
	to      Checkpointer
	keeper  *stage.Keeper
	notes   *watch.Notes
	start   time.Time     // in this process
	elapsed time.Duration // the time that the run took before

	mu     sync.Mutex // held while a checkpoint is built and kept
	number int        // of the last checkpoint
	before int        // of the last Final checkpoint on the way of the run
	// by the depth of a delta, the number of its checkpoint; the first is 0, the beginning
	parents []int

	resumed bool
	done    int                 // the number of visits done before this process
	marks   map[visitKey]marked // the marks after the last of them
	stop    *stop               // why a run in parallel ends, nil if it does not
}

// visitKey identifies a visit of a run.
type visitKey struct{ step, visit int }

// marked is the state of a visit from its marks.
type marked struct {
	held bool     // the run was held before it
	last markKind // "" if a result of the visit was kept since
}

// markKind is the reason for a checkpoint without a result.
type markKind string

const (
	markHeld   markKind = "held"   // the run was held before an attempt
	markBegun  markKind = "begun"  // an attempt that acts outside of the tree has begun
	markCommit markKind = "commit" // the commit begins
)

// stop is the reason why a run in parallel ends before a step.
type stop struct {
	step int
	err  error
}

// running returns the running time of the run, in all processes.
func (k *keeping) running() time.Duration { return k.elapsed + time.Since(k.start) }

// enter returns the reason why an attempt of a visit must not begin now, or nil.
func (r *run) enter(ctx context.Context, v *visit) error {
	k := r.kept
	if k == nil {
		return nil
	}
	s := r.p.Steps[v.step]
	at := Position{Step: s.ID, Index: v.step, Visit: v.number, Attempt: len(v.attempts) + 1}
	held := &HeldError{At: at}
	switch before := k.marks[visitKey{v.step, v.number}]; {
	case before.last == markBegun:
		held.asks("step '%s' was interrupted and may have had its effect%v", s.ID, kinds.Play(kinds.PlayAgain))
	case s.Manual && !before.held && at.Attempt == 1:
		held.asks("step '%s' is manual%v", s.ID, kinds.Play(kinds.PlayStep))
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

// markCommit keeps a checkpoint that the commit begins, with the files that the commit removes.
func (r *run) markCommit(ctx context.Context, at Position, taken []stage.TakenAway) error {
	return r.kept.keepMark(ctx, at, runState{Mark: markCommit, Taken: taken})
}

// keep keeps the result of an attempt of a visit, or of the whole visit.
func (r *run) keep(ctx context.Context, v *visit, final bool) error {
	k := r.kept
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if v.err == nil {
		if left := k.keeper.RestOn(v.outcome.Files); left > 0 {
			k.notes.Add("checkpoints",
				"the run rests on more files than are compared when it is resumed: %d of step '%s' are not", left,
				v.result.StepID)
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

// keepInSequence is keep for a run in sequence. The run ends if keep fails.
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

// keepInParallel is keep for a step that runs in parallel with others. If keep fails, the run ends before this step.
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

// endAt ends a run in parallel before a step, unless it already ends before an earlier step.
func (r *run) endAt(step int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.kept; k.stop == nil || step < k.stop.step {
		k.stop = &stop{step, err}
	}
	r.stopAt = min(r.stopAt, step)
}

// wasPaid reports whether this run has already paid for an answer on record, in a process that died before it could
// keep the result.
func (r *run) wasPaid() bool {
	return r.kept != nil && r.kept.resumed && (r.machine == nil || len(r.visited) == r.kept.done)
}

var errNothingKept = errors.New(
	"a run can be resumed only with what it was kept by, for that has the bytes that it has staged")

// keepOn makes the run a kept run, if it has Checkpoints, and reads its saved progress.
func (r *run) keepOn(t *tree, s *Saved) (*takenUp, error) {
	switch {
	case r.x.DryRun:
		return nil, nil
	case r.x.Checkpoints == nil && s != nil && s.Checkpoints != nil:
		return nil, &ExecutorError{Field: "Checkpoints", Err: errNothingKept}
	case s != nil:
		r.force = s.Force
	}
	if r.x.Checkpoints == nil {
		return nil, nil
	}
	up, err := s.read(r.p)
	if err != nil {
		return nil, err
	}
	r.kept = &keeping{to: r.x.Checkpoints, notes: t.notes, start: time.Now(), parents: []int{0}, resumed: s != nil}
	if spill := r.x.Checkpoints.Spill(); spill != nil {
		r.stage.SetSpill(spill)
	}
	up.carry(r, r.kept)
	return up, nil
}

// takeUp restores the state of the run after the last visit to continue from. The steps are already in their order,
// which is the order on an untouched stage.
func (r *run) takeUp(ctx context.Context, up *takenUp) error {
	k := r.kept
	if r.machine == nil {
		up.inParallel(r.p.Options.ContinueOnError)
	} else if err := up.inSequence(r.machine); err != nil {
		return err
	}
	k.before, k.done, k.marks = up.last, len(up.way), up.marks()
	if up.last == 0 {
		k.keeper = stage.NewKeeper(r.stage)
		return nil
	}
	deltas, numbers := up.deltas()
	r.stage.SetPutBack(up.taken())
	var err error
	if k.keeper, err = stage.Restore(ctx, r.stage, deltas); err != nil {
		return up.driftOf(err, numbers, func(step int) bool { return r.specs[step].Outside })
	}
	k.parents = append(k.parents, numbers...)
	r.saves, err = up.visits(r, k.keeper)
	return err
}

// recorded returns the answer of ask, or an earlier answer under the same circumstances.
func (r *run) recorded(
	ctx context.Context, v *visit, action actions.Action, call *actions.Call, ask func() (actions.Outcome, error),
) (actions.Outcome, error) {
	if r.x.Recorder == nil {
		return ask()
	}
	view := (*stage.Stage)(call.FS)
	rests, err := replay.RestsOf(ctx, view, action)
	var key string
	if err == nil {
		key, err = r.recordKey(v, action, rests)
	}
	if err != nil {
		return actions.Outcome{}, fmt.Errorf("recorder: %w", err)
	}
	switch found, ok, err := r.x.Recorder.Find(key); {
	case err != nil:
		return actions.Outcome{}, fmt.Errorf("recorder: %w", err)
	case ok && scratch.Rests{Recent: found.Recent}.AreOf(ctx, view):
		r.notify(StepReplayed{Step: v.result.StepID, Visit: v.number})
		if r.wasPaid() && call.OnSpend != nil {
			call.OnSpend(found.Cost)
		}
		return r.replayed(ctx, v, call, found)
	}
	cost := replay.CostOf(call)
	out, err := ask()
	if _, bad := params.Tree(out.Data); bad != nil || ctx.Err() != nil || !replay.IsAnswer(err) {
		return out, err // a record could not restore the reason of the failure
	}
	kept := Recorded{Output: out.Output, Data: out.Data, Cost: cost(), Recent: rests.Recent}
	if err != nil {
		kept.Error, kept.ErrorCode, kept.Final = err.Error(), stepCode(err), !retryable(action, err)
	}
	changes, wrong := scratch.Keep(ctx, v.changes, call.Limits.StagedBytes())
	for _, c := range changes {
		kept.Changes = append(kept.Changes, RecordedChange(c))
	}
	if wrong == nil {
		wrong = r.x.Recorder.Keep(key, kept)
	}
	if wrong != nil {
		call.Warnf("what was answered could not be recorded: %v", wrong)
	}
	return out, err
}

// replayed applies a recorded answer.
func (r *run) replayed(ctx context.Context, v *visit, call *actions.Call, found Recorded) (actions.Outcome, error) {
	out := actions.Outcome{Output: found.Output, Data: found.Data}
	if found.Error != "" {
		return out, &replay.Error{Text: found.Error, ErrorCode: found.ErrorCode, Final: found.Final}
	}
	if len(found.Changes) == 0 {
		return out, nil
	}
	changes := make([]scratch.Change, len(found.Changes))
	for i, c := range found.Changes {
		changes[i] = scratch.Kept(c).Change()
	}
	brought, err := r.bring(ctx, v, (*stage.Stage)(call.FS), call, changes)
	brought.Output, brought.Data = out.Output, out.Data
	return brought, err
}

// recordKey returns a hash of everything that an answer may depend on.
func (r *run) recordKey(v *visit, action actions.Action, rests scratch.Rests) (string, error) {
	q := replay.Question{Action: v.result.Action, Visit: v.number, Attempt: len(v.attempts) + 1}
	before, _ := r.previous()
	if r.p.IsTold(v.step) {
		before = r.before(v.step)
	}
	if before != nil {
		q.Output, q.Error = before.result.Output, before.result.Error
	}
	return q.Key(action, r.stage, rests)
}
