package millrace

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

// notes collects what went wrong beside the work, without a bearing on it, until a Result takes it as warnings. It is safe
// for concurrent use.
type notes struct {
	mu   sync.Mutex
	list []note
}

type note struct{ about, text string }

// add keeps one note about each thing: the first.
func (n *notes) add(about, format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.ContainsFunc(n.list, func(old note) bool { return old.about == about }) {
		n.list = append(n.list, note{about, fmt.Sprintf(format, args...)})
	}
}

// take appends the notes to the warnings, each once, and forgets them.
func (n *notes) take(warnings []string) []string {
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

var errEndedGoroutine = errors.New("it has ended its goroutine")

// apart calls what is the host's on a goroutine of its own, and waits for it. So neither a panic nor runtime.Goexit, which
// t.FailNow calls, gets to the caller, who may be in the middle of a commit.
func apart(fn func()) error {
	err := errEndedGoroutine
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = panics.Protect(func() error { fn(); return nil })
	}()
	<-done
	return err
}

// watched returns the host's observer and logger so that they can be called anywhere: one event at a time, and whatever
// they do, the caller goes on. That they failed is noted.
func (x Executor) watched(n *notes) Executor {
	if x.Logger != nil {
		x.Logger = slog.New(&guardedHandler{x.Logger.Handler(), n})
	}
	if observe := x.Observe; observe != nil {
		log, mu := x.logger(), new(sync.Mutex)
		x.Observe = func(e Event) {
			mu.Lock()
			defer mu.Unlock()
			if err := apart(func() { observe(e) }); err != nil {
				n.add("observer", "the host's observer failed, the run went on: %v", err)
				log.Error("observer failed", "event", fmt.Sprintf("%T", e), "error", err, "stack", stackOf(err))
			}
		}
	}
	return x
}

func stackOf(err error) string {
	if p, ok := errors.AsType[*panics.Error](err); ok {
		return string(p.Stack)
	}
	return ""
}

// guardedHandler is the host's handler of log records, called apart.
type guardedHandler struct {
	host  slog.Handler
	notes *notes
}

func (h *guardedHandler) call(fn func()) {
	if err := apart(fn); err != nil {
		h.notes.add("logger", "the host's logger failed, the run went on: %v", err)
	}
}

// Enabled implements [slog.Handler].
func (h *guardedHandler) Enabled(ctx context.Context, level slog.Level) (enabled bool) {
	h.call(func() { enabled = h.host.Enabled(ctx, level) })
	return enabled
}

// Handle implements [slog.Handler]. As with any other logger, an error is for nobody.
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

// derive is the handler as it was if there is no other to be had.
func (h *guardedHandler) derive(from func() slog.Handler) slog.Handler {
	derived := h.host
	h.call(func() { derived = from() })
	return &guardedHandler{derived, h.notes}
}

func (x Executor) logger() *slog.Logger {
	if x.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return x.Logger
}
