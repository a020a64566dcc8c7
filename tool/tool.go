package tool

import (
	"context"
	"log/slog"
	"reflect"

	"github.com/millrace-go/millrace/budget"
)

// Tool is a function that a step of a pipeline can call. Both methods are called from several goroutines.
type Tool interface {
	// Spec describes the tool. [New] calls it once.
	Spec() Spec
	// Call performs the work of the tool. A result that it returns together with an error is kept for later steps. An
	// error can have methods: "Code() string" for the code of the step's failure instead of "tool_failed", and
	// "Retryable() bool" to report whether another attempt may succeed.
	Call(ctx context.Context, c *Call) (Result, error)
}

// Spec describes a tool. Name is required.
type Spec struct {
	// Name is at most 64 letters, digits, "_", "." and "-", a letter first.
	Name string
	// Summary is one line for people and models.
	Summary string
	// Args is the type of the arguments: a struct, or a pointer to a struct, whose fields can be parameters of an action,
	// or map[string]any. Nil means any arguments.
	Args reflect.Type
	// Result is the type of the returned Data. Nil means any type.
	Result reflect.Type
	// Pure means that the tool changes nothing anywhere, so that dry runs and hosts that only read may call it. False,
	// the zero value, is the safe choice.
	Pure bool
	// Costs means that a call may cost money, which it reports with [Call].Spend: no call begins once the budget is spent.
	Costs bool
	// Retries is the default number of attempts after the first in a visit, 0 to 100.
	Retries int
}

// Call is a call of a tool.
type Call struct {
	// Args are the arguments. They are of the type in [Spec].Args or, if that is nil, a map[string]any of JSON values:
	// nil, bool, int64 for whole numbers that fit, float64, string, []any and map[string]any, and json.Number for a number
	// with more digits than a float64 keeps. They belong to the tool.
	Args any
	// Step is the id of the step.
	Step string
	// Key is 32 hexadecimal digits, the same for all attempts of a visit of a step, and otherwise unique. A run that is
	// repeated with the same Executor.RunID has the same keys.
	Key string
	// Visit counts the visits of the step in the run, Attempt the attempts of the visit, both from 1.
	Visit, Attempt int
	// Spend adds to the cost of the call. It counts at once, even if the call fails. It is never nil, and may be called
	// from several goroutines until the tool returns.
	Spend func(budget.Cost)
	// Log is the logger of the run. It is never nil.
	Log *slog.Logger
}

// ready returns the call with defaults for nil fields, as in calls of tests.
func (c Call) ready() *Call {
	if c.Spend == nil {
		c.Spend = func(budget.Cost) {}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &c
}

// Result is the result of a tool.
type Result struct {
	// Data is the data for templates: anything that encoding/json can write, with lists and objects nested at most 64
	// deep. Nil for none.
	Data any
	// Output is a text for people, and for the keywords of retry_if. "" for none.
	Output string
}
