package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/millrace-go/millrace"
)

// maxInput is the longest text that is read from a file or from stdin: that of a plan. Pipelines have a lower limit.
const maxInput = millrace.DefaultMaxPlanBytes

// readInput reads the file that an argument names, or stdin for "-", until ctx is done.
func (a *App) readInput(ctx context.Context, name string) ([]byte, error) {
	var r io.Reader = a.Stdin
	if name != "-" {
		f, err := os.Open(a.base(name))
		if err != nil {
			return nil, &usageError{err}
		}
		defer f.Close()
		r = f
		a.inputs = append(a.inputs, name)
	}
	data, err := readAll(ctx, io.LimitReader(r, maxInput+1))
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, &usageError{fmt.Errorf("%s: %w", name, err)}
	case len(data) > maxInput:
		return nil, &usageError{fmt.Errorf("%s is longer than %d bytes", name, maxInput)}
	}
	return data, nil
}

// readAll reads all there is. A program that writes nothing and does not close its pipe keeps it no longer than ctx.
func readAll(ctx context.Context, r io.Reader) ([]byte, error) {
	var data []byte
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		data, err = io.ReadAll(r)
	}()
	select {
	case <-done:
		return data, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// readPipeline reads the pipeline in a file, or in stdin for "-", and gives its variables their values. What is wrong
// with it names the file.
func (s *session) readPipeline(ctx context.Context, name string, values []string) (millrace.Pipeline, error) {
	data, err := s.readInput(ctx, name)
	if err != nil {
		return millrace.Pipeline{}, err
	}
	p, err := decode(name, data)
	if err != nil {
		return millrace.Pipeline{}, &sourceError{name: name, err: err}
	}
	var unknown []millrace.Problem
	for _, w := range p.Warnings() {
		if w.Code == millrace.CodeUnknownVariable {
			unknown = append(unknown, w)
		}
	}
	if unknown != nil {
		return millrace.Pipeline{}, &sourceError{name: name, err: &millrace.ValidationError{Problems: unknown}}
	}
	w, err := s.where(ctx)
	if err != nil {
		return millrace.Pipeline{}, err
	}
	if p, err = w.Variables(p, values); err != nil {
		return millrace.Pipeline{}, &usageError{err}
	}
	return p, nil
}
