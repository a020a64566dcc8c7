package sandbox

import (
	"crypto/rand"
	"encoding/binary"
)

// Mark is a number that a command and all that it starts carry, wherever they go: another session, no environment, no
// parent. They cannot take it off where calls are filtered. The zero Mark is none.
type Mark uint64

// NewMark returns a mark that no other command has.
func NewMark() Mark {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return Mark(binary.NativeEndian.Uint64(b[:])>>2 | 1)
}
