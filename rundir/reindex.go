package rundir

import (
	"context"

	"github.com/millrace-go/millrace/internal/filelock"
)

// reindex writes the slots of ended runs that the index lacks: after the index was deleted, lists would have to read
// all of them every time. Each slot is written under the lock of its run, as by an owner; runs that are worked on are
// left to their owners.
func (s *Store) reindex(ctx context.Context) error {
	var missing []int64
	known := int64(0) // later runs that trusts was not called for were read from their records
	c := scan{s: s, upTo: everything}
	c.trusts = func(e *entry) bool {
		known = e.number
		return true
	}
	c.visit = func(e *entry) bool {
		if e.number != known && e.status.Ended() {
			missing = append(missing, e.number)
		}
		return true
	}
	if err := c.run(ctx); err != nil || len(missing) == 0 {
		return err
	}
	index, err := s.openIndex()
	if err != nil {
		return nil // the index is only for speed
	}
	defer index.Close()
	now, cancel := context.WithCancel(ctx)
	cancel() // a lock that is not free belongs to an owner
	for _, number := range missing {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		lock, err := filelock.File(now, s.d, s.run(number, runFile))
		if err != nil {
			continue
		}
		var written error
		if l, err := s.load(number); err == nil && l.status.Ended() && !l.foreign {
			e := entryOf(l.shownRun)
			e.signer = s.signer()
			_, written = index.WriteAt(e.encode(), number*slotSize)
		}
		if err := lock.Close(); err != nil || written != nil {
			return err
		}
	}
	return nil
}
