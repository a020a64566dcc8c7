package commit_test

import (
	"errors"
	"sync"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/errorfs"
)

// hooks is called for operations on a file system before they run. Nothing is ever synced.
type hooks struct {
	mu sync.Mutex
	n  int
	// before gets the number of the operation, from 1, its name, whether it changes something, and a path. If it returns
	// an error, the operation is skipped; with errTorn, half of a write is done.
	before func(n int, op string, writes bool, name string) error
}

var errTorn = errors.New("torn write")

// withHooks wraps a file system so that it keeps exactly its abilities.
func withHooks(fsys afero.Fs, h *hooks) afero.Fs { return errorfs.Wrap(fsys, h.around) }

func (h *hooks) call(op string, writes bool, name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.n++
	if h.before == nil {
		return nil
	}
	return h.before(h.n, op, writes, name)
}

func (h *hooks) around(op *errorfs.Op, do func() error) error {
	switch op.Kind {
	case "noreplace":
		op.Kind = "rename"
	case "mkdirall":
		op.Kind = "mkdir"
	case "removeall":
		op.Kind = "remove"
	case "fstat":
		op.Kind = "stat"
	case "chown", "identity", "inherit", "pread", "pwrite", "truncate":
		return do()
	case "close":
		if !op.Writes { // it only matters for written files
			return do()
		}
	}
	err := h.call(op.Kind, op.Writes, op.Name)
	switch {
	case errors.Is(err, errTorn) && op.Kind == "write":
		op.Data = op.Data[:len(op.Data)/2]
		_ = do() // the error is already decided
		return op.Error(err)
	case err != nil:
		return op.Error(err)
	case op.Kind == "sync" || op.Kind == "syncdir":
		return nil
	}
	return do()
}
