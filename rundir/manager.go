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

// defaultMaxRunning is the default of [Host.MaxRunning].
const defaultMaxRunning = 4

// Host has the policy of a [Manager], and the sources of trees and pipelines. The store does not contain them, so the
// policy of the process that continues a run applies to the run.
type Host struct {
	// Executor is the policy for every run. The Manager sets its RunID, Checkpoints, Recorder and Shared. A LockWait of
	// zero means an endless wait here: a run waits for its tree until it is canceled.
	Executor millrace.Executor
	// Trees open the trees of runs. The ID of the target is the project, its Root is empty. With [Dirs] the project is a
	// directory. Nil is an error.
	Trees fleet.Trees
	// Library finds the pipelines for runs that are created by name, and its Decoder reads the stored pipelines.
	Library millrace.Library
	// User is the name of the user in records that have no other user.
	User string
	// ApproveFrom holds runs before their commit from this level of risk on. Unset, the zero value, holds none for its
	// risk alone. A run that is blocked by limits or risk, if force would lift that, is always held.
	ApproveFrom risk.Level
	// MaxRunning is the number of runs that the manager works on at once. Zero means 4, negative no limit.
	MaxRunning int
	// Adopt makes [Manager.Work] continue runs whose process has died, unless that has happened three times.
	Adopt bool
	// AcceptMoved accepts runs that are in another directory than the one in which they were created: a store that was
	// moved, or restored from a copy. Set it only if the directory has not come from a stranger.
	AcceptMoved bool
	// Retention describes how long runs are kept.
	Retention Retention
	// Logger receives errors that no caller receives. Nil means that nothing is logged.
	Logger *slog.Logger
}

// Manager creates runs, works on them, and decides about them. It is a [runs.Manager]; [Manager.Jobs] is the
// [runs.JobManager]. It is a [fleet.Store] for workers, see [Manager.RunTarget]. It is safe for concurrent use, also
// with other managers of the same store, in any process.
type Manager struct {
	store *Store
	host  Host
	// places has an element for each run that is executed. Nil means no limit.
	places chan struct{}
	base   context.Context // of all work
	stop   context.CancelCauseFunc
	timed  context.Context // for waiting until runs are due
	untime context.CancelFunc

	mu      sync.Mutex
	closed  bool
	claims  map[int64]chan struct{} // runs with a verb in progress; closed at the end of the verb
	working map[int64]*session
	wg      sync.WaitGroup
	trees   []fleet.Tree        // of plans that were returned
	waiting map[int64]int       // by fleet, the first target that may wait for a decision
	unknown map[int64]time.Time // dead runs whose trees could not be read, and the time of the next try
	pruned  time.Time
	target  *target // for the manager of one run, see [Manager.RunTarget], else nil
}

// errClosed is the error of a manager that was closed.
var errClosed = errors.New("the manager of runs is closed")

// errStopped is the cause for the end of a session that will be resumed later, as if its process had died.
var errStopped = errors.New("the manager was closed")

// session is the work of one manager on one run, from taking the run's lock to releasing it.
type session struct {
	m    *Manager
	w    *writer
	ctx  context.Context
	stop context.CancelCauseFunc
	// over is closed when the lock is released.
	over chan struct{}
	// canceling is held while a cancel, or the wait of the run, is recorded: after the wait is recorded, this session can
	// no longer be canceled.
	canceling sync.Mutex
	waits     bool
	// heard is the last request that was read, if there are more than are read at once.
	heard string
	// res and err are the result and the error of the run, failed is the reason why it could not be recorded. Read them
	// after over is closed.
	res         *millrace.Result
	err, failed error
	// within means that the session is part of the session of a fleet, which waits for it.
	within bool
}

// target has the data of a manager for the run of one target, nil for other managers.
type target struct {
	pipeline millrace.Pipeline
	recorded millrace.Recorder // of the worker, nil if it has none
	approver millrace.Approver // likewise
}

// canceledBy is the cause for the end of a canceled session.
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

// claim waits until no other verb of this manager uses the run, and returns the function that releases it.
func (m *Manager) claim(ctx context.Context, number int64) (func(), error) {
	return m.claimAs(ctx, number, false)
}

// claimAs is claim. Within a run it works even if the manager is closed.
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

// log logs errors that no caller receives.
func (m *Manager) log(what string, number int64, err error) {
	if m.host.Logger != nil {
		m.host.Logger.Error(what, "run", number, "error", err)
	}
}

// isNested reports whether the context is the context of a step. Only the executor can read the mark of such a context,
// so it is called with the zero pipeline, which never runs.
func isNested(ctx context.Context) bool {
	_, err := millrace.Executor{}.Plan(ctx, afero.NewMemMapFs(), millrace.Pipeline{})
	return errors.Is(err, millrace.ErrNested)
}

// also returns an error joined with an error of the cleanup after it, or the error itself if the cleanup succeeded.
func also(err, closing error) error {
	if closing == nil {
		return err
	}
	return errors.Join(err, closing)
}
