package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/byname"
	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
)

// maxInput limits a text that is read from a file or from stdin, to the limit of a plan. Pipelines have a lower limit.
const maxInput = millrace.DefaultMaxPlanBytes

// readInput reads the file given by an argument, or stdin for "-", until ctx is done.
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

// readAll reads everything. A program that writes nothing and does not close its pipe cannot block it longer than ctx.
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

// source is a pipeline with its file: the name that was given, or the file of a named pipeline.
type source struct {
	millrace.Pipeline
	file string
}

// readSource reads the pipeline with a name, the one in a file, or the one in stdin for "-".
func (s *session) readSource(ctx context.Context, arg string) (source, error) {
	if byname.IsName(arg) {
		p, err := s.namedSource(ctx, arg)
		if p.file != "" || !errors.Is(err, fs.ErrNotExist) {
			return p, err // otherwise no pipeline has the name
		}
		if _, none := os.Stat(s.base(arg)); none != nil {
			return p, &usageError{err}
		}
	}
	p := source{file: arg}
	data, err := s.readInput(ctx, arg)
	if err != nil {
		return p, err
	}
	if p.Pipeline, err = decode(arg, data); err != nil {
		return p, &sourceError{name: arg, err: err}
	}
	return p, nil
}

// namedSource reads the pipeline with a name. If a pipeline of the project hides one of the user, it is reported,
// because the project's may have come with a clone.
func (s *session) namedSource(ctx context.Context, name string) (source, error) {
	e, err := byname.Library(s.fs, config.UserDir()).Find(ctx, name)
	p := source{Pipeline: e.Pipeline, file: byname.FileOf(e)}
	if cause := errors.Unwrap(err); cause != nil && e.File != "" {
		return p, &sourceError{name: p.file, err: &usageError{cause}}
	}
	if err != nil {
		return p, err
	}
	full := filepath.FromSlash(p.file)
	if !filepath.IsAbs(full) {
		full = filepath.Join(s.root, full)
		if own, err := byname.Library(nil, config.UserDir()).Find(ctx, name); err == nil {
			s.talk("%s takes the place of %s", p.file, byname.FileOf(own))
		}
	}
	s.inputs = append(s.inputs, full)
	return p, nil
}

// readPipeline reads a pipeline like readSource, and sets its variables. Its errors name the file. At a terminal, the
// user is asked for missing values.
func (s *session) readPipeline(ctx context.Context, arg string, values []string) (source, error) {
	p, err := s.readSource(ctx, arg)
	if err != nil {
		return p, err
	}
	var unknown []millrace.Problem
	for _, w := range p.Warnings() {
		if w.Code == millrace.CodeUnknownVariable {
			unknown = append(unknown, w)
		}
	}
	if unknown != nil {
		return p, &sourceError{name: p.file, err: &millrace.ValidationError{Problems: unknown}}
	}
	w, err := s.where(ctx)
	if err != nil {
		return p, err
	}
	if s.onTerminal() {
		w.Ask = func(question string) (string, error) { return s.App.ask(ctx, question) }
	}
	if p.Pipeline, err = w.Variables(p.Pipeline, values); errors.Is(err, oneline.ErrNoAnswer) {
		return p, errDeclined
	} else if err != nil {
		return p, &usageError{err}
	}
	return p, nil
}

// look returns the kind of a path relative to the root of the tree.
func (s *session) look(name string) oneline.Kind {
	info, _, err := s.fs.LstatIfPossible(name)
	switch {
	case err != nil:
		return oneline.Nothing
	case info.IsDir():
		return oneline.Dir
	case info.Mode()&fs.ModeSymlink == 0:
		return oneline.File
	}
	if to, err := s.fs.Stat(name); err == nil && to.IsDir() {
		return oneline.DirLink
	}
	return oneline.File
}

// where returns the context of the arguments for package oneline.
func (s *session) where(ctx context.Context) (oneline.Where, error) {
	w, err := s.names()
	w.Look, w.Read = s.look, func(name string) ([]byte, error) { return s.readInput(ctx, name) }
	return w, err
}

// names returns the context for arguments that are only converted.
func (s *session) names() (oneline.Where, error) {
	dir, err := s.path(".")
	return oneline.Where{Root: filepath.ToSlash(s.root), Dir: dir, Backslash: filepath.Separator == '\\'}, err
}
