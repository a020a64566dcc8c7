package stage_test

import (
	"bytes"
	"io"
	"sync"
)

// memSpill is a Spill in memory that outlives a stage.
type memSpill struct {
	mu   sync.Mutex
	data []byte
	err  error // of the next Append
}

func (s *memSpill) Append(p []byte) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.err; err != nil {
		return 0, err
	}
	s.data = append(s.data, p...)
	return int64(len(s.data) - len(p)), nil
}

func (s *memSpill) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return io.NewSectionReader(bytes.NewReader(s.data), 0, int64(len(s.data))).ReadAt(p, off)
}
