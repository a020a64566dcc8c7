package millraceotel

import (
	"context"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/propagation"
)

// EnvFor is for the field EnvFor of a command.Policy: it returns the span in a context as TRACEPARENT and TRACESTATE,
// so that spans of a command are children of the span of its step. [Instrument] does this for the commands of the
// executor; set it yourself in the policy of an agent. Without a span it returns nil. Baggage is left out, because it
// may contain anything.
func EnvFor(ctx context.Context) map[string]string {
	carrier := make(propagation.MapCarrier)
	propagation.TraceContext{}.Inject(ctx, carrier)
	if len(carrier) == 0 {
		return nil
	}
	env := make(map[string]string, len(carrier))
	for name, value := range carrier {
		env[strings.ToUpper(name)] = value
	}
	return env
}

func visitID(run, step string, visit int) string { return run + "/" + step + "/" + strconv.Itoa(visit) }
