package tool

import (
	"context"
	"fmt"
	"reflect"
)

// Func returns a tool that calls f. In is the type of the arguments, see [Spec].Args: unknown names, null and values of
// another type are refused before f is called. Out is the type of the result of f: anything that encoding/json can
// write, or [Result], which is used unchanged. A string is also the Output. A result that f returns with an error is
// kept, unless it is the zero value of its type.
//
// The tool acts outside of the tree, see [WithSpec]. Within f, [Current] has the rest of the call.
func Func[In, Out any](name, summary string, f func(context.Context, In) (Out, error)) Tool {
	spec := Spec{Name: name, Summary: summary, Args: reflect.TypeFor[In](), Result: reflect.TypeFor[Out]()}
	if isOpen(spec.Args) {
		spec.Args = nil
	}
	if spec.Result == reflect.TypeFor[Result]() || spec.Result == reflect.TypeFor[any]() {
		spec.Result = nil
	}
	return &function[In, Out]{spec, f}
}

type function[In, Out any] struct {
	spec Spec
	f    func(context.Context, In) (Out, error)
}

// Spec implements [Tool].
func (t *function[In, Out]) Spec() Spec { return t.spec }

// Call implements [Tool]. It also accepts arguments that are not of the type In yet.
func (t *function[In, Out]) Call(ctx context.Context, c *Call) (Result, error) {
	args, problems := t.spec.decode(c.Args, nil)
	if len(problems) > 0 {
		return Result{}, &argsError{problems}
	}
	in, ok := args.(In)
	if !ok {
		return Result{}, fmt.Errorf("arguments are %T and not %v", args, reflect.TypeFor[In]())
	}
	out, err := t.f(context.WithValue(ctx, currentKey{}, c.ready()), in)
	if err != nil && reflect.ValueOf(&out).Elem().IsZero() {
		return Result{}, err
	}
	switch out := any(out).(type) {
	case Result:
		return out, err
	case string:
		return Result{Data: out, Output: out}, err
	default:
		return Result{Data: out}, err
	}
}

type currentKey struct{}

// Current returns the current call of a [Func] from its context: its key, its logger and its Spend. It is nil outside
// of a call.
func Current(ctx context.Context) *Call {
	c, _ := ctx.Value(currentKey{}).(*Call)
	return c
}

// WithSpec returns the tool with a changed Spec, such as Pure for a [Func] that only looks something up.
func WithSpec(t Tool, change func(*Spec)) Tool {
	spec := t.Spec()
	change(&spec)
	return described{t, spec}
}

type described struct {
	Tool
	spec Spec
}

// Spec implements [Tool].
func (d described) Spec() Spec { return d.spec }
