package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// mostDepth is the nesting limit for lists and objects in a result, so that the result fits into a stored plan.
const mostDepth = 64

// Call calls the tool called name as a run does. The arguments are converted to the argument type of the tool, a
// panic is an error, and the returned data are JSON values, as in [Call].Args. The error wraps the error of the tool;
// the result has Data and Output of the tool too. c is not changed; its Spend and Log may be nil.
func (s Set) Call(ctx context.Context, name string, c Call) (Result, error) {
	e, ok := s.tools[name]
	if !ok {
		return Result{}, failed(name, errors.New("not found"))
	}
	args, problems := e.spec.decode(c.Args, nil)
	if len(problems) > 0 {
		return Result{}, failed(name, &argsError{problems})
	}
	c.Args = args
	var res Result
	err := panics.Protect(func() (err error) {
		if res, err = e.tool.Call(ctx, c.ready()); err != nil {
			_ = err.Error() // a nil pointer in an error must panic here, not later
		}
		return err
	})
	data, wrong := plain(res.Data)
	if res.Data = data; wrong != nil {
		err = errors.Join(err, fmt.Errorf("its result cannot be used: %w", wrong))
	}
	if err != nil {
		return res, failed(name, err)
	}
	return res, nil
}

// failed returns the error of a tool.
func failed(name string, err error) error {
	return &errorform.OutsideError{Kind: errorform.Tool, Name: name, Err: err}
}

// plain returns a value in its JSON form.
func plain(v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	var data []byte
	err := panics.Protect(func() (err error) { // its types may have methods of the tool
		data, err = json.Marshal(v)
		return err
	})
	if err != nil {
		return nil, err
	}
	if _, err := strictjson.CheckDepth(data, mostDepth); err != nil {
		return nil, fmt.Errorf("lists and objects are nested more than %d deep", mostDepth)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber() // a float64 would lose digits
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	return params.Tree(tree)
}

// argsError reports that a tool was called with arguments that it does not take.
type argsError struct {
	// Problems has at least one problem.
	Problems []Problem
}

// Error returns the first problem.
func (e *argsError) Error() string {
	p := e.Problems[0]
	if p.Hint != "" {
		return p.Message + ": " + p.Hint
	}
	return p.Message
}

// MarshalJSON returns the code, the message and the problems.
func (e *argsError) MarshalJSON() ([]byte, error) {
	problems := make([]errorform.Problem, len(e.Problems))
	for i, p := range e.Problems {
		problems[i] = errorform.Problem{Pointer: p.Pointer, Message: p.Message, Hint: p.Hint}
	}
	return errorform.Marshal("invalid_tool_args", e, problems...)
}

// Code returns "invalid_tool_args".
func (e *argsError) Code() string { return "invalid_tool_args" }

// Retryable returns false: the arguments stay the same.
func (e *argsError) Retryable() bool { return false }
