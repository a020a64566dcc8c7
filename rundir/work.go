package rundir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/runs"
	"github.com/millrace-go/millrace/wording"
)

// begin works on the run of a writer, which is closed at the end. The error reports that the manager is closed.
func (m *Manager) begin(w *writer) error {
	_, err := m.beginAs(w, false)
	return err
}

// beginAs is begin. Within a fleet it works even if the manager is closed.
func (m *Manager) beginAs(w *writer, within bool) (*session, error) {
	s := &session{m: m, w: w, over: make(chan struct{}), within: within}
	s.ctx, s.stop = context.WithCancelCause(m.base)
	m.mu.Lock()
	if m.closed && !within {
		m.mu.Unlock()
		return nil, errors.Join(errClosed, w.close())
	}
	m.working[w.number] = s
	m.wg.Add(1)
	m.mu.Unlock()
	go s.run()
	return s, nil
}

func (s *session) run() {
	m := s.m
	defer m.wg.Done()
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		s.listen()
	}()
	err := panics.Protect(s.work)
	s.failed = err
	s.w.state(func(f *folded) { m.store.noteLost(s.w.number, f.takes, err) }) // before its lock is released
	s.stop(errStopped)
	<-listening
	err = errors.Join(err, s.w.close())
	m.mu.Lock()
	delete(m.working, s.w.number)
	m.mu.Unlock()
	close(s.over)
	if err != nil {
		m.log("the run is left as it is", s.w.number, err)
	}
	if fleet := s.fleetToEnd(); fleet > 0 {
		if err := m.endFleet(m.base, fleet); err != nil {
			m.log("what became of a fleet cannot be recorded", fleet, err)
		}
	}
	if err := m.prune(m.base); err != nil {
		m.log("old runs cannot be removed", 0, err)
	}
}

// work runs the run until it ends or waits, and records that. An error means that this could not be recorded: then
// other processes show the run as a run whose process has died, and this process shows the error.
func (s *session) work() error {
	if err := s.w.append(&record{Kind: kindTake, Status: runs.Pending, Take: s.w.me()}); err != nil {
		return err
	}
	if spec := s.fleetTargets(); spec != nil {
		return s.runFleet(*spec)
	}
	if s.m.places != nil {
		select {
		case s.m.places <- struct{}{}:
			defer func() { <-s.m.places }()
		case <-s.ctx.Done():
			return s.ended(nil, context.Cause(s.ctx))
		}
	}
	if s.ctx.Err() != nil {
		return s.ended(nil, context.Cause(s.ctx))
	}
	if err := s.w.append(&record{Kind: kindState, Status: runs.Preparing}); err != nil {
		return err
	}
	return s.execute()
}

// execute runs the pipeline on its tree, and records the result.
func (s *session) execute() error {
	r := newRecorder(s)
	x, p, err := s.prepared(r)
	if err != nil {
		return s.ended(nil, err)
	}
	tree, err := s.m.open(s.ctx, s.w)
	if err != nil {
		return s.ended(nil, &treeError{err})
	}
	closed := func(res *millrace.Result, err error) error {
		if tree.Close == nil {
			return nil
		}
		return panics.Protect(func() error { return tree.Close(context.WithoutCancel(s.ctx), res, err) })
	}
	if p.Options().DryRun || x.DryRun {
		res, err := s.tried(x, tree, p)
		return s.ended(res, errors.Join(err, closed(res, err)))
	}
	res, err := s.resume(x, tree, p, r)
	if drift, ok := errors.AsType[*millrace.DriftError](err); ok && s.backTo(drift) {
		res, err = s.resume(x, tree, p, r)
	}
	if held, ok := errors.AsType[*millrace.HeldError](err); ok {
		h, err := s.look(held)
		_ = held.Plan.Close() // nothing was written
		s.res, s.err = res, held
		if err = errors.Join(err, closed(res, held)); err != nil {
			return s.ended(res, err)
		}
		return s.wait(h, res)
	}
	if closing := closed(res, err); err == nil && closing != nil {
		err = fmt.Errorf("tree cannot be closed: %w", closing)
	}
	return s.ended(res, err)
}

// wait records that the run waits for a decision, unless it was canceled before.
func (s *session) wait(held *record, res *millrace.Result) error {
	s.canceling.Lock()
	defer s.canceling.Unlock()
	if by, ok := errors.AsType[*canceledBy](context.Cause(s.ctx)); ok {
		return s.ended(res, by)
	}
	s.waits = true
	return s.w.append(held)
}

// prepared returns the executor and the pipeline of the run.
func (s *session) prepared(r *recorder) (x millrace.Executor, p millrace.Pipeline, err error) {
	x = s.m.host.Executor
	var id string
	var takes int
	s.w.state(func(f *folded) { id, takes = f.created.ID, f.takes })
	p, given, err := s.m.stored(s.w)
	if err != nil {
		return x, p, err
	}
	if x.Shared, err = s.m.store.sharedDir(id); err != nil {
		return x, p, err
	}
	if _, err := os.Lstat(x.Shared); takes > 1 && errors.Is(err, os.ErrNotExist) {
		r.warn("the directory that its steps share is not there: what they had put there is gone")
	}
	if err := os.MkdirAll(x.Shared, 0o700); err != nil {
		return x, p, err
	}
	p, err = runs.WithVariables(p, given, func(v runs.Variable) (string, error) { return putFile(x.Shared, v) })
	if err != nil {
		return x, p, err
	}
	x.RunID, x.Checkpoints, x.Recorder = id, r, s.m.target.recorder(answers{s.w})
	x.Observe = r.observer(x.Observe)
	if x.State.LockWait == 0 && s.m.target == nil {
		x.State.LockWait = -1
	}
	return x, p, nil
}

