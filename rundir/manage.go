package rundir

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/runs"
)

// DefaultMaxRunning is how many runs a [Manager] works on at once unless [Host.MaxRunning] says otherwise.
const DefaultMaxRunning = 4

// Host is what a [Manager] works with: its policy, and where trees and pipelines come from. The store says nothing of
// these, so a run that is taken up by another process is held to what that one allows.
type Host struct {
	// Executor is the policy that holds for every run. Its RunID, Checkpoints, Recorder and Shared are set by the Manager.
	// A LockWait of zero means without end here: a run waits for its tree until it is canceled.
	Executor millrace.Executor
	// Trees open the trees of runs. The ID of the target is the project, its Root is empty. [Dirs] takes the project for a
	// directory. Nil is an error.
	Trees fleet.Trees
	// Library finds the pipelines that runs are created from by name, and its Decoder reads the stored ones.
	Library millrace.Library
	// User is the name of the user in records, for those that say no other one.
	User string
	// ApproveFrom holds runs before their commit from this level of risk on. Unset, the zero value, holds none for its
	// risk alone. What limits or risk block, and force would lift, is held in any case.
	ApproveFrom risk.Level
	// MaxRunning is how many runs are worked on at once. Zero means DefaultMaxRunning, negative no limit.
	MaxRunning int
	// Adopt makes [Manager.Work] go on with runs whose process has died, unless that has happened three times.
	Adopt bool
	// AcceptMoved takes runs that lie in another directory than the one they were made in: a store that was moved, or
	// came back from a copy. Set it only where the directory has not come from a stranger.
	AcceptMoved bool
	// Retention says how long runs are kept.
	Retention Retention
	// Logger takes what goes wrong without a caller to tell it to. Nil means that nothing is logged.
	Logger *slog.Logger
}

// Manager creates runs, works on them, and decides about them. It is a [runs.Manager]; [Manager.Jobs] is the
// [runs.JobManager]. It is a [fleet.Store] for workers, see [Manager.RunTarget]. It is safe for concurrent use, also beside other managers of the same store, in any process.
type Manager struct {
	store *Store
	host  Host
	// places has an element for each run that is executed, nil if there is no limit.
	places chan struct{}
	base   context.Context // of all work
	stop   context.CancelCauseFunc
	timed  context.Context // of waiting for the time of runs
	untime context.CancelFunc

	mu      sync.Mutex
	closed  bool
	claims  map[int64]chan struct{} // runs that a verb is about, closed when it is over
	working map[int64]*session
	wg      sync.WaitGroup
	trees   []fleet.Tree        // of plans that were given out
	waiting map[int64]int       // by fleet, before which target none waits for a decision
	unknown map[int64]time.Time // dead runs whose trees could not be asked, and when they are again
	pruned  time.Time
	target  *target // of the manager of one run, see [Manager.RunTarget], else nil
}

// errClosed says that the manager was closed.
var errClosed = errors.New("the manager of runs is closed")

// errStopped is why a session ends that is to be resumed later, as if its process had died.
var errStopped = errors.New("the manager was closed")

// Manage returns a manager of the store. It is to be closed. The error says what is missing, or matches [runs.ErrNoKey].
func (s *Store) Manage(h Host) (*Manager, error) {
	if h.Trees == nil {
		return nil, errors.New("a manager of runs needs Trees")
	}
	if err := h.Retention.check(); err != nil {
		return nil, err
	}
	own := &Store{layout: s.layout, options: s.options, given: s.given, moved: h.AcceptMoved, now: s.now}
	if _, err := own.writeKey(); err != nil {
		return nil, err
	}
	m := &Manager{
		store: own, host: h, claims: make(map[int64]chan struct{}), working: make(map[int64]*session),
		waiting: make(map[int64]int), unknown: make(map[int64]time.Time),
	}
	if h.MaxRunning >= 0 {
		m.places = make(chan struct{}, cmp.Or(h.MaxRunning, DefaultMaxRunning))
	}
	m.base, m.stop = context.WithCancelCause(context.Background())
	m.timed, m.untime = context.WithCancel(m.base)
	if err := m.prune(m.base); err != nil {
		m.log("old runs cannot be removed", 0, err)
	}
	return m, nil
}

// Jobs returns the manager of the jobs.
func (m *Manager) Jobs() runs.JobManager { return jobs{m} }

// Close waits for the runs that the manager works on, and for nothing else: those that wait for a decision stay where they
// are. When ctx is done it stops them where they are, which leaves them as a killed process does, and returns the cause.
// Nothing can be created or decided afterwards.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.untime()
	idle := make(chan struct{})
	go func() {
		m.wg.Wait()
		close(idle)
	}()
	var err error
	select {
	case <-idle:
	case <-ctx.Done():
		err = context.Cause(ctx)
		m.stop(errStopped)
		<-idle
	}
	m.stop(errClosed)
	m.mu.Lock()
	trees := m.trees
	m.trees = nil
	m.mu.Unlock()
	for _, t := range trees {
		if t.Close != nil {
			err = errors.Join(err, t.Close(context.WithoutCancel(ctx), nil, nil))
		}
	}
	return err
}

