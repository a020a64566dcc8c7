package millraceotel

import (
	"errors"
	"slices"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/millrace-go/millrace"
)

// If a run ends abnormally, for example by a panic, its current step has no end: the span of the step still ends
// together with the span of the run.
func TestVisitsThatAreLeft(t *testing.T) {
	t.Parallel()
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	tr := Instrument(millrace.Executor{}, WithTracerProvider(provider)).tracing()
	ctx, finish := tr.runContext(t.Context(), millrace.RunStarted{Pipeline: "p", Phase: millrace.PhaseRun, Steps: 2})
	tr.stepContext(ctx, millrace.StepStarted{Step: "b", Visit: 1})
	tr.stepContext(ctx, millrace.StepStarted{Step: "a", Visit: 1})
	finish(millrace.RunFinished{Phase: millrace.PhaseRun, Err: errors.New("ended from within")})
	var got []string
	for _, s := range spans.GetSpans() {
		how := attribute.NewSet(s.Attributes...)
		for _, key := range []attribute.Key{"cicd.pipeline.result", "cicd.pipeline.task.run.result"} {
			if v, ok := how.Value(key); ok {
				got = append(got, s.Name+" "+v.AsString())
			}
		}
	}
	if want := []string{"a error", "b error", "RUN p error"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
