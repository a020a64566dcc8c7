// Package backing has the hidden part of a change: the readers of its bytes, and the hash not computed yet. Package
// change embeds it, so that packages of millrace can set it, while importers see only the methods that read.
package backing

import (
	"bytes"
	"crypto/sha256"
	"io"
)

// Opener opens a new stream of a file's bytes on each call. It is safe for concurrent use.
type Opener func() (io.ReadCloser, error)

// Bytes returns an Opener of data, which must not change afterwards.
func Bytes(data []byte) Opener {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
}

// Backing is embedded in a change.Change.
type Backing struct {
	// OldBytes and NewBytes read the two sides; nil means no file on that side.
	OldBytes, NewBytes Opener
	// SumNew computes New.Hash by reading the file. It is nil if the hash is known.
	SumNew func() ([sha256.Size]byte, error)
	// MetaFrom is the name of the file whose owner, group and extended attributes the new file gets, if the file system
	// has them. "" means the file that was at From or Path before, if any.
	MetaFrom string
	// Trash means that a step has deleted the file that was at Path before, and another entry is there now. The
	// deleted file is kept even if no backup is kept.
	Trash bool
}

// SetBytes sets both sides of a change whose New.Hash is known or not needed.
func (b *Backing) SetBytes(old, new Opener) { b.OldBytes, b.NewBytes, b.SumNew = old, new, nil }
