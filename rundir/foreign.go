package rundir

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/runs"
)

// signer returns a number for the user's key in slots, 0 without a key. It cannot be computed without the key, so
// a slot that came with the tree does not pass as a slot of the user's own run.
func (s *Store) signer() uint64 {
	key, err := s.readKey()
	if err != nil || len(key) == 0 {
		return 0
	}
	h := hmac.New(sha256.New, key)
	h.Write([]byte("slot of millrace runs"))
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// ownForeign takes a foreign run, only for [pruner.remove]. It returns the errors of [Store.own], and
// [runs.ErrNotFound] for a run of the user's own.
func (s *Store) ownForeign(number int64) (*writer, error) {
	lock, err := s.takeLock(number)
	if errors.Is(err, capability.ErrLocked) {
		return nil, s.busy(number, err)
	}
	if err != nil {
		return nil, orNoRun(err)
	}
	l, err := s.load(number)
	if err == nil && !l.foreign {
		err = fmt.Errorf("run %d is not foreign: %w", number, runs.ErrNotFound)
	}
	var w *writer
	if err == nil {
		w, err = s.writerOf(l, lock)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return w, nil
}
