package rundir

import (
	"context"
	"fmt"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/recordlog"
)

// allocate takes the next number: it makes the directory of it, and the file for the records. It is the only thing that
// several processes do at once. Who has made the file has the number: of layers, such as an afero.CopyOnWriteFs, mkdir
// makes a directory that is there already.
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

// tryNumber takes a number. The error is one of [disk.IsExist] if it is taken.
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
	// A directory that is left over after an error here may be another's, and is swept later.
	return recordlog.Create(s.d.FS, s.layout.run(number, runFile))
}

// next returns a number behind those that are known to be taken.
func (s *Store) next() (int64, error) {
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	if last == 0 {
		var err error
		if last, err = s.layout.last(); err != nil {
			return 0, err
		}
	}
	return last + 1, nil
}

func (s *Store) taken(number int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.last, number)
}
