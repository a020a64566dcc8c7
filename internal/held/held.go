// Package held keeps a resource with several users open, and closes it after the last user.
package held

import (
	"errors"
	"sync"
)

// Held is a resource that is kept open. It is safe for concurrent use.
type Held struct {
	mu    sync.Mutex
	users int
	close []func() error
}

// New returns a Held with its first user and nothing to close.
func New() *Held { return &Held{users: 1} }

// Use reports whether it is still open, and if so keeps it open until Drop is called.
func (h *Held) Use() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.users == 0 {
		return false
	}
	h.users++
	return true
}

// Add adds something to close at the end.
func (h *Held) Add(closer func() error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.close = append(h.close, closer)
}

// Drop ends one use, and closes everything if that was the last.
func (h *Held) Drop() error {
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
