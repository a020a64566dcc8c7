//go:build linux

package hostile_test

import (
	"io/fs"
	"regexp"
	"sync"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/errorfs"
)

// opHook sees each operation that changes a tree right before it is carried out, as "op path". The directory of the
// transaction is written T. Its result is the operation's error.
type opHook struct {
	mu     sync.Mutex
	before func(event string) error
}

// transaction matches the directory of a transaction, whose name differs each time.
const transaction = `^\.millrace/tx/\d{8}_\d{6}_[0-9a-f]+`

func (h *opHook) call(op, name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.before == nil {
		return nil
	}
	event := op + " " + regexp.MustCompile(transaction).ReplaceAllLiteralString(name, "T")
	if err := h.before(event); err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

// observe turns the phases of a commit into operations of the hook.
func (h *opHook) observe(e millrace.Event) {
	if p, ok := e.(millrace.CommitPhase); ok {
		_ = h.call("phase", p.Phase) // a phase cannot fail
	}
}

// wrap returns a real directory with all its abilities, and the hook.
func (h *opHook) wrap(root afero.Fs) afero.Fs {
	return errorfs.Wrap(root, func(op *errorfs.Op, do func() error) error {
		kind := op.Kind
		switch kind {
		case "open":
			if !op.Writes {
				return do()
			}
			kind = "create"
		case "noreplace":
			kind = "rename"
		case "mkdir", "remove", "rename", "exchange", "link", "symlink", "syncdir", "chmod", "chtimes", "copymeta", "sync":
		case "write":
			return h.halves(op, do)
		default:
			return do()
		}
		if err := h.call(kind, op.Name); err != nil {
			return err
		}
		return do()
	})
}

// halves writes in two halves, so that a kill at the second leaves half of the write.
func (h *opHook) halves(op *errorfs.Op, do func() error) error {
	whole := op.Data
	op.Data = whole[:len(whole)/2]
	if err := do(); err != nil {
		return err
	}
	if err := h.call(op.Kind, op.Name); err != nil {
		return err
	}
	op.Data = whole[len(whole)/2:]
	return do()
}

// seen returns a function that receives events and reports whether the moment has come: the first event that matches
// at, after an event that matches after, if that is not empty.
func seen(after, at string) func(event string) bool {
	first, second, passed := regexp.MustCompile(after), regexp.MustCompile(at), after == ""
	return func(event string) bool {
		if !passed {
			passed = first.MatchString(event)
			return false
		}
		return second.MatchString(event)
	}
}
