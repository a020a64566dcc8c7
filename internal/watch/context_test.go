package watch_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/watch"
)

type key struct{}

// TestContext: a derived context is accepted. Anything else is noted and logged, and the given context is used.
func TestContext(t *testing.T) {
	t.Parallel()
	other := context.WithValue(context.Background(), key{}, "made")
	for name, test := range map[string]struct {
		host func(context.Context, string) context.Context
		want string // in the note; "" if the context is taken
	}{
		"descends": {func(ctx context.Context, about string) context.Context { return context.WithValue(ctx, key{}, about) }, ""},
		"no cancel": {func(ctx context.Context, about string) context.Context {
			return context.WithValue(context.WithoutCancel(ctx), key{}, about)
		}, ""},
		"nil":        {func(context.Context, string) context.Context { return nil }, "does not descend"},
		"other":      {func(context.Context, string) context.Context { return other }, "does not descend"},
		"panic":      {func(context.Context, string) context.Context { panic("no") }, "panic: no"},
		"goexit":     {func(context.Context, string) context.Context { runtime.Goexit(); return nil }, "has ended its goroutine"},
		"nil inside": {func(context.Context, string) context.Context { return struct{ context.Context }{} }, "nil pointer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var notes watch.Notes
			var log bytes.Buffer
			given := context.WithValue(t.Context(), key{}, "given")
			got := watch.Context("StepContext", test.host, slog.New(slog.NewTextHandler(&log, nil)), &notes)(given, "made")
			noted := strings.Join(notes.Take(nil), "\n")
			if test.want == "" {
				if got.Value(key{}) != "made" || noted != "" || log.Len() > 0 {
					t.Errorf("%v, noted %q, logged %s", got.Value(key{}), noted, log.String())
				}
				return
			}
			if got != given || !strings.Contains(noted, "StepContext") || !strings.Contains(noted, test.want) || log.Len() == 0 {
				t.Errorf("given %v, noted %q, logged %s", got == given, noted, log.String())
			}
		})
	}
}

// TestWithin: the values come from one context, and the end from either of them or from the function.
func TestWithin(t *testing.T) {
	t.Parallel()
	for _, ends := range []string{"values", "outer", "function"} {
		errEnd := errors.New("ended by " + ends)
		values, endValues := context.WithCancelCause(context.WithValue(context.Background(), key{}, "made"))
		outer, endOuter := context.WithCancelCause(context.Background())
		ctx, leave := watch.Within(values, outer)
		if ctx.Value(key{}) != "made" || ctx.Err() != nil {
			t.Errorf("%v, %v", ctx.Value(key{}), ctx.Err())
		}
		switch ends {
		case "values":
			endValues(errEnd)
		case "outer":
			endOuter(errEnd)
		default:
			leave()
			errEnd = context.Canceled
		}
		<-ctx.Done()
		if context.Cause(ctx) != errEnd {
			t.Errorf("%s: %v", ends, context.Cause(ctx))
		}
		leave()
		endValues(nil)
		endOuter(nil)
	}
}
