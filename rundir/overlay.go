package rundir

import (
	"io"
	"sync"
)

// shared is a reader that several goroutines may use.
type shared struct {
	mu sync.Mutex
	of io.ReaderAt
}

// ReadAt implements [io.ReaderAt].
func (r *shared) ReadAt(p []byte, offset int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of.ReadAt(p, offset)
}

// overlayFrom is the offset of an [overlay]'s bytes, larger than any offset of a spill.
const overlayFrom = int64(1) << 40

// overlay is a spill whose own bytes are in memory.
type overlay struct {
	of   io.ReaderAt
	mu   sync.Mutex
	mine []byte
}

// Append implements [fsutil.Spill].
func (o *overlay) Append(p []byte) (int64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at := overlayFrom + int64(len(o.mine))
	o.mine = append(o.mine, p...)
	return at, nil
}

// ReadAt implements [io.ReaderAt].
func (o *overlay) ReadAt(p []byte, offset int64) (int, error) {
	if offset < overlayFrom {
		return o.of.ReadAt(p, offset)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if offset-overlayFrom > int64(len(o.mine)) {
		return 0, io.EOF
	}
	n := copy(p, o.mine[offset-overlayFrom:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
