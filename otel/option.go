package millraceotel

import (
	"go.opentelemetry.io/otel"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Name is the name of the tracer, by which a backend knows spans of this package.
const Name = "github.com/millrace-go/millrace/otel"

// Option is a choice for [Instrument].
type Option func(*settings)

type settings struct {
	provider trace.TracerProvider
	kind     trace.SpanKind
}

// WithTracerProvider says where the spans go. Without it, and for nil, that is the global provider of package otel.
func WithTracerProvider(provider trace.TracerProvider) Option {
	return func(s *settings) {
		if provider != nil {
			s.provider = provider
		}
	}
}

// WithSpanKind says of what kind the span of a run is: [trace.SpanKindServer] is what the semantic conventions want of
// a system whose work is to run pipelines. Without it the kind is [trace.SpanKindInternal], for a pipeline that a
// program runs as a part of its own work. Spans of steps are always internal.
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
