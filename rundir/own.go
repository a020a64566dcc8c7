package rundir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/filelock"
	"github.com/millrace-go/millrace/internal/recordlog"
	"github.com/millrace-go/millrace/runs"
)

// own takes a run to work on it. The error matches [runs.ErrNotFound], [runs.ErrBusy] if another process works on it,
// [runs.ErrForeign], or [runs.ErrDamaged]. The first append cuts off bytes that no valid record refers to, and records
// whose data is incomplete.
func (s *Store) own(number int64) (*writer, error) {
	if _, err := s.writeKey(); err != nil {
		return nil, err
	}
	l, err := s.load(number)
	if err != nil {
		return nil, err
	}
	if l.foreign {
		return nil, fmt.Errorf("run %d: %w", number, runs.ErrForeign)
	}
	lock, err := s.takeLock(number)
	if errors.Is(err, capability.ErrLocked) {
		return nil, s.busy(number, err)
	}
	if err != nil {
		return nil, orNoRun(err)
	}
	w, err := s.continued(number, lock)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return w, nil
}

func (s *Store) takeLock(number int64) (io.Closer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	return filelock.File(ctx, s.d, s.layout.run(number, runFile))
}

// continued returns the writer of a run whose lock is held.
func (s *Store) continued(number int64, lock io.Closer) (*writer, error) {
	l, err := s.load(number) // another process may have worked on it until now
	if err != nil {
		return nil, err
	}
	if !l.dropped && !l.status.Final() {
		if l, err = s.whole(l); err != nil {
			return nil, err
		}
	}
	return s.writerOf(l, lock)
}

// writerOf returns the writer of a run that was read under its lock.
func (s *Store) writerOf(l *loaded, lock io.Closer) (*writer, error) {
	f, err := recordlog.Open(s.d.FS, s.layout.run(l.number, runFile))
	if err != nil {
		return nil, err
	}
	key, err := s.writeKey()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	w := s.newWriter(l.number, lock)
	w.run = l.folded
	w.records = recordlog.NewWriter(f, key, l.end)
	w.data = recordlog.NewData(s.openFor(l.number, dataFile, w.made), l.dataEnd())
	return w, nil
}

// whole returns the run up to its first record with incomplete data.
func (s *Store) whole(l *loaded) (*loaded, error) {
	data := &lazyData{layout: s.layout, number: l.number}
	defer data.Close()
	for i, span := range l.appended {
		_, err := recordlog.Check(data, *span)
		switch {
		case err == nil:
		case errors.Is(err, recordlog.ErrBytes), errors.Is(err, os.ErrNotExist):
			return s.upTo(l.number, l.ends[i])
		default:
			return nil, err
		}
	}
	return l, nil
}

// upTo reads a run again, up to an earlier end of its records.
func (s *Store) upTo(number int64, end recordlog.End) (*loaded, error) {
	key, err := s.readKey()
	if err != nil {
		return nil, err
	}
	file, err := s.read(number, runFile, end.Offset)
	if err != nil {
		return nil, err
	}
	l, err := s.fold(number, recordlog.NewReader(file, key))
	if err != nil {
		return nil, damaged(number, err)
	}
	return l, nil
}
