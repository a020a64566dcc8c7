package millraceotel_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"

	millraceotel "github.com/millrace-go/millrace/otel"
)

func TestEnvFor(t *testing.T) {
	t.Parallel()
	if env := millraceotel.EnvFor(context.Background()); env != nil {
		t.Errorf("without a span: %v", env)
	}
	member, err := baggage.NewMember("secret", "s")
	if err != nil {
		t.Fatal(err)
	}
	bag, err := baggage.New(member)
	if err != nil {
		t.Fatal(err)
	}
	ctx, span := record().provider.Tracer("test").Start(baggage.ContextWithBaggage(context.Background(), bag), "s")
	sc := span.SpanContext()
	want := map[string]string{"TRACEPARENT": fmt.Sprintf("00-%s-%s-01", sc.TraceID(), sc.SpanID())}
	if d := cmp.Diff(want, millraceotel.EnvFor(ctx)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	state, err := trace.ParseTraceState("vendor=1")
	if err != nil {
		t.Fatal(err)
	}
	want["TRACESTATE"] = "vendor=1"
	ctx = trace.ContextWithSpanContext(ctx, sc.WithTraceState(state))
	if d := cmp.Diff(want, millraceotel.EnvFor(ctx)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
