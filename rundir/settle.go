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

// settleWait is how long the tree of a run is waited for whose process died while it committed.
const settleWait = time.Second

// settle records what has become of a run whose process has died. It has failed, or was canceled if that was asked for,
// unless it was committed before that: the tree knows. Of a tree that cannot be asked now the error is an
// *unknownError, and nothing is recorded, unless the run goes on anyway: then it finds out.
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
		res, err := m.committed(ctx, w)
		switch {
		case res != nil:
			r.Status, r.Reason, r.End.Child = runs.Success, "", w.childEnd(res, err)
			if err != nil { // a step had failed, and the others were committed
				r.Status, r.Reason, r.End.Final = runs.Failed, err.Error(), true
			}
			if r.End.Result, err = w.result(res); err != nil {
				return err
			}
		case context.Cause(ctx) != nil:
			return context.Cause(ctx)
		case unasked(err) && !goesOn:
			return &unknownError{w.number, err}
		}
	}
	return w.append(r)
}

// unknownError means that the tree of a run cannot be asked now whether it was committed.
type unknownError struct {
	run int64
	err error
}

func (e *unknownError) Error() string {
	return fmt.Sprintf("whether run %d was committed is not known yet: %v", e.run, e.err)
}

func (e *unknownError) Unwrap() error { return e.err }

// unasked reports whether an error of committed reports that the tree was not asked: another run has it, or it cannot
// be opened.
func unasked(err error) bool {
	_, closed := errors.AsType[*treeError](err)
	return closed || errors.Is(err, fsutil.ErrLocked)
}

// committed returns the result of the run if the tree has it.
func (m *Manager) committed(ctx context.Context, w *writer) (*millrace.Result, error) {
	s := &session{m: m, w: w, ctx: ctx}
	x, p, err := s.prepared(newRecorder(s))
	if err != nil {
		return nil, err
	}
	x.Checkpoints, x.Recorder, x.Observe, x.State.LockWait = onlooker{w.spill()}, nil, nil, settleWait
	x.RunContext, x.StepContext = nil, nil
	tree, err := m.open(ctx, w)
	if err != nil {
		return nil, &treeError{err}
	}
	res, err := x.Resume(ctx, tree.FS, p, w.saved())
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
			return nil, fmt.Errorf("tree cannot be closed: %w", closing) // it may have to be published yet
		}
	}
	return res, err
}

// backTo goes back to before the first step that rests on what has changed, and reports whether it has. Only the run of
// a target does, for without a store it would begin anew: its scheduler has asked for it again. Behind a step that has
// acted outside of the tree it does not: that is for a person to decide.
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

// errLooking holds a run that is only looked at.
var errLooking = fmt.Errorf("the run is only looked at: %w", millrace.ErrHold)

// onlooker is the [millrace.Checkpointer] of a run that is built again to be looked at. It goes no further than it had
// come.
type onlooker struct{ spill fsutil.Spill }

func (onlooker) Enter(context.Context, millrace.Position) error  { return errLooking }
func (onlooker) Approve(context.Context, *millrace.Plan) error   { return errLooking }
func (onlooker) Keep(context.Context, millrace.Checkpoint) error { return nil }
func (o onlooker) Spill() fsutil.Spill                           { return &overlay{of: o.spill} }
