package millraceotel_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	millraceotel "github.com/millrace-go/millrace/otel"
	"github.com/millrace-go/millrace/tool"
)

// The host's own hooks are called as without spans, and find the spans in their contexts.
func TestHooksOfTheHost(t *testing.T) {
	t.Parallel()
	r := record()
	var told []string
	mark := func(ctx context.Context, value string) {
		trace.SpanFromContext(ctx).SetAttributes(attribute.String("host", value))
	}
	x := millrace.Executor{
		Observe: func(e millrace.Event) { told = append(told, e.Kind()) },
		RunContext: func(ctx context.Context, e millrace.RunStarted) (context.Context, func(millrace.RunFinished)) {
			mark(ctx, e.Phase)
			told = append(told, "begin "+e.Pipeline)
			return ctx, func(f millrace.RunFinished) {
				mark(ctx, "end of "+f.Phase) // the span has not ended yet
				told = append(told, "end "+f.Phase)
			}
		},
		StepContext: func(ctx context.Context, e millrace.StepStarted) context.Context {
			mark(ctx, e.Step)
			told = append(told, "step "+e.Step)
			return ctx
		},
	}
	plain := x
	p := edit("a").MustBuild()
	if _, err := plain.Run(t.Context(), tree("a", "x"), p); err != nil {
		t.Fatal(err)
	}
	want := told
	told = nil
	if _, err := millraceotel.Instrument(x, r.option()).Run(t.Context(), tree("a", "x"), p); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, told); d != "" || len(told) < 10 {
		t.Errorf("(-without +with):\n%s", d)
	}
	for name, want := range map[string]string{"RUN p": "host=end of run\n", "edit": "host=edit\n"} {
		if got := r.attributesOf(t, name); !strings.Contains(got, want) {
			t.Errorf("%s has not %s but\n%s", name, want, got)
		}
	}
}

// A faulty hook of the host gives the same warning as without spans, and the spans still exist.
func TestHooksThatFail(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]millrace.Executor{
		"Observe":         {Observe: func(millrace.Event) { panic("no") }},
		"StepContext":     {StepContext: func(context.Context, millrace.StepStarted) context.Context { panic("no") }},
		"StepContext nil": {StepContext: func(context.Context, millrace.StepStarted) context.Context { return nil }},
		"RunContext": {RunContext: func(context.Context, millrace.RunStarted) (context.Context, func(millrace.RunFinished)) {
			panic("no")
		}},
		"RunContext nil": {RunContext: func(context.Context, millrace.RunStarted) (context.Context, func(millrace.RunFinished)) {
			return nil, nil
		}},
		"end of RunContext": {RunContext: func(ctx context.Context, _ millrace.RunStarted) (context.Context, func(millrace.RunFinished)) {
			return ctx, func(millrace.RunFinished) { panic("no") }
		}},
	} {
		r := record()
		p := edit("a").MustBuild()
		plain, err := x.Run(t.Context(), tree("a", "x"), p)
		if err != nil {
			t.Fatal(err)
		}
		res, err := millraceotel.Instrument(x, r.option()).Run(t.Context(), tree("a", "x"), p)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(plain.Warnings, res.Warnings); d != "" || len(res.Warnings) != 1 {
			t.Errorf("%s (-without +with):\n%s", name, d)
		}
		spans := r.GetSpans()
		if len(spans) != 2 || spans[0].Name != "edit" || spans[1].Name != "RUN p" || spans[1].EndTime.IsZero() {
			t.Errorf("%s: spans %v", name, spans)
		}
		if below := spans[0].Parent.SpanID() == spans[1].SpanContext.SpanID(); below == strings.HasPrefix(name, "RunContext") {
			t.Errorf("%s: the step hangs below the run: %v", name, below)
		}
	}
}

// One Runner can run many pipelines at the same time, with steps that run at the same time: the span of a tool is below
// the span of its step, that is below the span of its run, and that is below the caller's span.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	const runs, steps = 20, 5
	r := record()
	tracer := r.provider.Tracer("test")
	var list []tool.Tool
	for i := range steps {
		name := fmt.Sprintf("t%d", i)
		list = append(list, tool.Func(name, "", func(ctx context.Context, _ struct{}) (int, error) {
			_, span := tracer.Start(ctx, "call of "+name)
			span.End()
			return 0, nil
		}))
	}
	tools, err := tool.New(list...)
	if err != nil {
		t.Fatal(err)
	}
	runner := millraceotel.Instrument(millrace.Executor{Tools: tools, Workers: 4}, r.option())
	var wg sync.WaitGroup
	for n := range runs {
		wg.Go(func() {
			ctx, span := tracer.Start(t.Context(), fmt.Sprintf("caller %d", n))
			defer span.End()
			b := millrace.New(fmt.Sprintf("p%d", n)).Options(millrace.Options{Parallel: true})
			for i := range steps {
				b = b.Step(fmt.Sprintf("s%d", i), actions.Tool{Tool: fmt.Sprintf("t%d", i)}).Builder
			}
			if _, err := runner.Run(ctx, tree("a", "x"), b.MustBuild()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	parents := make(map[trace.SpanID]string)
	spans := r.GetSpans()
	for _, s := range spans {
		parents[s.SpanContext.SpanID()] = s.Name
	}
	found := make(map[string]int)
	for _, s := range spans {
		if name := parents[s.Parent.SpanID()]; name != "" {
			found[name+" > "+s.Name]++
		}
	}
	want := make(map[string]int)
	for n := range runs {
		want[fmt.Sprintf("caller %d > RUN p%d", n, n)] = 1
		for i := range steps {
			want[fmt.Sprintf("RUN p%d > s%d", n, i)] = 1
			want[fmt.Sprintf("s%d > call of t%d", i, i)] = runs
		}
	}
	if d := cmp.Diff(want, found); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A plan can be committed by another caller than its author, and by two at a time: each commit has a span below its
// caller's span, with its outcome.
func TestCommitsAtOnce(t *testing.T) {
	t.Parallel()
	r := record()
	tracer := r.provider.Tracer("test")
	fsys := tree("a", "x")
	plan, err := millraceotel.Instrument(millrace.Executor{}, r.option()).Plan(t.Context(), fsys, edit("a").MustBuild())
	if err != nil {
		t.Fatal(err)
	}
	r.Reset()
	const callers = 10
	codes := make([]string, callers)
	var wg sync.WaitGroup
	for n := range callers {
		wg.Go(func() {
			ctx, span := tracer.Start(t.Context(), fmt.Sprintf("caller %d", n))
			defer span.End()
			_, err := plan.WithForce(n%2 == 0).Commit(ctx)
			codes[n] = millrace.ErrorCode(err)
		})
	}
	wg.Wait()
	spans := r.GetSpans()
	callersOf := make(map[trace.SpanID]int)
	for _, s := range spans {
		var n int
		if _, err := fmt.Sscanf(s.Name, "caller %d", &n); err == nil {
			callersOf[s.SpanContext.SpanID()] = n
		}
	}
	commits := 0
	for _, s := range spans {
		if s.Name != "RUN p" {
			continue
		}
		commits++
		n, ok := callersOf[s.Parent.SpanID()]
		if got := valuesOf(s.Attributes)["error.type"]; !ok || got != codes[n] {
			t.Errorf("the commit of caller %d ended with %q, its span says %q", n, codes[n], got)
		}
	}
	if commits != callers {
		t.Errorf("%d spans of commits, want %d", commits, callers)
	}
}
