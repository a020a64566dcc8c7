package rundir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/runs"
)

// sourceCampaign is the source of runs that were begun by workers of campaigns.
const sourceCampaign = "campaign"

// busyWait is the time between two checks of RunTarget whether another process has released a run.
const busyWait = 50 * time.Millisecond

var _ fleet.Store = (*Manager)(nil)

// RunTarget implements [fleet.Store]: the target is a run of the store, with the id x.RunID and the id of the target as
// its project. A run that has failed, was canceled, or whose process has died continues after its last finished step.
// If another program has changed files that its steps have read, it continues before the first of these steps. It does
// not go back past a step that has acted outside of the tree: then the error is a *[millrace.DriftError]. A run that
// waits for a decision stays waiting, and the code of the error is "held": after it was played, by a manager whose
// Trees have the target, the next attempt returns the result. For a run that has ended, or whose data was removed, it
// returns the result that the tree has. If the tree has none, it is another tree, and gets a separate run with the same
// id.
//
// The policy is x, not the policy of the Host, except ApproveFrom. The run does not count towards MaxRunning. A dry run
// is not kept.
func (m *Manager) RunTarget(ctx context.Context, x millrace.Executor, t fleet.Target, tree afero.Fs,
	p millrace.Pipeline) (*millrace.Result, error) {
	switch {
	case isNested(ctx):
		return nil, millrace.ErrNested
	case x.DryRun || p.Options().DryRun || !journal.ValidRunID(x.RunID):
		return x.Run(ctx, tree, p)
	}
	one, done, err := m.forTarget(ctx, x, tree, p)
	if err != nil {
		return nil, err
	}
	defer done()
	w, err := one.takeTarget(ctx, x, t)
	if w != nil && w.status() != runs.Created && w.status() != runs.Pending {
		if res, err := one.replayed(ctx, w, tree); res != nil || err != nil {
			return res, also(err, w.close())
		}
		if err = w.close(); err == nil {
			w, err = one.createTarget(ctx, x, t)
		}
	}
	if err != nil {
		return nil, err
	}
	s, err := one.beginAs(w, true)
	if err != nil {
		return nil, err
	}
	<-s.over
	if s.res == nil && s.err == nil {
		return nil, s.failed
	}
	return s.res, s.err // a failure to record is only in the log of the host
}

// given is Trees with one open tree, which its caller closes.
type given struct{ fs afero.Fs }

// Open implements [fleet.Trees].
func (g given) Open(context.Context, fleet.Target) (fleet.Tree, error) {
	return fleet.Tree{FS: g.fs}, nil
}

// forTarget returns a manager for one run, which ends with ctx, and with this manager. Call done at the end.
func (m *Manager) forTarget(ctx context.Context, x millrace.Executor, tree afero.Fs,
	p millrace.Pipeline) (one *Manager, done func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, nil, errClosed
	}
	m.wg.Add(1)
	one = &Manager{
		store: m.store, host: m.host, working: make(map[int64]*session), claims: make(map[int64]chan struct{}),
		pruned: m.store.now(), target: &target{pipeline: p, recorded: x.Recorder},
	}
	one.target.approver, _ = x.Checkpoints.(millrace.Approver)
	one.host.Executor, one.host.Trees = x, given{tree}
	one.base, one.stop = context.WithCancelCause(ctx)
	unbind := context.AfterFunc(m.base, func() { one.stop(context.Cause(m.base)) })
	return one, func() {
		unbind()
		one.stop(errClosed)
		if err := m.prune(m.base); err != nil {
			m.log("old runs cannot be removed", 0, err)
		}
		m.wg.Done()
	}, nil
}

// takeTarget creates the run of a target, or takes the existing run: then it is Created or Pending, or needs no
// work. Two processes that look at the same moment may both create a run: the lock of the tree admits one of
// them, as it does without a store.
func (m *Manager) takeTarget(ctx context.Context, x millrace.Executor, t fleet.Target) (*writer, error) {
	number, err := m.store.numberOfTarget(ctx, x.RunID)
	switch {
	case err != nil:
		return nil, err
	case number == 0:
		return m.createTarget(ctx, x, t)
	}
	w, err := m.ownTarget(ctx, x, number)
	if err != nil {
		return nil, err
	}
	if w.status().Active() {
		err = m.settle(ctx, w, true)
	}
	var may, begun bool
	if err == nil {
		w.state(func(f *folded) {
			begun, may = f.status != runs.Created, f.resumable()
			if f.status == runs.Manual {
				held := &millrace.HeldError{Reason: f.reason}
				if f.undecided != nil && f.undecided.At != nil {
					held.At = f.undecided.At.position()
				}
				err = held
			}
		})
	}
	if err == nil && may && begun {
		err = m.goOn(w, m.host.User)
	}
	if err != nil {
		return nil, also(err, w.close())
	}
	return w, nil
}

