package errorfs

import (
	"path"
	"sync/atomic"
)

// Endless is a Hook that makes the file with that base name endless, regardless of its reported size. It contains only
// the given byte. read counts the bytes that were read.
func Endless(name string, content byte, read *atomic.Int64) Hook {
	return func(op *Op, do func() error) error {
		if path.Base(op.Name) != name || op.Kind != "read" && op.Kind != "pread" {
			return do()
		}
		for i := range op.Data {
			op.Data[i] = content
		}
		op.Count = len(op.Data)
		read.Add(int64(op.Count))
		return nil
	}
}
