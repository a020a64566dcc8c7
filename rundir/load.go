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

// foreignBytes is how much is read of a run that another key has signed: enough to show it.
const foreignBytes = 256 << 10

// errNoRun means that there is no run of a number, or none yet: a process that is killed while it makes one leaves
// that.
var errNoRun = fmt.Errorf("no run: %w", runs.ErrNotFound)

// orNoRun returns errNoRun for the error of a file that is not there: another process may remove a run between two
// looks.
func orNoRun(err error) error {
	if disk.IsAbsent(err) {
		return errNoRun
	}
	return err
}

// loaded is what the records of a run say.
type loaded struct {
	shownRun
	end recordlog.End
	// ends are where the records end that the data of a run has to be held against, see [folded.appended].
	ends []recordlog.End
}

// load reads a run. The error is errNoRun, or matches [runs.ErrDamaged], or says why the files cannot be read. It does
// not look whether a process works on it: see [Store.look].
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
		// A power cut may leave anything of a record that was not durable.
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

// fold reads the records of a run as far as they can be believed.
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
			break // what a later version has written is not understood: the run is as it was before
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

// isHome reports whether a run lies in the directory that it was made in, or may lie elsewhere. The device is not asked
// for: a disk may get another number each time that the machine starts. The error is errNoRun if there is no directory
// any more.
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

// look is load, and looks whether the process of an active run is alive.
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
	// It may have ended between the two looks.
	if l, err = s.load(number); err == nil {
		l.dead = l.status.Active()
	}
	return l, err
}

// damaged reports that a run cannot be read.
func damaged(number int64, err error) error {
	return fmt.Errorf("%w: run %s: %w", runs.ErrDamaged, strconv.FormatInt(number, 10), err)
}
