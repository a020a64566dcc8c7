package millraceotel

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"

	"github.com/millrace-go/millrace"
)

// tracing makes the spans of one call of a Runner, and of the commits of the plan that the call returned. Events do not
// name their run, so each call has its own observer.
type tracing struct {
	host  millrace.Executor
	s     settings
	asked map[string]asked // by the ids of the steps; nil if no steps run

	mu     sync.Mutex
	begun  bool
	roots  []*root           // in progress; more than one if a plan is committed twice at the same time
	visits map[string]*visit // in progress, by the ids of their steps
}

// root is a run, plan, commit or restore in progress.
type root struct {
	span trace.Span
	run  string // names it in the ids of its visits
	lost bool   // the executor has not received it, because the host's own RunContext panicked
}

// visit is a visit of a step in progress.
type visit struct {
	span  trace.Span
	asked asked
	// Facts that its agent has reported about itself; events arrive one at a time.
	model         string
	input, output int64
}

// executor returns the executor of the host with hooks.
func (t *tracing) executor() millrace.Executor {
	x := t.host
	x.Observe = millrace.Observers(t.host.Observe, func(e millrace.Event) { safely(func() { t.observe(e) }) })
	x.RunContext, x.StepContext = t.runContext, t.stepContext
	x.Commands.EnvFor = t.envFor
	return x
}

// envFor returns the environment of a command: that of the host, and the span of its step, unless the host sets one.
func (t *tracing) envFor(ctx context.Context) map[string]string {
	env := make(map[string]string)
	safely(func() { maps.Copy(env, EnvFor(ctx)) })
	if t.host.Commands.EnvFor != nil {
		maps.Copy(env, t.host.Commands.EnvFor(ctx))
	}
	return env
}

// safely calls OpenTelemetry. A failure there does not affect the run.
func safely(fn func()) {
	defer func() {
		if p := recover(); p != nil {
			otel.Handle(fmt.Errorf("millrace: a span could not be made: panic: %v", p))
		}
	}()
	fn()
}

func (t *tracing) runContext(ctx context.Context, e millrace.RunStarted) (context.Context, func(millrace.RunFinished)) {
	r := t.begin(&ctx, e)
	if t.host.RunContext == nil {
		return ctx, func(f millrace.RunFinished) { t.end(r, f) }
	}
	returned := false
	defer func() { // the host's RunContext may panic
		if r != nil && !returned {
			t.mu.Lock()
			r.lost = true
			t.mu.Unlock()
		}
	}()
	ctx, finish := t.host.RunContext(ctx, e)
	returned = true
	return ctx, func(f millrace.RunFinished) {
		defer t.end(r, f)
		if finish != nil {
			finish(f)
		}
	}
}

// begin starts the span of a run, and puts it into the context. It returns nil if the span could not be made.
func (t *tracing) begin(ctx *context.Context, e millrace.RunStarted) (r *root) {
	t.mu.Lock()
	t.begun = true
	t.mu.Unlock()
	safely(func() {
		name, attributes := startOfRun(e)
		within, span := t.s.tracer().Start(*ctx, name, trace.WithSpanKind(t.s.kind),
			trace.WithAttributes(attributes...))
		made := &root{span: span, run: e.RunID}
		if made.run == "" {
			made.run = span.SpanContext().SpanID().String()
			span.SetAttributes(runID(made.run))
		}
		t.mu.Lock()
		t.roots = append(t.roots, made)
		t.mu.Unlock()
		*ctx, r = within, made
	})
	return r
}

// end ends the span of a run, and the spans of visits whose end was not reported.
func (t *tracing) end(r *root, f millrace.RunFinished) {
	if r == nil {
		return
	}
	t.mu.Lock()
	t.roots = slices.DeleteFunc(t.roots, func(other *root) bool { return other == r })
	left := t.visits
	if f.Phase != millrace.PhaseCommit {
		t.visits = make(map[string]*visit)
	} else {
		left = nil
	}
	t.mu.Unlock()
	for _, step := range slices.Sorted(maps.Keys(left)) {
		safely(func() { finish(left[step].span, taskResults, codeOf(f)) })
	}
	safely(func() {
		r.span.SetAttributes(endOfRun(f)...)
		finish(r.span, pipelineResults, codeOf(f))
	})
}

// refused makes the span of a run that failed before it started.
func (t *tracing) refused(ctx context.Context, e millrace.RunStarted, err error) {
	t.mu.Lock()
	begun := t.begun
	t.mu.Unlock()
	if err == nil || begun {
		return
	}
	r := t.begin(&ctx, e)
	t.end(r, millrace.RunFinished{Phase: e.Phase, Err: err})
}

func (t *tracing) stepContext(ctx context.Context, e millrace.StepStarted) context.Context {
	safely(func() {
		t.mu.Lock()
		run := ""
		if len(t.roots) > 0 {
			run = t.roots[0].run
		}
		t.mu.Unlock()
		within, span := t.s.tracer().Start(ctx, e.Step, trace.WithAttributes(startOfVisit(run, e)...))
		t.mu.Lock()
		t.visits[e.Step] = &visit{span: span, asked: t.asked[e.Step]}
		t.mu.Unlock()
		ctx = within
	})
	if t.host.StepContext == nil {
		return ctx
	}
	return t.host.StepContext(ctx, e)
}

// observe applies events to spans.
func (t *tracing) observe(e millrace.Event) {
	switch e := e.(type) {
	case millrace.StepRetrying:
		t.ofVisit(e.Step, func(v *visit) { v.span.AddEvent("millrace.retry", trace.WithAttributes(retry(e)...)) })
	case millrace.StepReplayed:
		t.ofVisit(e.Step, func(v *visit) { v.span.AddEvent("millrace.replayed") })
	case millrace.AgentReplied:
		t.ofVisit(e.Step, func(v *visit) { v.replied(e) })
	case millrace.StepFinished:
		t.ofVisit(e.Step, func(v *visit) {
			t.mu.Lock()
			delete(t.visits, e.Step)
			t.mu.Unlock()
			if e.Result.Skipped {
				skip(v.span)
				return
			}
			v.span.SetAttributes(endOfVisit(e)...)
			v.span.SetAttributes(v.attributes(e.Result)...)
			finish(v.span, taskResults, stepCode(e.Result))
		})
	case millrace.StepJumped:
		t.ofRun(func(r *root) { r.span.AddEvent("millrace.jump", trace.WithAttributes(jump(e)...)) })
	case millrace.CommitPhase:
		if e.Done == 0 && e.Total == 0 && e.Bytes == 0 { // the phase starts
			t.ofRun(func(r *root) {
				r.span.AddEvent("millrace.commit.phase", trace.WithAttributes(commitPhase.String(e.Phase)))
			})
		}
	case millrace.RunFinished:
		t.mu.Lock()
		at := slices.IndexFunc(t.roots, func(r *root) bool { return r.lost })
		var lost *root
		if at >= 0 {
			lost = t.roots[at]
		}
		t.mu.Unlock()
		t.end(lost, e)
	}
}

func (t *tracing) ofVisit(step string, do func(*visit)) {
	t.mu.Lock()
	v := t.visits[step]
	t.mu.Unlock()
	if v != nil {
		do(v)
	}
}

// ofRun calls do with the root that was started last. With two commits at the same time that may be the wrong root, but
// only one commit gets as far as a phase.
func (t *tracing) ofRun(do func(*root)) {
	t.mu.Lock()
	var r *root
	if len(t.roots) > 0 {
		r = t.roots[len(t.roots)-1]
	}
	t.mu.Unlock()
	if r != nil {
		do(r)
	}
}
