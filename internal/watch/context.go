package watch

import (
	"context"
	"log/slog"
)

// marked is the key of a value that shows whether one context descends from another.
type marked struct{}

// Context wraps a function of the host, called name, that derives a context, so that it can be called anywhere. If the
// function fails, or its result does not descend from the given context, the given context is used, which is noted and
// logged.
func Context[For any](name string, host func(context.Context, For) context.Context, log *slog.Logger,
	n *Notes) func(context.Context, For) context.Context {
	return func(ctx context.Context, about For) context.Context {
		made, mark := ctx, new(byte)
		err := apart(func() {
			c := host(context.WithValue(ctx, marked{}, mark), about)
			if c == nil || c.Value(marked{}) != mark {
				n.Add(name,
					"the host's %s was not heeded: the context that it returned does not descend from the one it was given",
					name)
				log.Warn(name+" has returned a context that does not descend from the one it was given", "for", about)
				return
			}
			made = c
		})
		if err != nil {
			n.Add(name, "the host's %s failed, the run went on: %v", name, err)
			log.Error(name+" failed", "for", about, "error", err, "stack", stackOf(err))
			return ctx
		}
		return made
	}
}

// Span wraps a function of the host, called name, that derives a context, like Context. The host's function also
// returns a function to call with the result at the end, or nil. The returned end function can be called anywhere, too,
// and is never nil.
func Span[Start, End any](
	name string, host func(context.Context, Start) (context.Context, func(End)), log *slog.Logger, n *Notes,
) func(context.Context, Start) (context.Context, func(End)) {
	return func(ctx context.Context, about Start) (context.Context, func(End)) {
		var end func(End)
		begin := func(ctx context.Context, about Start) (made context.Context) {
			made, end = host(ctx, about)
			return made
		}
		made := Context(name, begin, log, n)(ctx, about)
		return made, func(e End) {
			if end == nil {
				return
			}
			if err := apart(func() { end(e) }); err != nil {
				n.Add(name+" end", "the end of the host's %s failed, the run went on: %v", name, err)
				log.Error("the end of "+name+" failed", "for", about, "error", err, "stack", stackOf(err))
			}
		}
	}
}

// Within returns a context with the values of one context that ends with either of both, so that a context from the
// host cannot outlive the original one. The caller must call the function when it is done.
func Within(values, outer context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(values)
	forget := context.AfterFunc(outer, func() { cancel(context.Cause(outer)) })
	return ctx, func() { forget(); cancel(nil) }
}
