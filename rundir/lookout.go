package rundir

import (
	"context"
	"encoding/binary"
	"math"
	"time"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/runs"
)

// How long after it was written to the index may have been written to again without having another time: file systems
// round times by up to two seconds. And after which time the runs are gone through in any case, for a process that was
// killed, or that cannot write to the index, may have left a run that the index does not name.
const (
	indexGrain = 2 * time.Second
	lookAtAll  = 5 * time.Second
)

// lookout is what [Manager.Work] remembers of the runs that wait for a process, so that it reads little while nothing
// happens: the runs are not gone through again as long as nobody has written to the index, and what was read of a run
// holds until its slot is another one. So a run that is not due is read once; where its slot could not be written
// since, it is looked at when it is due. It is for one goroutine.
type lookout struct {
	m *Manager
	// index is the index as it was when it was read last, the zero State if that says nothing of what was written
	// since.
	index   change.State
	read    time.Time
	waiting []waiting
}

// waiting is a run that may wait for a process.
type waiting struct {
	number int64
	slot   uint32 // the checksum of its slot, 0 for a run that has none
	next   int64  // before when it need not be looked at, in nanoseconds since 1970
}

// runs returns the runs that there are to look at. The children of a fleet wait for that.
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
	last := int64(0) // what comes behind it in the scan without having been asked for was read from the run
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

// never is when a run is looked at again that has nothing to wait for.
const never = math.MaxInt64

// nextLook returns when a run is to be looked at again that was not taken, 0 for the next time.
func nextLook(r shownRun) int64 {
	switch {
	case r.foreign, !r.dead && (r.status.Ended() || r.status == runs.Manual):
		return never
	case r.status == runs.Scheduled:
		return nanos(r.created.StartAt)
	}
	return 0
}
