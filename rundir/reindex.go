package rundir

import (
	"context"

	"github.com/millrace-go/millrace/internal/filelock"
)

// reindex gives runs that have ended, and of which the index does not say so, their slots: after it was deleted, lists
// would read all of them for ever. Each is written under the lock of its run, as by an owner; runs that are worked on
// are left to theirs.
func (s *Store) reindex(ctx context.Context) error {
	var missing []int64
	known := int64(0) // what comes behind it in the scan without having been asked for was read from the run
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
		return nil // it is only there to be fast
	}
	defer index.Close()
	now, cancel := context.WithCancel(ctx)
	cancel() // a lock that is not free now is that of an owner
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
