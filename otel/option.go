package millraceotel

import (
	"go.opentelemetry.io/otel"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Name is the name of the tracer, by which a backend identifies the spans of this package.
const Name = "github.com/millrace-go/millrace/otel"

// Option is an option of [Instrument].
type Option func(*settings)

type settings struct {
	provider trace.TracerProvider
	kind     trace.SpanKind
}

// WithTracerProvider sets the provider of the spans. Nil, or no such option, means the global provider of package otel.
func WithTracerProvider(provider trace.TracerProvider) Option {
	return func(s *settings) {
		if provider != nil {
			s.provider = provider
		}
	}
}

// WithSpanKind sets the kind of the span of a run. The semantic conventions want [trace.SpanKindServer] for a system
// whose purpose is to run pipelines. The default is [trace.SpanKindInternal], for a program that runs a pipeline as a
// part of its own work. Spans of steps are always internal.
func WithSpanKind(kind trace.SpanKind) Option {
	return func(s *settings) { s.kind = kind }
}

func settingsOf(opts []Option) settings {
	s := settings{kind: trace.SpanKindInternal}
	for _, opt := range opts {
		if opt != nil {
			opt(&s)
		}
	}
	if s.provider == nil {
		s.provider = otel.GetTracerProvider()
	}
	return s
}

func (s settings) tracer() trace.Tracer {
	return s.provider.Tracer(Name, trace.WithSchemaURL(semconv.SchemaURL))
}
