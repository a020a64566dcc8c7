package millraceotel_test

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/millrace-go/millrace"
	millraceotel "github.com/millrace-go/millrace/otel"
)

// reported are the errors that OpenTelemetry's handler received in the tests of this package.
var reported reports

type reports struct {
	mu   sync.Mutex
	list []string
}

// Handle implements otel.ErrorHandler.
func (r *reports) Handle(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, err.Error())
}

func (r *reports) has(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.list, text)
}

func TestMain(m *testing.M) {
	otel.SetErrorHandler(&reported)
	os.Exit(m.Run())
}

// broken is a processor that calls its fields, which fail.
type broken struct {
	start, end func()
}

func (b broken) OnStart(context.Context, sdktrace.ReadWriteSpan) { b.start() }
func (b broken) OnEnd(sdktrace.ReadOnlySpan)                     { b.end() }
func (broken) Shutdown(context.Context) error                    { return nil }
func (broken) ForceFlush(context.Context) error                  { return nil }

// noProvider is a provider that panics at once.
type noProvider struct{ noop.TracerProvider }

func (noProvider) Tracer(string, ...trace.TracerOption) trace.Tracer { panic("no tracer") }

// exporter fails at each export.
type exporter struct{}

func (exporter) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { panic("no export") }
func (exporter) Shutdown(context.Context) error                             { return nil }

var changing = regexp.MustCompile(`"(total_duration|duration|backup_id)":("[^"]*"|[0-9.e+-]+)`)

// If OpenTelemetry fails in any way, a run ends as it does without it.
func TestWhatIsBrokenChangesNothing(t *testing.T) {
	t.Parallel()
	none, fails := func() {}, func(text string) func() { return func() { panic(text) } }
	processor := func(b broken) trace.TracerProvider { return sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(b)) }
	story := func(t *testing.T, run func(afero.Fs, millrace.Pipeline) (*millrace.Result, error)) string {
		t.Helper()
		told := ""
		for _, p := range []millrace.Pipeline{edit("a").MustBuild(), edit("missing").MustBuild(), {}} {
			fsys := tree("a", "x x")
			res, err := run(fsys, p)
			data, _ := json.Marshal(res)
			text, _ := afero.ReadFile(fsys, "a")
			told += changing.ReplaceAllString(string(data), `"$1":0`) + "\n" + millrace.ErrorCode(err) + "\n" + string(text) + "\n"
		}
		return told
	}
	want := story(t, func(fsys afero.Fs, p millrace.Pipeline) (*millrace.Result, error) {
		return millrace.Run(t.Context(), fsys, p)
	})
	for name, provider := range map[string]trace.TracerProvider{
		"no export": sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter{})),
		"no start":  processor(broken{fails("no start"), none}),
		"no end":    processor(broken{none, fails("no end")}),
		"none":      processor(broken{fails("none"), fails("none")}),
		"no tracer": noProvider{},
		"":          noop.NewTracerProvider(),
	} {
		runner := millraceotel.Instrument(millrace.Executor{}, millraceotel.WithTracerProvider(provider))
		got := story(t, func(fsys afero.Fs, p millrace.Pipeline) (*millrace.Result, error) {
			return runner.Run(t.Context(), fsys, p)
		})
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-without +with):\n%s", name, d)
		}
		if name != "" && !reported.has("millrace: a span could not be made: panic: "+name) {
			t.Errorf("%s was not reported, but %q", name, reported.list)
		}
	}
	// A processor that ends the goroutine cannot be stopped, but the run notices nothing except the end of the goroutine.
	runner := millraceotel.Instrument(millrace.Executor{}, millraceotel.WithTracerProvider(processor(broken{none, runtime.Goexit})))
	res, err := runner.Run(t.Context(), tree("a", "x"), edit("a").MustBuild())
	if err != nil || !res.Success || len(res.Warnings) != 2 {
		t.Errorf("%v, %v", res, err)
	}
}
