package rundir

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/runs"
)

// settleWait is the time to wait for the tree of a run whose process died during its commit.
const settleWait = time.Second

// settle records the outcome of a run whose process has died. It has failed, or was canceled if that was requested,
// unless it was committed before, which the tree shows. If the tree has no answer now, the error is an *unknownError
// and nothing is recorded, unless the run will continue anyway: then it finds out itself.
func (m *Manager) settle(ctx context.Context, w *writer, goesOn bool) error {
	var committed bool
	var asked *cancel
	w.state(func(f *folded) { committed, asked = f.committed, f.canceled })
	r := &record{Kind: kindEnd, Status: runs.Failed, Reason: diedReason, End: new(end)}
	if asked != nil {
		by := canceledBy{asked.User}
		r.Status, r.Reason = runs.Canceled, by.Error()
	}
	if committed {
		res, answered, err := m.committed(ctx, w)
		switch {
		case res != nil:
			r.Status, r.Reason, r.End.Child = runs.Success, "", w.childEnd(res, err)
			if err != nil { // a step had failed, and the other steps were committed
				r.Status, r.Reason, r.End.Final = runs.Failed, err.Error(), true
			}
			if r.End.Result, err = w.result(res); err != nil {
				return err
			}
		case context.Cause(ctx) != nil:
			return context.Cause(ctx)
		case !answered && !goesOn:
			return &unknownError{w.number, err}
		}
	}
	return w.append(r)
}

// unknownError means that the tree of a run has no answer now, so it is unknown whether the run was committed.
type unknownError struct {
	run int64
	err error
}

func (e *unknownError) Error() string {
	return fmt.Sprintf("whether run %d was committed is not known yet: %v", e.run, e.err)
}

func (e *unknownError) Unwrap() error { return e.err }

// committed returns the result of the run if the tree has it. answered is false if an error came before the tree has
// answered, for example because another run has the tree, or because it cannot be opened.
func (m *Manager) committed(ctx context.Context, w *writer) (res *millrace.Result, answered bool, err error) {
	s := &session{m: m, w: w, ctx: ctx}
	x, p, err := s.prepared(newRecorder(s))
	if err != nil {
		return nil, false, err
	}
	x.Checkpoints, x.Recorder, x.Observe, x.State.LockWait = onlooker{w.spill()}, nil, nil, settleWait
	x.RunContext, x.StepContext = nil, nil
	tree, err := m.open(ctx, w)
	if err != nil {
		return nil, false, &treeError{err}
	}
	saved := w.saved()
	steps := saved.Checkpoints
	saved.Checkpoints = func(yield func(millrace.Checkpoint, error) bool) {
		answered = true // a run reads its steps only if the tree does not have its result
		steps(yield)
	}
	res, err = x.Resume(ctx, tree.FS, p, saved)
	if c, ok := errors.AsType[*millrace.CommitError](err); ok && !answered && c.State == millrace.CommitRolledBack {
		res, err = x.Resume(ctx, tree.FS, p, saved) // an unfinished change, maybe of another run, is out of the way
	}
	answered = answered || res != nil
	if res != nil && !res.Replayed {
		res = nil
	}
	if held, ok := errors.AsType[*millrace.HeldError](err); ok {
		_ = held.Plan.Close() // nothing was written
	}
	if tree.Close != nil {
		told := res
		if res == nil && err == nil {
			err = errLooking
		}
		closing := panics.Protect(func() error { return tree.Close(context.WithoutCancel(ctx), told, err) })
		if closing != nil && res != nil {
			// The tree may still have to be published.
			return nil, answered, fmt.Errorf("tree cannot be closed: %w", closing)
		}
	}
	return res, answered, err
}

// backTo goes back to before the first step that depends on a change, and reports whether it has. Only the run of a
// target does that, because without a store it would start again, and its scheduler has requested it again. It does not
// go back past a step that has acted outside of the tree, because a person must decide about that.
func (s *session) backTo(drift *millrace.DriftError) bool {
	if s.m.target == nil || drift.Outside != "" {
		return false
	}
	from := -1
	s.w.state(func(f *folded) {
		from = slices.IndexFunc(f.line, func(c checkpoint) bool { return c.at.Step == drift.From })
	})
	return from >= 0 && s.m.goBackAs(s.w, retry{User: s.m.host.User, From: from, ByItself: true}) == nil
}

// errLooking holds a run that is only rebuilt for reading.
var errLooking = fmt.Errorf("the run is only looked at: %w", millrace.ErrHold)

// onlooker is the [millrace.Checkpointer] of a run that is rebuilt for reading. The run does not continue past its last
// state.
type onlooker struct{ spill fsutil.Spill }

func (onlooker) Enter(context.Context, millrace.Position) error  { return errLooking }
func (onlooker) Approve(context.Context, *millrace.Plan) error   { return errLooking }
func (onlooker) Keep(context.Context, millrace.Checkpoint) error { return nil }
func (o onlooker) Spill() fsutil.Spill                           { return &overlay{of: o.spill} }
