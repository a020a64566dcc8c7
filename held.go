package millrace

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
)

// held is what a run keeps open of the system: the directory that was opened for it, and the temporary file of its stage. It is
// closed when nobody uses it any more. It is safe for concurrent use.
type held struct {
	mu    sync.Mutex
	users int
	close []func() error
}

// use reports whether it is still open, and keeps it so until drop is called.
func (h *held) use() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.users == 0 {
		return false
	}
	h.users++
	return true
}

// add adds something to be closed in the end.
func (h *held) add(closer func() error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.close = append(h.close, closer)
}

func (h *held) drop() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.users--; h.users > 0 {
		return nil
	}
	var errs []error
	for _, closer := range h.close {
		errs = append(errs, closer())
	}
	h.close = nil
	return errors.Join(errs...)
}

// done is for the verb that has opened the tree, at its end.
func (t *tree) done() { _ = t.held.drop() } // a directory, and a temporary file that nobody reads any more

var errPlanClosed = fmt.Errorf("the plan was closed, or committed: %w", fs.ErrClosed)

// Close gives back what the plan keeps open: the directory, if the executor has opened it for a file system such as
// afero.OsFs, and a temporary file for what was staged beyond some megabytes. A Commit that succeeds does that by itself, and
// the garbage collector for a plan that is forgotten; Close does it at once. What the caller has opened stays open, and so does
// what other plans made of this one need.
//
// Afterwards Result, Changes and the like say what they did; whatever has to read files, as WriteDiff, RejectHunks, MarshalJSON
// and Commit, returns an error that matches fs.ErrClosed. A Commit that is going on is not disturbed. Closing again does
// nothing.
func (p *Plan) Close() error {
	p.mu.Lock()
	closed := p.closed
	p.closed = true
	p.mu.Unlock()
	if closed {
		return nil
	}
	return p.tree.held.drop()
}

// reading keeps the plan open until the caller is done.
func (p *Plan) reading() (done func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || !p.tree.held.use() {
		return nil, errPlanClosed
	}
	return p.tree.done, nil
}

// keep makes the plan a user of what the tree holds, until it is closed.
func (p *Plan) keep() *Plan {
	p.closed = !p.tree.held.use()
	return p
}
