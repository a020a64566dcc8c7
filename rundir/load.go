package rundir

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/recordlog"
	"github.com/millrace-go/millrace/runs"
)

// foreignBytes is the number of bytes read of a run that another key has signed: enough to show it.
const foreignBytes = 256 << 10

// errNoRun means that no run has this number, or that it has no record yet, for example because its process was killed
// while it created the run.
var errNoRun = fmt.Errorf("no run: %w", runs.ErrNotFound)

// orNoRun returns errNoRun for the error of a missing file: another process may remove a run between two accesses.
func orNoRun(err error) error {
	if disk.IsAbsent(err) {
		return errNoRun
	}
	return err
}

// loaded is the state of a run from its records.
type loaded struct {
	shownRun
	end recordlog.End
	// ends are the ends of the records that refer to the data of the run, see [folded.appended].
	ends []recordlog.End
}

// load reads a run. The error is errNoRun, or matches [runs.ErrDamaged], or is the reason why the files cannot be read.
// It does not check whether a process works on the run: see [Store.look].
func (s *Store) load(number int64) (*loaded, error) {
	key, err := s.readKey()
	if err != nil {
		return nil, err
	}
	file, err := s.read(number, runFile, recordlog.MaxFile+1)
	switch err = orNoRun(err); {
	case errors.Is(err, errNoRun):
		return nil, err
	case err != nil:
		return nil, damaged(number, err)
	}
	l, err := s.fold(number, recordlog.NewReader(file, key))
	if stop, ok := errors.AsType[*recordlog.Stop](err); ok && stop.Reason == recordlog.Unsigned {
		l, err = s.fold(number, recordlog.NewUnverified(file[:min(len(file), foreignBytes)]))
		if err == nil {
			l.foreign = true
		}
	}
	if err != nil {
		// After a power cut, a record that was not durable may have any content.
		if stop, ok := errors.AsType[*recordlog.Stop](err); ok &&
			(stop.Reason == recordlog.Torn || stop.Reason == recordlog.Damaged) {
			return nil, errNoRun
		}
		return nil, damaged(number, err)
	}
	home, err := s.isHome(number, l.created)
	if err != nil {
		return nil, err
	}
	l.foreign = l.foreign || l.created.Number != number || !home
	return l, nil
}

// fold reads the records of a run as far as they can be trusted.
func (s *Store) fold(number int64, r *recordlog.Reader) (*loaded, error) {
	l := &loaded{shownRun: shownRun{folded: new(folded), number: number}}
	for {
		json, ok := r.Next()
		if !ok {
			break
		}
		rec, err := decodeRecord(json)
		if err == nil {
			had := len(l.appended)
			if err = l.add(rec); err == nil && len(l.appended) > had {
				l.ends = append(l.ends, l.end)
			}
		}
		if err != nil {
			if l.created == nil {
				return nil, err
			}
			break // a record of a later version is not understood: the run has its state before that record
		}
		l.end = r.End()
	}
	switch {
	case l.created != nil:
		return l, nil
	case r.Stop() != nil:
		return nil, r.Stop()
	}
	return nil, &recordlog.Stop{Reason: recordlog.Torn, Record: 1} // an empty file
}

// isHome reports whether a run is in the directory in which it was created, or may be elsewhere. The device number is
// ignored, because a disk may get another number each time that the machine starts. The error is errNoRun if the
// directory no longer exists.
func (s *Store) isHome(number int64, c *created) (bool, error) {
	if s.moved || c.Ino == 0 {
		return true, nil
	}
	at, err := s.d.Look(s.run(number))
	if err == nil && at.Kind == change.Absent {
		return false, errNoRun
	}
	return err == nil && at.ID.Ino == c.Ino, nil
}

// look is load, and also checks whether the process of an active run is alive.
func (s *Store) look(number int64) (*loaded, error) {
	l, err := s.load(number)
	if err != nil || !l.status.Active() {
		return l, err
	}
	if l.foreign {
		l.dead = true // no process of this user works on it
		return l, nil
	}
	held, err := s.locked(number)
	if err != nil || held {
		return l, err
	}
	// It may have ended between the two checks.
	if l, err = s.load(number); err == nil {
		if l.dead = l.status.Active(); l.dead {
			l.lost = s.lostReason(number, l.takes)
		}
	}
	return l, err
}

// damaged reports that a run cannot be read.
func damaged(number int64, err error) error {
	return fmt.Errorf("%w: run %s: %w", runs.ErrDamaged, strconv.FormatInt(number, 10), err)
}