// replayed returns the result that the tree has for a run, nil if it has none.
func (m *Manager) replayed(ctx context.Context, w *writer, tree afero.Fs) (*millrace.Result, error) {
	x := m.host.Executor
	x.Checkpoints, x.Recorder = onlooker{w.spill()}, nil
	res, err := x.Resume(ctx, tree, m.target.pipeline, millrace.Saved{})
	if held, ok := errors.AsType[*millrace.HeldError](err); ok {
		_ = held.Plan.Close() // nothing was written
		return nil, nil
	}
	return res, err
}

// createTarget creates the run of a target.
func (m *Manager) createTarget(ctx context.Context, x millrace.Executor, t fleet.Target) (*writer, error) {
	p := m.target.pipeline
	n := newRun{status: runs.Created, steps: stepNames(p), created: created{
		ID: x.RunID, Project: t.ID, Name: p.Name(), Ref: p.Name(), SHA: p.Digest(), Source: sourceCampaign,
		User:  m.host.User,
		Child: new(childOf), // without a parent run
	}}
	var err error
	if n.pipeline, err = p.MarshalJSON(); err != nil {
		return nil, fmt.Errorf("the pipeline cannot be stored: %w", err)
	}
	if n.target, err = json.Marshal(t); err != nil {
		return nil, err
	}
	return m.store.create(ctx, n)
}

// ownTarget takes a run. It waits for a process that works on it, as long as for the lock of the tree.
func (m *Manager) ownTarget(ctx context.Context, x millrace.Executor, number int64) (*writer, error) {
	wait := x.State.LockWait
	if wait == 0 {
		wait = millrace.DefaultLockWait
	}
	for began := time.Now(); ; {
		w, err := m.store.own(number)
		if !errors.Is(err, runs.ErrBusy) || wait > 0 && time.Since(began) >= wait {
			return w, err
		}
		select {
		case <-time.After(busyWait):
		case <-ctx.Done():
			return nil, errors.Join(err, context.Cause(ctx))
		}
	}
}

// numberOfTarget returns the number of this user's last run with that id, 0 if not found.
func (s *Store) numberOfTarget(ctx context.Context, id string) (number int64, err error) {
	if ok, err := s.present(); err != nil || !ok {
		return 0, err
	}
	c := scan{s: s, upTo: everything, trusts: func(e *entry) bool { return !e.tooLong }}
	c.visit = func(e *entry) bool {
		if string(e.id) == id {
			if l, err := s.load(e.number); err == nil && l.created.ID == id && !l.foreign {
				number = e.number
			}
		}
		return true
	}
	return number, c.run(ctx)
}

// recorder returns the recorder of the run, followed by the recorder of the worker.
func (t *target) recorder(own answers) millrace.Recorder {
	if t == nil || t.recorded == nil {
		return own
	}
	return twoRecorders{own, t.recorded}
}

// approve calls the approver of the worker.
func (t *target) approve(ctx context.Context, plan *millrace.Plan) error {
	if t == nil || t.approver == nil {
		return nil
	}
	return t.approver.Approve(ctx, plan)
}

// twoRecorders keeps answers in both, and searches the first before the second.
type twoRecorders struct{ own, other millrace.Recorder }

// Find implements [millrace.Recorder].
func (r twoRecorders) Find(key string) (millrace.Recorded, bool, error) {
	found, ok, err := r.own.Find(key)
	if ok || err != nil {
		return found, ok, err
	}
	found, ok, err = r.other.Find(key)
	found.Cost = 0 // it was not paid for in this run
	return found, ok, err
}

// Keep implements [millrace.Recorder].
func (r twoRecorders) Keep(key string, kept millrace.Recorded) error {
	return errors.Join(r.own.Keep(key, kept), r.other.Keep(key, kept))
}
