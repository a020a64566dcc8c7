// Package backing is what stands behind a change: how its bytes are read, and what is left to be worked out. Package
// change embeds it, so that our own packages can set it while an importer sees only the methods that read.
package backing

import (
	"bytes"
	"crypto/sha256"
	"io"
)

// Opener opens a stream of a file's bytes, anew each time it is called. It is safe for concurrent use.
type Opener func() (io.ReadCloser, error)

// Bytes returns an Opener of data, which must not change afterwards.
func Bytes(data []byte) Opener {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
}

// Backing is embedded in a change.Change.
type Backing struct {
	// OldBytes and NewBytes read the two sides; nil means no file on that side.
	OldBytes, NewBytes Opener
	// SumNew works out New.Hash, by reading the file. It is nil if the hash is there.
	SumNew func() ([sha256.Size]byte, error)
	// MetaFrom is the name of the file that the new one takes owner, group and extended attributes from, where the file
	// system has them. "" means the file that was at From or Path before, if there was one.
	MetaFrom string
}

// SetBytes sets both sides of a change whose New.Hash is known, or not needed.
func (b *Backing) SetBytes(old, new Opener) { b.OldBytes, b.NewBytes, b.SumNew = old, new, nil }