// Create implements [runs.Manager]. The manager works on the run as soon as it has a place, or when it is due.
func (m *Manager) Create(ctx context.Context, c runs.Create) (runs.Run, error) {
	if isNested(ctx) {
		return runs.Run{}, millrace.ErrNested
	}
	n, invalid, err := m.describe(ctx, c)
	if err != nil {
		return runs.Run{}, err
	}
	return m.created(ctx, c, n, invalid)
}

// created makes a run that was described, and begins to work on it.
func (m *Manager) created(ctx context.Context, c runs.Create, n newRun, invalid *millrace.ValidationError) (runs.Run, error) {
	m.mu.Lock()
	closed := m.closed
	m.mu.Unlock()
	if closed {
		return runs.Run{}, errClosed
	}
	w, err := m.store.create(ctx, n)
	if err != nil {
		return runs.Run{}, err
	}
	run := m.shown(w)
	switch {
	case invalid != nil:
		return run, also(invalid, w.close())
	case n.status == runs.Scheduled:
		if err = w.close(); err == nil {
			m.startAt(w.number, c.StartAt)
		}
		return run, err
	}
	return run, m.begin(w)
}

// isNested reports whether the context is that of a step. Only the executor knows the mark that such a context has; it is
// asked with a pipeline that nothing can be done with.
func isNested(ctx context.Context) bool {
	_, err := millrace.Executor{}.Plan(ctx, afero.NewMemMapFs(), millrace.Pipeline{})
	return errors.Is(err, millrace.ErrNested)
}

// also returns an error with what went wrong when it was cleaned up behind it: the error itself if that is nothing.
func also(err, closing error) error {
	if closing == nil {
		return err
	}
	return errors.Join(err, closing)
}

// startAt begins a run that is scheduled when its time has come, unless another manager has.
func (m *Manager) startAt(number int64, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	m.wg.Add(1)
	go func() {
		defer m.wg.Done()
		timer := time.NewTimer(at.Sub(m.store.now()))
		defer timer.Stop()
		select {
		case <-timer.C:
			if _, err := m.takeIfDue(m.timed, number); err != nil && !errors.Is(err, runs.ErrBusy) && !errors.Is(err, errClosed) {
				m.log("a scheduled run cannot begin", number, err)
			}
		case <-m.timed.Done():
		}
	}()
}

// Wait returns the run when it has ended, or waits for a decision. A run that no manager takes up is waited for until ctx
// is done; then the error is the cause.
func (m *Manager) Wait(ctx context.Context, ref runs.RunRef) (runs.Run, error) {
	l, err := m.store.find(ctx, ref)
	if err != nil {
		return runs.Run{}, err
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		var over <-chan struct{}
		if s := m.session(l.number); s != nil {
			over = s.over
		} else {
			run, err := m.store.Get(ctx, ref)
			if err != nil || run.Status.Ended() || run.Status == runs.Manual {
				return run, err
			}
		}
		timer := time.NewTimer(wait)
		select {
		case <-over:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return runs.Run{}, context.Cause(ctx)
		}
		timer.Stop()
	}
}

// session returns the one of a run that this manager works on, or nil.
func (m *Manager) session(number int64) *session {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.working[number]
}

// claim waits until no other verb of this manager is about the run, and returns the function that gives it back.
func (m *Manager) claim(ctx context.Context, number int64) (func(), error) {
	return m.claimAs(ctx, number, false)
}

// claimAs is claim. What is within the work on a run is done although the manager is closed.
func (m *Manager) claimAs(ctx context.Context, number int64, within bool) (func(), error) {
	for {
		m.mu.Lock()
		other := m.claims[number]
		if m.closed && !within {
			m.mu.Unlock()
			return nil, errClosed
		}
		if other == nil {
			mine := make(chan struct{})
			m.claims[number] = mine
			m.mu.Unlock()
			return func() {
				m.mu.Lock()
				delete(m.claims, number)
				m.mu.Unlock()
				close(mine)
			}, nil
		}
		m.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// shown is the run of a writer as a browser shows it.
func (m *Manager) shown(w *writer) (run runs.Run) {
	w.state(func(f *folded) {
		r := shownRun{folded: f, number: w.number}
		run = r.run()
		run.Result = r.result(w.spill())
	})
	return run
}

// log tells the host of what no caller can be told.
func (m *Manager) log(what string, number int64, err error) {
	if m.host.Logger != nil {
		m.host.Logger.Error(what, "run", number, "error", err)
	}
}