// lockTry is the time that a run tries to lock its tree before it reports that it waits.
const lockTry = 5 * time.Millisecond

// resume runs the pipeline from the run's last state.
func (s *session) resume(x millrace.Executor, tree fleet.Tree, p millrace.Pipeline,
	r *recorder) (*millrace.Result, error) {
	try := x
	try.State.LockWait, try.Observe = lockTry, r.unlessLocked(x.Observe)
	if x.State.LockWait > 0 {
		try.State.LockWait = min(lockTry, x.State.LockWait)
	}
	res, err := try.Resume(s.ctx, tree.FS, p, s.w.saved())
	if res != nil || !errors.Is(err, fsutil.ErrLocked) || r.entered() {
		return res, err
	}
	if err := s.w.append(&record{Kind: kindState, Status: runs.WaitingForResource, Reason: err.Error()}); err != nil {
		return nil, err
	}
	return x.Resume(s.ctx, tree.FS, p, s.w.saved())
}

// tried runs a pipeline that writes nothing, and records what it would do.
func (s *session) tried(x millrace.Executor, tree fleet.Tree, p millrace.Pipeline) (*millrace.Result, error) {
	x.Checkpoints = nil
	if err := s.w.append(&record{Kind: kindState, Status: runs.Running}); err != nil {
		return nil, err
	}
	plan, err := x.Plan(s.ctx, tree.FS, p)
	if plan == nil {
		return nil, err
	}
	defer plan.Close()
	res := plan.Result()
	if kerr := s.steps(res); kerr != nil {
		return res, errors.Join(err, kerr)
	}
	if err == nil {
		err = s.views(plan)
	}
	return res, err
}

// steps records the steps of a run that was not kept.
func (s *session) steps(res *millrace.Result) error {
	r := newRecorder(s)
	for i, step := range res.Results {
		at := millrace.Position{Step: step.StepID, Index: i, Visit: 1}
		if !step.Skipped {
			at.Attempt = 1
			if err := r.Enter(s.ctx, at); err != nil {
				return err
			}
		}
		if err := r.Keep(s.ctx, millrace.Checkpoint{Position: at, Result: step, Final: true}); err != nil {
			return err
		}
	}
	return nil
}

// ended records how the run has ended.
func (s *session) ended(res *millrace.Result, err error) error {
	s.res, s.err = res, err
	cause := context.Cause(s.ctx)
	by, canceled := errors.AsType[*canceledBy](cause)
	r := &record{Kind: kindEnd, Status: runs.Success, End: &end{Child: s.w.childEnd(res, err)}}
	switch {
	case err == nil:
		if onlySkipped(res) {
			r.Status = runs.Skipped
		}
	case cause != nil && !canceled && isCanceled(err):
		return nil // the manager is closed: like after the death of the process, the run can continue
	case canceled && isCanceled(err):
		r.Status, r.Reason = runs.Canceled, by.Error()
	default:
		r.Status, r.Reason = runs.Failed, s.reason(err)
		if drift, ok := errors.AsType[*millrace.DriftError](err); ok {
			r.End.From = drift.From
		}
		r.End.Final = res != nil && res.Commit.State == millrace.CommitApplied && !res.Replayed && isStep(err)
	}
	if res != nil {
		if r.End.Result, err = s.w.result(res); err != nil {
			return err
		}
	}
	if err := s.w.append(r); err != nil {
		return err
	}
	if r.Status == runs.Success && r.End.Result.Span == nil {
		s.dropLarge()
	}
	return nil
}

// reason returns an error as the reason of the run. A step to resume from is written in the form for [Manager.Resume].
func (s *session) reason(err error) string {
	return wording.Of(err, func(p wording.Part) string {
		if p.Kind == kinds.ResumeFrom {
			return fmt.Sprintf("resume from '%d/%s'", s.w.number, p.Value)
		}
		return p.Text
	})
}

// largeData is the number of bytes of data that a successful run may keep, because nothing continues from them.
const largeData = 64 << 10

// dropLarge removes large data of a successful run. The data would be removed later anyway. It is only needed for long
// results of single jobs.
func (s *session) dropLarge() {
	store, name := s.m.store, s.m.store.run(s.w.number, dataFile)
	if at, err := store.d.Look(name); err == nil && at.Size > largeData {
		_ = store.d.Remove(name) // if an open file cannot be removed, it is removed later
	}
}

// isCanceled reports whether an error comes from a canceled context.
func isCanceled(err error) bool {
	_, canceled := errors.AsType[*canceledBy](err)
	return canceled || errors.Is(err, errStopped) || errors.Is(err, context.Canceled) ||
		millrace.ErrorCode(err) == "canceled"
}

// isStep reports whether a step has failed while the other steps were committed.
func isStep(err error) bool {
	step, ok := errors.AsType[*millrace.StepError](err)
	return ok && step.Committed
}

func onlySkipped(res *millrace.Result) bool {
	if res == nil || len(res.Results) == 0 || len(res.Results) < res.TotalSteps {
		return false
	}
	for _, step := range res.Results {
		if !step.Skipped {
			return false
		}
	}
	return true
}
