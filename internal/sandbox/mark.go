package sandbox

import (
	"crypto/rand"
	"encoding/binary"
)

// Mark is a number that a command and all its descendants carry, even in another session, without an environment, or
// without a parent. They cannot remove it if calls are filtered. The zero Mark means no mark.
type Mark uint64

// NewMark returns a unique mark.
func NewMark() Mark {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return Mark(binary.NativeEndian.Uint64(b[:])>>2 | 1)
}
