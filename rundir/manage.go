package rundir

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/runs"
)

// Manage returns a manager of the store. Close it at the end. The error reports a missing setting, or matches
// [runs.ErrNoKey].
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
		m.places = make(chan struct{}, cmp.Or(h.MaxRunning, defaultMaxRunning))
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

// Close waits for the runs that the manager works on; runs that wait for a decision stay unchanged. When ctx is done it
// stops the runs, which leaves them like a killed process, and returns the cause. After Close nothing can be created or
// decided.
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

// Create implements [runs.Manager]. The manager works on the run as soon as MaxRunning allows it, or when it is due.
func (m *Manager) Create(ctx context.Context, c runs.CreateParams) (runs.Run, error) {
	if isNested(ctx) {
		return runs.Run{}, millrace.ErrNested
	}
	n, invalid, err := m.describe(ctx, c)
	if err != nil {
		return runs.Run{}, err
	}
	return m.created(ctx, c, n, invalid)
}

// created creates a described run, and begins to work on it.
func (m *Manager) created(ctx context.Context, c runs.CreateParams, n newRun,
	invalid *millrace.ValidationError) (runs.Run, error) {
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

// startAt begins a scheduled run at its time, unless another manager has begun it.
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
			if _, err := m.takeIfDue(m.timed, number); err != nil && !errors.Is(err, runs.ErrBusy) &&
				!errors.Is(err, errClosed) {
				m.log("a scheduled run cannot begin", number, err)
			}
		case <-m.timed.Done():
		}
	}()
}

// Wait returns the run when it has ended, or waits for a decision. For a run that no manager works on, it waits until
// ctx is done; then the error is the cause.
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

// shown returns the run of a writer in the form for browsers.
func (m *Manager) shown(w *writer) (run runs.Run) {
	w.state(func(f *folded) {
		r := shownRun{folded: f, number: w.number}
		run = r.run()
		run.Result = r.result(w.spill())
	})
	return run
}
