package millraceotel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	millraceotel "github.com/millrace-go/millrace/otel"
)

// recorded is a provider whose spans are kept, in the order of their ends.
type recorded struct {
	*tracetest.InMemoryExporter
	provider *sdktrace.TracerProvider
}

func record() recorded {
	exporter := tracetest.NewInMemoryExporter()
	return recorded{exporter, sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))}
}

func (r recorded) option() millraceotel.Option { return millraceotel.WithTracerProvider(r.provider) }

// story writes all spans as a tree: "name result code", events, and the child spans.
func (r recorded) story(t *testing.T) string {
	t.Helper()
	return outline(t, r.GetSpans())
}

func outline(t *testing.T, spans tracetest.SpanStubs) string {
	t.Helper()
	below := make(map[trace.SpanID][]tracetest.SpanStub)
	known := make(map[trace.SpanID]bool)
	for _, s := range spans {
		known[s.SpanContext.SpanID()] = true
	}
	for _, s := range spans {
		parent := s.Parent.SpanID()
		if parent.IsValid() && !known[parent] {
			t.Errorf("span %s hangs below a span that has not ended", s.Name)
		}
		below[parent] = append(below[parent], s)
	}
	var b strings.Builder
	var tell func(parent trace.SpanID, indent string)
	tell = func(parent trace.SpanID, indent string) {
		for _, s := range below[parent] {
			fmt.Fprintf(&b, "%s%s\n", indent, line(t, s))
			tell(s.SpanContext.SpanID(), indent+"  ")
		}
	}
	tell(trace.SpanID{}, "")
	return b.String()
}

// line returns a span without its attributes, except those of its result.
func line(t *testing.T, s tracetest.SpanStub) string {
	t.Helper()
	attributes := valuesOf(s.Attributes)
	words := []string{s.Name}
	for _, key := range []string{"cicd.pipeline.result", "cicd.pipeline.task.run.result"} {
		if result := attributes[key]; result != "" {
			words = append(words, result)
		}
	}
	if code := attributes["error.type"]; code != "" {
		words = append(words, code)
	}
	wanted := sdktrace.Status{}
	if code := attributes["error.type"]; code != "" {
		wanted = sdktrace.Status{Code: codes.Error, Description: code}
	}
	if s.Status != wanted && strings.Contains(fmt.Sprint(words), " ") && len(words) > 1 {
		t.Errorf("span %s has the status %v, want %v", s.Name, s.Status, wanted)
	}
	if s.EndTime.Before(s.StartTime) {
		t.Errorf("span %s ends before it starts", s.Name)
	}
	for _, e := range s.Events {
		word := strings.TrimPrefix(e.Name, "millrace.")
		list := valuesOf(e.Attributes)
		switch word {
		case "retry":
			word += " " + list["millrace.attempt"] + " " + list["error.type"]
		case "jump":
			word += " " + list["millrace.jump.from"] + "-" + list["millrace.jump.by"] + "-" + list["millrace.jump.to"]
		case "commit.phase":
			word = list["millrace.commit.phase"]
		}
		words = append(words, "| "+word)
	}
	return strings.Join(words, " ")
}

func valuesOf(list []attribute.KeyValue) map[string]string {
	values := make(map[string]string)
	for _, kv := range list {
		values[string(kv.Key)] = kv.Value.String()
	}
	return values
}

// attributesOf returns all attributes of the span with that name, one per line, in order.
func (r recorded) attributesOf(t *testing.T, name string) string {
	t.Helper()
	spans := r.GetSpans()
	at := slices.IndexFunc(spans, func(s tracetest.SpanStub) bool { return s.Name == name })
	if at < 0 {
		t.Fatalf("no span %s", name)
	}
	var lines []string
	for _, kv := range spans[at].Attributes {
		lines = append(lines, fmt.Sprintf("%s=%s\n", kv.Key, kv.Value.String()))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// tree returns a file system in memory with files: name, text, name, text.
func tree(files ...string) afero.Fs {
	fsys := afero.NewMemMapFs()
	for i := 0; i < len(files); i += 2 {
		if err := afero.WriteFile(fsys, files[i], []byte(files[i+1]), 0o644); err != nil {
			panic(err)
		}
	}
	return fsys
}
