package millraceotel_test

import (
	"context"
	"fmt"

	"github.com/spf13/afero"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	millraceotel "github.com/millrace-go/millrace/otel"
)

// A program sets up its provider once, with an exporter of its choice, and instruments an executor once. Here the spans
// stay in memory and are printed; a server would pass an OTLP exporter to sdktrace.WithBatcher.
func ExampleInstrument() {
	ctx := context.Background()
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	defer func() { _ = provider.Shutdown(ctx) }()

	runner := millraceotel.Instrument(millrace.Executor{}, millraceotel.WithTracerProvider(provider))

	fsys := afero.NewMemMapFs()
	_ = afero.WriteFile(fsys, "a.go", []byte("package old\n"), 0o644)
	pipeline := millrace.New("rename").
		Step("edit", actions.Edit{Files: []string{"a.go"}, OldText: "package old", NewText: "package new"}).
		Step("docs", actions.Edit{Files: []string{"doc.md"}, OldText: "old", NewText: "new"}).When(condition.FileExists("doc.md")).
		MustBuild()
	if _, err := runner.Run(ctx, fsys, pipeline); err != nil {
		fmt.Println(err)
	}

	for _, span := range spans.GetSpans() { // in the order of their ends
		for _, attribute := range span.Attributes {
			switch attribute.Key {
			case "cicd.pipeline.result", "cicd.pipeline.task.run.result":
				fmt.Printf("%s: %s\n", span.Name, attribute.Value.AsString())
			}
		}
	}
	// Output:
	// edit: success
	// docs: skip
	// RUN rename: success
}

// The plan is made in one request and committed in another: each span belongs to its caller.
func ExampleRunner_Plan() {
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	tracer := provider.Tracer("example")
	runner := millraceotel.Instrument(millrace.Executor{}, millraceotel.WithTracerProvider(provider))
	fsys := afero.NewMemMapFs()
	_ = afero.WriteFile(fsys, "a.txt", []byte("old\n"), 0o644)
	pipeline := millrace.New("rename").Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "old", NewText: "new"}).MustBuild()

	ctx, request := tracer.Start(context.Background(), "GET /preview")
	plan, err := runner.Plan(ctx, fsys, pipeline)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = plan.Close() }()
	request.End()

	ctx, request = tracer.Start(context.Background(), "POST /approve")
	if _, err := plan.Commit(ctx); err != nil {
		fmt.Println(err)
	}
	request.End()

	names := make(map[string]string)
	for _, span := range spans.GetSpans() {
		names[span.SpanContext.SpanID().String()] = span.Name
	}
	for _, span := range spans.GetSpans() {
		if parent := names[span.Parent.SpanID().String()]; parent != "" {
			fmt.Printf("%s > %s\n", parent, span.Name)
		}
	}
	// Output:
	// RUN rename > edit
	// GET /preview > RUN rename
	// POST /approve > RUN rename
}
