package rundir

import (
	"context"
	"encoding/binary"
	"math"
	"time"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/runs"
)

// indexGrain is the time after a write to the index in which another write may leave the same file time: file systems
// round times by up to two seconds. lookAtAll is the time after which all runs are checked in any case, because a
// process that was killed, or cannot write to the index, may have left a run that the index does not have.
const (
	indexGrain = 2 * time.Second
	lookAtAll  = 5 * time.Second
)

// lookout is the memory of [Manager.Work] about runs that wait for a process, so that it reads little while nothing
// happens. The runs are not checked again until the index changes, and the data of a run is valid until its slot
// changes. So a run that is not due is read once. If its slot could not be written since, it is read again when it is
// due. It is for one goroutine.
type lookout struct {
	m *Manager
	// index is the state of the index at the last reading, the zero State if later writes might not show in it.
	index   change.State
	read    time.Time
	waiting []waiting
}

// waiting is a run that may wait for a process.
type waiting struct {
	number int64
	slot   uint32 // the checksum of its slot, 0 for a run without a slot
	next   int64  // the time before which it need not be read, in nanoseconds since 1970
}

// runs returns the runs to look at. The children of a fleet are left to the fleet.
func (l *lookout) runs(ctx context.Context) ([]waiting, error) {
	s := l.m.store
	if ok, err := s.present(); err != nil || !ok {
		return nil, err
	}
	now := time.Now()
	index, err := s.d.Look(s.path(indexFile))
	if err != nil || index.Kind != change.File {
		index = change.State{}
	}
	if index != (change.State{}) && index == l.index && now.Sub(l.read).Abs() < lookAtAll {
		return l.waiting, nil
	}
	known := make(map[int64]waiting, len(l.waiting))
	for _, w := range l.waiting {
		known[w.number] = w
	}
	l.waiting = l.waiting[:0]
	last := int64(0) // later runs that trusts was not called for were read from their records
	c := scan{s: s, upTo: everything}
	c.trusts = func(e *entry) bool {
		last = e.number
		if !e.settled() && e.status != runs.Manual && e.parent == 0 {
			w := waiting{number: e.number, slot: binary.BigEndian.Uint32(c.slot)}
			if k := known[e.number]; k.slot == w.slot {
				w.next = k.next
			}
			l.waiting = append(l.waiting, w)
		}
		return true
	}
	c.visit = func(e *entry) bool {
		if e.number != last && !e.status.Final() && e.status != runs.Manual && e.parent == 0 {
			l.waiting = append(l.waiting, waiting{number: e.number})
		}
		return true
	}
	if err := c.run(ctx); err != nil {
		l.index = change.State{}
		return nil, err
	}
	if l.index, l.read = index, now; now.Sub(index.ModTime) < indexGrain {
		l.index = change.State{}
	}
	return l.waiting, nil
}

// never is the next look at a run that waits for nothing.
const never = math.MaxInt64

// nextLook returns the time to look again at a run that was not taken, 0 for the next time.
func nextLook(r shownRun) int64 {
	switch {
	case r.foreign, !r.dead && (r.status.Ended() || r.status == runs.Manual):
		return never
	case r.status == runs.Scheduled:
		return nanos(r.created.StartAt)
	}
	return 0
}
