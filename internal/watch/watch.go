// Package watch calls the host's functions that watch a run, its observer and its logger. They cannot disturb the run.
package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/millrace-go/millrace/internal/panics"
)

// Notes collects failures that do not affect the work, until a Result reports them as warnings. It is safe for
// concurrent use.
type Notes struct {
	mu   sync.Mutex
	list []note
}

type note struct{ about, text string }

// Add keeps the first note about each thing.
func (n *Notes) Add(about, format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.ContainsFunc(n.list, func(old note) bool { return old.about == about }) {
		n.list = append(n.list, note{about, fmt.Sprintf(format, args...)})
	}
}

// Take appends the notes to the warnings, each once, and removes them from n.
func (n *Notes) Take(warnings []string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	slices.SortFunc(n.list, func(a, b note) int { return strings.Compare(a.about, b.about) })
	for _, note := range n.list {
		if !slices.Contains(warnings, note.text) {
			warnings = append(warnings, note.text)
		}
	}
	n.list = nil
	return warnings
}

// apart calls a function of the host on a separate goroutine, and waits for it. So neither a panic nor runtime.Goexit,
// which t.FailNow calls, reaches the caller, which may be in the middle of a commit.
func apart(fn func()) error {
	return panics.Apart(errors.New("it has ended its goroutine"), func() error { fn(); return nil })
}

// Logger wraps the host's logger so that it can be called anywhere. Failures are noted.
func Logger(host *slog.Logger, n *Notes) *slog.Logger {
	return slog.New(&guardedHandler{host.Handler(), n})
}

// Observer wraps the host's observer so that it can be called anywhere, with one event at a time. Failures are noted
// and logged.
func Observer[Event any](host func(Event), log *slog.Logger, n *Notes) func(Event) {
	var mu sync.Mutex
	return func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		if err := apart(func() { host(e) }); err != nil {
			n.Add("observer", "the host's observer failed, the run went on: %v", err)
			log.Error("observer failed", "event", fmt.Sprintf("%T", e), "error", err, "stack", stackOf(err))
		}
	}
}

func stackOf(err error) string {
	if p, ok := errors.AsType[*panics.Error](err); ok {
		return string(p.Stack)
	}
	return ""
}

// guardedHandler is the host's handler of log records, called on a separate goroutine.
type guardedHandler struct {
	host  slog.Handler
	notes *Notes
}

func (h *guardedHandler) call(fn func()) {
	if err := apart(fn); err != nil {
		h.notes.Add("logger", "the host's logger failed, the run went on: %v", err)
	}
}

// Enabled implements [slog.Handler].
func (h *guardedHandler) Enabled(ctx context.Context, level slog.Level) (enabled bool) {
	h.call(func() { enabled = h.host.Enabled(ctx, level) })
	return enabled
}

// Handle implements [slog.Handler]. Callers of a logger do not see its error.
func (h *guardedHandler) Handle(ctx context.Context, record slog.Record) (err error) {
	h.call(func() { err = h.host.Handle(ctx, record) })
	return err
}

// WithAttrs implements [slog.Handler].
func (h *guardedHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.derive(func() slog.Handler { return h.host.WithAttrs(attrs) })
}

// WithGroup implements [slog.Handler].
func (h *guardedHandler) WithGroup(name string) slog.Handler {
	return h.derive(func() slog.Handler { return h.host.WithGroup(name) })
}

// derive returns the result of from in a guardedHandler, or the present handler if from fails.
func (h *guardedHandler) derive(from func() slog.Handler) slog.Handler {
	derived := h.host
	h.call(func() { derived = from() })
	return &guardedHandler{derived, h.notes}
}
