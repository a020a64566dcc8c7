package foreign_test

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
)

// notebook stores the checkpoints of one run in memory.
type notebook struct {
	mu    sync.Mutex
	kept  []millrace.Checkpoint
	bytes []byte
}

func (n *notebook) Enter(context.Context, millrace.Position) error { return nil }

func (n *notebook) Keep(_ context.Context, c millrace.Checkpoint) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.kept = append(n.kept, c)
	return nil
}

func (n *notebook) Spill() fsutil.Spill { return n }

func (n *notebook) Append(p []byte) (offset int64, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.bytes = append(n.bytes, p...)
	return int64(len(n.bytes) - len(p)), nil
}

func (n *notebook) ReadAt(p []byte, off int64) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return bytes.NewReader(n.bytes).ReadAt(p, off)
}

func (n *notebook) saved() millrace.Saved {
	all := slices.Clone(n.kept)
	return millrace.Saved{Checkpoints: func(yield func(millrace.Checkpoint, error) bool) {
		for _, c := range all {
			if !yield(c, nil) {
				return
			}
		}
	}}
}
