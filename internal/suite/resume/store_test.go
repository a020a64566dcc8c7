package resume_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"sync"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
)

// errKilled is the error of a store whose process is dead.
var errKilled = errors.New("the process is dead")

// store is a [millrace.Checkpointer] in memory that several processes use one after the other. Its contents are encoded
// as JSON, as in a file.
type store struct {
	mu      sync.Mutex
	kept    []json.RawMessage
	entered []millrace.Position
	bytes   []byte
	hold    func(millrace.Position) error // nil holds nothing

	calls int                       // number of calls of this process
	kill  int                       // the number of the call that kills this process, 0 for none
	late  bool                      // the input of that call is stored before the kill
	each  func()                    // called before every call, nil for nothing
	onEnd func(millrace.Checkpoint) // called for each final checkpoint
}

// next begins the next process, which is killed at call kill, or never if kill is 0.
func (s *store) next(kill int, late bool) { s.calls, s.kill, s.late = 0, kill, late }

// dies counts a call. It returns whether the process is dead before the call, and whether this call kills it.
func (s *store) dies() (before, at bool) {
	if s.each != nil {
		s.each()
	}
	s.calls++
	return s.kill > 0 && (s.calls > s.kill || s.calls == s.kill && !s.late), s.calls == s.kill
}

func (s *store) Enter(_ context.Context, at millrace.Position) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, now := s.dies()
	if before {
		return errKilled
	}
	s.entered = append(s.entered, at)
	if now {
		return errKilled
	}
	if s.hold != nil {
		return s.hold(at)
	}
	return nil
}

func (s *store) Keep(_ context.Context, c millrace.Checkpoint) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, now := s.dies()
	if before {
		return errKilled
	}
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	s.kept = append(s.kept, data)
	if c.Final && s.onEnd != nil {
		s.onEnd(c)
	}
	if now {
		return errKilled
	}
	return nil
}

func (s *store) Spill() fsutil.Spill { return spill{s} }

type spill struct{ *store }

func (s spill) Append(p []byte) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes = append(s.bytes, p...)
	return int64(len(s.bytes) - len(p)), nil
}

func (s spill) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if off > int64(len(s.bytes)) {
		return 0, io.EOF
	}
	n := copy(p, s.bytes[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// saved returns the stored state for the next process.
func (s *store) saved() millrace.Saved {
	return millrace.Saved{Checkpoints: s.checkpoints()}
}

func (s *store) checkpoints() iter.Seq2[millrace.Checkpoint, error] {
	return func(yield func(millrace.Checkpoint, error) bool) {
		for _, data := range s.kept {
			var c millrace.Checkpoint
			err := json.Unmarshal(data, &c)
			if !yield(c, err) {
				return
			}
		}
	}
}

// list returns the stored checkpoints.
func (s *store) list(t testing.TB) []millrace.Checkpoint {
	t.Helper()
	var all []millrace.Checkpoint
	for c, err := range s.checkpoints() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}
