package rundir

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/risk"
)

// defaultMaxRunning is how many runs a [Manager] works on at once unless [Host.MaxRunning] says otherwise.
const defaultMaxRunning = 4

// Host is what a [Manager] works with: its policy, and where trees and pipelines come from. The store says nothing of
// these, so a run that is taken up by another process is held to what that one allows.
type Host struct {
	// Executor is the policy that holds for every run. Its RunID, Checkpoints, Recorder and Shared are set by the
	// Manager. A LockWait of zero means without end here: a run waits for its tree until it is canceled.
	Executor millrace.Executor
	// Trees open the trees of runs. The ID of the target is the project, its Root is empty. [Dirs] takes the project
	// for a directory. Nil is an error.
	Trees fleet.Trees
	// Library finds the pipelines that runs are created from by name, and its Decoder reads the stored ones.
	Library millrace.Library
	// User is the name of the user in records, for those that say no other one.
	User string
	// ApproveFrom holds runs before their commit from this level of risk on. Unset, the zero value, holds none for its
	// risk alone. A run that limits or risk block, and force would lift, is always held.
	ApproveFrom risk.Level
	// MaxRunning is how many runs are worked on at once. Zero means 4, negative no limit.
	MaxRunning int
	// Adopt makes [Manager.Work] go on with runs whose process has died, unless that has happened three times.
	Adopt bool
	// AcceptMoved takes runs that lie in another directory than the one they were made in: a store that was moved, or
	// came back from a copy. Set it only where the directory has not come from a stranger.
	AcceptMoved bool
	// Retention is how long runs are kept.
	Retention Retention
	// Logger takes what goes wrong without a caller to tell it to. Nil means that nothing is logged.
	Logger *slog.Logger
}

// Manager creates runs, works on them, and decides about them. It is a [runs.Manager]; [Manager.Jobs] is the
// [runs.JobManager]. It is a [fleet.Store] for workers, see [Manager.RunTarget]. It is safe for concurrent use, also
// beside other managers of the same store, in any process.
type Manager struct {
	store *Store
	host  Host
	// places has an element for each run that is executed. Nil means no limit.
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

// errClosed is the error of a manager that was closed.
var errClosed = errors.New("the manager of runs is closed")

// errStopped is why a session ends that is to be resumed later, as if its process had died.
var errStopped = errors.New("the manager was closed")

// session is the work of one manager on one run, from when it has the run's lock until it gives it back.
type session struct {
	m    *Manager
	w    *writer
	ctx  context.Context
	stop context.CancelCauseFunc
	// over is closed when the lock is given back.
	over chan struct{}
	// canceling is held while a cancel is recorded, or that the run waits: then it is too late for a cancel of this
	// session.
	canceling sync.Mutex
	waits     bool
	// heard is the last request that was read, where there are more than are read at once.
	heard string
	// res and err are what the run has returned, failed why it could not be recorded. They are to be read when it is
	// over.
	res         *millrace.Result
	err, failed error
	// within means that the session is part of the session of a fleet, which waits for it.
	within bool
}

// target is what the manager of the run of one target has, nil of others.
type target struct {
	pipeline millrace.Pipeline
	recorded millrace.Recorder // of the worker, nil if it has none
	approver millrace.Approver // likewise
}

// canceledBy is why a session ends that a cancel has ended.
type canceledBy struct{ user string }

func (c *canceledBy) Error() string {
	if c.user == "" {
		return "canceled"
	}
	return "canceled by " + c.user
}

// session returns the session of a run that this manager works on, or nil.
func (m *Manager) session(number int64) *session {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.working[number]
}

// claim waits until no other verb of this manager is about the run, and returns the function that gives it back.
func (m *Manager) claim(ctx context.Context, number int64) (func(), error) {
	return m.claimAs(ctx, number, false)
}

// claimAs is claim. Work within a run is done although the manager is closed.
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

// log tells the host of what no caller can be told.
func (m *Manager) log(what string, number int64, err error) {
	if m.host.Logger != nil {
		m.host.Logger.Error(what, "run", number, "error", err)
	}
}

// isNested reports whether the context is that of a step. Only the executor knows the mark that such a context has; it
// is asked with a pipeline that nothing can be done with.
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
