package millraceotel

import (
	"context"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/propagation"
)

// EnvFor is for the field EnvFor of a command.Policy: it returns the span in a context as TRACEPARENT and TRACESTATE,
// so that what a command traces hangs below its step. [Instrument] sees to the commands of the executor; a policy that
// an agent has for itself needs it. Without a span it returns nil. Baggage is left out, for it may hold anything.
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
