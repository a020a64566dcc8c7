package rundir

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/recordlog"
	"github.com/millrace-go/millrace/runs"
)

// farNumber is the number from which allocate checks who has created a run: few stores reach it, and runs that came
// with the tree must not use up the numbers.
const farNumber = 10_000_000

// allocate takes the next number: it creates its directory, and the file for the records. It is the only operation that
// several processes do at once. The process that has created the file owns the number: on layered file systems, such as
// an afero.CopyOnWriteFs, mkdir succeeds for a directory that already exists.
func (s *Store) allocate(ctx context.Context) (int64, recordlog.File, error) {
	next, err := s.next()
	if err != nil {
		return 0, nil, err
	}
	for number := next; number <= maxNumber; number++ {
		if err := context.Cause(ctx); err != nil {
			return 0, nil, err
		}
		f, err := s.tryNumber(number)
		if err == nil || disk.IsExist(err) {
			s.taken(number)
		}
		if !disk.IsExist(err) {
			return number, f, err
		}
	}
	return 0, nil, fmt.Errorf("the store has used up its %d numbers", maxNumber)
}

// tryNumber takes a number. The error matches [disk.IsExist] if it is already taken.
func (s *Store) tryNumber(number int64) (recordlog.File, error) {
	shard := s.path(shardName(number / perShard))
	at, err := s.d.Look(shard)
	switch {
	case err != nil:
		return nil, err
	case at.Kind != change.Dir && at.Kind != change.Absent:
		return nil, notADir(shard) // a link may have come with the store
	}
	err = s.d.FS.Mkdir(s.layout.run(number), 0o700)
	if disk.IsAbsent(err) {
		if err = s.makeDir(shard); err == nil {
			err = s.d.FS.Mkdir(s.layout.run(number), 0o700)
		}
	}
	if err != nil {
		return nil, err
	}
	// A directory that is left after an error here may belong to another process, and is swept later.
	return recordlog.Create(s.d.FS, s.layout.run(number, runFile))
}

// next returns a number after those known to be in use.
func (s *Store) next() (int64, error) {
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	if last == 0 {
		var err error
		if last, err = s.layout.last(); err == nil && last > farNumber {
			last, err = s.lastOwn()
		}
		if err != nil {
			return 0, err
		}
	}
	return last + 1, nil
}

// lastOwn returns the highest number of a run that this user's key has signed, 0 for none.
func (s *Store) lastOwn() (int64, error) {
	shards, err := s.shards()
	for _, shard := range slices.Backward(shards) {
		if err != nil {
			break
		}
		var all []int64
		all, err = s.inShard(shard)
		for _, number := range slices.Backward(all) {
			switch l, err := s.load(number); {
			case err == nil && !l.foreign:
				return number, nil
			case err != nil && !errors.Is(err, errNoRun) && !errors.Is(err, runs.ErrDamaged):
				return 0, err
			}
		}
	}
	return 0, err
}

func (s *Store) taken(number int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.last, number)
}
