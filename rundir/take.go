package rundir

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/runs"
)

// workWait is the time between two looks of [Manager.Work].
const workWait = 200 * time.Millisecond

// treeWait is the time for which [Manager.Work] leaves a run alone if its tree cannot be read to find out whether it
// was committed.
const treeWait = 10 * time.Second

// mostTakes is the number of times that a run is taken although its process dies each time.
const mostTakes = 3

// Work takes created runs that no process works on, and runs that are due. With [Host.Adopt] it also takes runs whose
// process has died; without it, it records that these have failed. It works until ctx is done, and then returns nil;
// the runs that it has begun continue until [Manager.Close]. It takes at most MaxRunning runs.
func (m *Manager) Work(ctx context.Context) error {
	l := &lookout{m: m}
	for {
		if err := l.takeAll(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(workWait):
		}
	}
}

// takeAll takes all runs that can be taken now.
func (l *lookout) takeAll(ctx context.Context) error {
	m := l.m
	if m.full() {
		return m.closedErr()
	}
	all, err := l.runs(ctx)
	if err != nil {
		return err
	}
	now := nanos(m.store.now())
	for i := range all {
		w := &all[i]
		if w.next > now {
			continue
		}
		if err := cmp.Or(context.Cause(ctx), m.closedErr()); err != nil {
			return err
		}
		if m.full() {
			return nil
		}
		if held, err := m.store.locked(w.number); err == nil && held {
			continue // a process works on it
		}
		next, err := m.takeIfDue(ctx, w.number)
		if w.slot != 0 {
			w.next = next
		}
		if unknown, ok := errors.AsType[*unknownError](err); ok {
			if errors.Is(err, fsutil.ErrLocked) {
				continue // it has already waited for the lock, so no further wait is needed
			}
			m.mu.Lock()
			m.unknown[unknown.run] = m.store.now().Add(treeWait)
			m.mu.Unlock()
		}
		if err != nil && !errors.Is(err, runs.ErrBusy) && !errors.Is(err, runs.ErrForeign) &&
			!errors.Is(err, runs.ErrNotFound) && ctx.Err() == nil {
			m.log("a run cannot be taken", w.number, err)
		}
	}
	return nil
}

func (m *Manager) closedErr() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return errClosed
	}
	return nil
}

// full reports whether the manager has no free place for another run.
func (m *Manager) full() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.places != nil && len(m.working) >= cap(m.places)
}

// isUnknown reports whether the tree of a run could not be read a moment ago.
func (m *Manager) isUnknown(number int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	until, unknown := m.unknown[number]
	if unknown && !m.store.now().Before(until) {
		delete(m.unknown, number)
		unknown = false
	}
	return unknown
}

// takeIfDue begins to work on a run that a manager may start without a request. It returns the time to look again at a
// run that was not taken, see [nextLook].
func (m *Manager) takeIfDue(ctx context.Context, number int64) (next int64, err error) {
	l, err := m.store.look(number)
	if err != nil || l.foreign || !l.dead && !m.isDue(l.folded) || m.session(number) != nil ||
		l.dead && m.isUnknown(number) {
		if err == nil {
			next = nextLook(l.shownRun)
		}
		return next, err
	}
	release, err := m.claim(ctx, number)
	if err != nil {
		return 0, err
	}
	defer release()
	w, err := m.store.own(number)
	if err != nil {
		return 0, err
	}
	if w.status().Active() {
		if err = m.settle(ctx, w, false); err == nil && m.host.Adopt {
			err = m.adopt(w)
		}
	}
	due := false
	w.state(func(f *folded) { due = m.isDue(f) })
	if err != nil || !due {
		return 0, also(err, w.close())
	}
	return 0, m.begin(w)
}

// isDue reports whether a manager may start a run without a request.
func (m *Manager) isDue(f *folded) bool {
	return f.status == runs.Created || f.status == runs.Scheduled && !f.created.StartAt.After(m.store.now()) ||
		f.status == runs.Pending && f.endings > 0 // it was adopted just now
}

// adopt decides to continue a run whose process has died.
func (m *Manager) adopt(w *writer) error {
	var takes int
	var may bool
	w.state(func(f *folded) { takes, may = f.takes, f.status == runs.Failed && f.resumable() })
	if !may || takes >= mostTakes {
		return nil
	}
	return m.goOn(w, "")
}
