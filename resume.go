package millrace

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
)

// Saved is what a [Checkpointer] has kept of a run.
type Saved struct {
	// Checkpoints are all that were given to Keep, in that order. To go back to before a step, leave out those behind the
	// one to go on from. An error ends Resume. Nil is none: the run begins anew.
	Checkpoints iter.Seq2[Checkpoint, error]
	// Began is when the run began first. Nothing of the tree was read before. The zero time has every file that was read
	// compared by its bytes before the commit.
	Began time.Time
	// Force lifts what [Options.Force] lifts, and the pipeline stays the same for its Digest and for [Executor.RunID].
	Force bool
}

// Drift is one path of the tree that is not what a run rests on any more.
type Drift struct {
	Path string
	// Reason is "content", "removed", "created", "kind", "mode", "target" (of a symbolic link) or "entries" (of a directory that
	// was moved or removed as a whole: other names in it, and where it is removed also files in it that were changed).
	Reason string
	// Step is the id of the step that has read it first.
	Step string
}

// DriftError says that a run cannot be resumed, for another program has changed what its steps have read. Nothing was
// written. It matches fsutil.ErrDrift, and its code is "drift".
type DriftError struct {
	Drifts []Drift // at least one, by path
	// From is the id of the step to resume from instead: the first that rests on any of them.
	From string
	// Outside is the id of the first step behind it that has acted outside of the tree, and would do so once more then, ""
	// for none.
	Outside string
}

// Error gives "base has changed since step 'find' read it: src/a.go (content), src/b.go (removed); resume from 'find'", and
// which step would act outside of the tree once more.
func (e *DriftError) Error() string {
	var b strings.Builder
	paths := make([]string, len(e.Drifts))
	for i, d := range e.Drifts {
		paths[i] = fmt.Sprintf("%s (%s)", fsutil.Visible(d.Path), d.Reason)
	}
	fmt.Fprintf(&b, "base has changed since step '%s' read it: %s", e.From, names.Few(paths, ", "))
	fmt.Fprintf(&b, "; resume from '%s'", e.From)
	if e.Outside != "" {
		fmt.Fprintf(&b, ", but step '%s' has acted outside of the tree, and does so again then", e.Outside)
	}
	return b.String()
}

// Paths returns the paths that have changed.
func (e *DriftError) Paths() []string {
	paths := make([]string, len(e.Drifts))
	for i, one := range e.Drifts {
		paths[i] = one.Path
	}
	return paths
}

// Unwrap returns fsutil.ErrDrift.
func (e *DriftError) Unwrap() error { return fsutil.ErrDrift }

// Code returns "drift".
func (e *DriftError) Code() string { return errorform.Drift }

// Resume goes on with a run of the pipeline that was held, has failed, was canceled, or whose process has died. It is [Executor.Run], but
// steps that were done are not done again: the stage is built again as it was behind the last Final checkpoint that did not
// end the run, and the run goes on from there, with the results, visits, costs and times of before. So the tree and the
// Result are those of a run that was never stopped, less durations. The caller makes sure that no other process
// works on the same run.
// Answers that the Recorder has of the visit that was going on count with their costs, for they were paid in this run.
//
// A run that was held goes through where it was held: to resume it is to let it. Checkpointer.Enter may hold it again.
//
// Under [Executor.RunID] a run that was committed already is not done again: its stored result comes back, Replayed.
//
// Errors: as Run, a *[HeldError], and a *[DriftError] if the tree is not what the steps have read any more. What was kept is
// good for another Resume after each of them.
func (x Executor) Resume(ctx context.Context, fsys afero.Fs, p Pipeline, s Saved) (*Result, error) {
	return x.runFrom(ctx, fsys, p, &s)
}

var errNothingKept = errors.New("a run can be resumed only with what it was kept by, for that has the bytes that it has staged")

// keepOn makes the run one that is kept, if it is to be, and reads how far it had come.
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

// takeUp puts the run where it was behind the last visit to go on from. The steps are in their order already, for that is
// the order on an untouched stage.
func (r *run) takeUp(ctx context.Context, up *takenUp) error {
	k := r.kept
	if r.machine == nil {
		up.inParallel(r.p.options.ContinueOnError)
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
