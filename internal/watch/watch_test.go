package watch_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/watch"
)

// TestObserverIsCalledOneByOne: the calls are in order and never concurrent, and the caller continues after the
// observer has handled the event.
func TestObserverIsCalledOneByOne(t *testing.T) {
	t.Parallel()
	var notes watch.Notes
	var seen []int // without its own lock: the race detector sees concurrent calls
	inside := 0
	observe := watch.Observer(func(n int) {
		if inside++; inside != 1 {
			t.Error("two events at once")
		}
		runtime.Gosched()
		seen = append(seen, n)
		inside--
	}, slog.New(slog.DiscardHandler), &notes)
	for n := range 3 {
		if observe(n); len(seen) != n+1 {
			t.Fatalf("after %d events %v was seen", n+1, seen)
		}
	}
	var wg sync.WaitGroup
	for n := 3; n < 50; n++ {
		wg.Go(func() { observe(n) })
	}
	wg.Wait()
	if !slices.Equal(seen[:3], []int{0, 1, 2}) || len(seen) != 50 {
		t.Errorf("%v", seen)
	}
	if got := notes.Take(nil); got != nil {
		t.Errorf("notes %q", got)
	}
}

// TestObserverThatBlocks: it delays its own event and later ones, and receives these when it continues.
func TestObserverThatBlocks(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	seen := make(chan string, 2)
	observe := watch.Observer(func(e string) {
		if e == "first" {
			close(entered)
			<-release
		}
		seen <- e
	}, slog.New(slog.DiscardHandler), new(watch.Notes))
	var wg sync.WaitGroup
	wg.Go(func() { observe("first") })
	<-entered
	wg.Go(func() { observe("second") })
	runtime.Gosched()
	if len(seen) > 0 {
		t.Error("an event has overtaken the one before")
	}
	close(release)
	wg.Wait()
	if a, b := <-seen, <-seen; a != "first" || b != "second" {
		t.Errorf("%s, then %s", a, b)
	}
}

// TestObserverThatFails: neither a panic nor the end of its goroutine reaches the caller. It is noted once, logged each
// time, and the observer is called again.
func TestObserverThatFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fail func()
		want string
	}{
		"panic":            {func() { panic("no") }, "panic: no"},
		"panic of nothing": {func() { panic(nil) }, "panic called with nil argument"},
		"error":            {func() { panic(errors.New("bad")) }, "panic: bad"},
		"goexit":           {runtime.Goexit, "it has ended its goroutine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var notes watch.Notes
			var log bytes.Buffer
			calls := 0
			observe := watch.Observer(func(string) { calls++; test.fail() }, slog.New(slog.NewTextHandler(&log, nil)), &notes)
			observe("a")
			observe("b")
			if calls != 2 || strings.Count(log.String(), "observer failed") != 2 || !strings.Contains(log.String(), "event=string") {
				t.Errorf("%d calls, log %s", calls, log.String())
			}
			got := notes.Take([]string{"before"})
			if len(got) != 2 || !strings.HasPrefix(got[1], "the host's observer failed, the run went on: ") || !strings.Contains(got[1], test.want) {
				t.Errorf("notes %q, want %q", got, test.want)
			}
			if got := notes.Take(nil); got != nil {
				t.Errorf("noted again: %q", got)
			}
		})
	}
}

// failingHandler panics in the selected methods.
type failingHandler struct {
	slog.Handler
	at string
}

func (h failingHandler) fail(at string) {
	if h.at == at {
		panic(at)
	}
}

func (h failingHandler) Enabled(ctx context.Context, l slog.Level) bool {
	h.fail("enabled")
	return h.Handler.Enabled(ctx, l)
}

func (h failingHandler) Handle(ctx context.Context, r slog.Record) error {
	h.fail("handle")
	return h.Handler.Handle(ctx, r)
}

func (h failingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.fail("attrs")
	return failingHandler{h.Handler.WithAttrs(attrs), h.at}
}

func (h failingHandler) WithGroup(name string) slog.Handler {
	h.fail("group")
	return failingHandler{h.Handler.WithGroup(name), h.at}
}

// TestLoggerThatFails: only the record is lost, or the attributes that precede it. That is noted.
func TestLoggerThatFails(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]string{
		"":        "level=INFO msg=text run=1 g.n=2\n",
		"enabled": "",
		"handle":  "",
		"attrs":   "level=INFO msg=text g.n=2\n",
		"group":   "level=INFO msg=text run=1 n=2\n",
	} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			var notes watch.Notes
			var out bytes.Buffer
			text := slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}})
			log := watch.Logger(slog.New(failingHandler{text, at}), &notes)
			log.With("run", 1).WithGroup("g").Info("text", "n", 2)
			if diff := cmp.Diff(want, out.String()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var noted []string
			if at != "" {
				noted = []string{"the host's logger failed, the run went on: panic: " + at}
			}
			if diff := cmp.Diff(noted, notes.Take(nil)); diff != "" {
				t.Errorf("notes (-want +got)\n%s", diff)
			}
		})
	}
}

// TestNotes: only the first note about a subject counts, they are sorted by subject, and existing ones are not
// repeated.
func TestNotes(t *testing.T) {
	t.Parallel()
	var notes watch.Notes
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { notes.Add("b", "second %d", 2) })
	}
	wg.Wait()
	notes.Add("b", "other")
	notes.Add("a", "first")
	notes.Add("c", "known")
	if diff := cmp.Diff([]string{"known", "first", "second 2"}, notes.Take([]string{"known"})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
