package templates_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// give returns data, and may return an error as well.
type give struct {
	Data   any    `json:"data"`
	Output string `json:"output,omitempty"`
	Fail   string `json:"fail,omitempty"`
	// raw is data of any type that is returned unchanged.
	raw any
	// wait is the time that it takes.
	wait time.Duration
}

func (give) Spec() actions.Spec {
	return actions.Spec{Name: "give", Summary: "returns data", ReadOnly: true, Input: actions.InputNone, Data: true}
}

func (a give) Run(context.Context, *actions.Call) (actions.Outcome, error) {
	time.Sleep(a.wait)
	out := actions.Outcome{Data: a.Data, Output: a.Output}
	if a.raw != nil {
		out.Data = a.raw
	}
	if a.Fail != "" {
		return out, errors.New(a.Fail)
	}
	return out, nil
}

// take has a parameter of each kind, and records its values.
type take struct {
	Value   any            `json:"value"`
	Text    string         `json:"text,omitempty"`
	Int     int            `json:"int,omitempty"`
	Number  float64        `json:"number,omitempty"`
	Flag    bool           `json:"flag,omitempty"`
	List    []string       `json:"list,omitempty"`
	Numbers []int          `json:"numbers,omitempty"`
	Items   []any          `json:"items,omitempty"`
	Args    map[string]any `json:"args,omitempty"`

	Got *take `json:"-"`
}

func (take) Spec() actions.Spec {
	return actions.Spec{Name: "take", Summary: "keeps its parameters", ReadOnly: true, Input: actions.InputNone}
}

func (a take) Run(context.Context, *actions.Call) (actions.Outcome, error) {
	got := a.Got
	*got = a
	got.Got = nil
	return actions.Outcome{}, nil
}

// ask is take for an action that works with the previous step.
type ask struct {
	take
}

func (ask) Spec() actions.Spec {
	return actions.Spec{Name: "ask", Summary: "keeps its parameters", ReadOnly: true, Input: actions.InputNone, Context: true}
}

// run runs a pipeline on a small tree.
func run(t *testing.T, x millrace.Executor, p millrace.Pipeline) (*millrace.Result, error) {
	t.Helper()
	return x.Run(t.Context(), tree(), p)
}

func tree() afero.Fs {
	return suite.Tree("a.txt", "x x\n", "b,c.txt", "x\n", "other.txt", "y\n")
}

// decoder returns a decoder with the built-in actions and the actions of these tests, which record their values in got.
func decoder(got *take) millrace.Decoder {
	return millrace.Decoder{Actions: actions.Builtin().With(give{}, take{Got: got}, ask{take{Got: got}})}
}
