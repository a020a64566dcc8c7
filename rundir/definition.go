package rundir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/runs"
)

// describe returns a new run for the parameters of its creator. invalid is the error of a ref without a valid pipeline:
// the run is created, and has failed.
func (m *Manager) describe(ctx context.Context,
	c runs.CreateParams) (n newRun, invalid *millrace.ValidationError, err error) {
	if c.Project == "" {
		return n, nil, errors.New("a run needs a project")
	}
	n.created = created{
		Project: c.Project, Ref: c.Ref, Source: cmp.Or(c.Source, runs.SourceAPI), User: cmp.Or(c.User, m.host.User),
		StartAt: c.StartAt, ApproveFrom: c.ApproveFrom,
	}
	n.status, n.variables = runs.Created, c.Variables
	p := c.Pipeline
	switch given := p.Len() > 0; {
	case given == (c.Ref != ""):
		return n, nil, errors.New("a run is created from a ref or from a pipeline, and from one of them")
	case given:
		n.Ref = p.Name()
	default:
		if p, err = m.host.Library.Load(ctx, c.Ref); err != nil {
			if invalid, ok := errors.AsType[*millrace.ValidationError](err); ok {
				n.Name, n.YAMLErrors, n.status, n.reason, n.variables = c.Ref, true, runs.Failed, err.Error(), nil
				return n, invalid, nil
			}
			return n, nil, err
		}
	}
	valued, err := runs.WithVariables(p, c.Variables, noFile)
	if err == nil {
		err = missingValues(valued)
	}
	if err != nil {
		return n, nil, err
	}
	n.Name, n.SHA, n.DryRun = p.Name(), p.Digest(), p.Options().DryRun
	n.steps = stepNames(p)
	if n.pipeline, err = p.MarshalJSON(); err != nil {
		return n, nil, fmt.Errorf("the pipeline cannot be stored: %w", err)
	}
	// A definition that cannot be read again could never run.
	if _, err = m.host.Library.Decoder.Decode(n.pipeline); err != nil {
		return n, nil, err
	}
	if c.StartAt.After(m.store.now()) {
		n.status = runs.Scheduled
	}
	return n, nil, nil
}

// missingValues returns an error for variables without a value: the run could only fail.
func missingValues(p millrace.Pipeline) error {
	var problems []millrace.Problem
	for _, v := range p.Variables() {
		if !v.HasValue() {
			problems = append(problems, millrace.Problem{
				Pointer: "/variables", Code: "missing_variable",
				Message: fmt.Sprintf("variable '%s' has no value", v.Name),
				Hint:    "give its value in variables, or a default in the pipeline",
			})
		}
	}
	if problems == nil {
		return nil
	}
	return &millrace.ValidationError{Problems: problems}
}

// stepNames returns the steps in the form for jobs.
func stepNames(p millrace.Pipeline) (names []stepName) {
	for _, s := range p.Steps() {
		names = append(names, stepName{s.ID, s.Action.Spec().Name})
	}
	return names
}

// noFile returns a placeholder for the path of a file that is not written yet.
func noFile(v runs.Variable) (string, error) { return v.Key, nil }

// stored returns the pipeline of a run as read, and the variables that it has received so far, each with its last
// value.
func (m *Manager) stored(w *writer) (p millrace.Pipeline, given []runs.Variable, err error) {
	var text, first value
	var plays []*play
	w.state(func(f *folded) { text, first, plays = f.created.Pipeline, f.created.Variables, f.plays })
	if m.target != nil {
		p = m.target.pipeline // the id of the run depends on its digest
	} else {
		data, err := text.bytes(w.spill())
		if err != nil {
			return p, nil, err
		}
		if p, err = m.host.Library.Decoder.Decode(data); err != nil {
			return p, nil, err
		}
	}
	err = first.decode(w.spill(), &given)
	for _, played := range plays {
		var more []runs.Variable
		if err == nil {
			err = played.Variables.decode(w.spill(), &more)
		}
		given = replaced(given, more)
	}
	return p, given, err
}

// replaced returns variables in which others replace those with the same key.
func replaced(given, others []runs.Variable) []runs.Variable {
next:
	for _, v := range others {
		for i := range given {
			if given[i].Key == v.Key {
				given[i] = v
				continue next
			}
		}
		given = append(given, v)
	}
	return given
}

// sharedDir returns the directory of the operating system that the steps of a run share.
func (s *Store) sharedDir(id string) (string, error) {
	if !journal.ValidRunID(id) {
		return "", fmt.Errorf("%q is not an id of a run", id)
	}
	dir := s.options.SharedDir
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("runs need a directory to share: set Options.SharedDir: %w", err)
		}
		dir = filepath.Join(cache, "millrace", "shared")
	}
	dir, err := filepath.Abs(dir)
	return filepath.Join(dir, id), err
}

// variablesDir is the directory, in the shared directory, for the values of variables that are files.
const variablesDir = "variables"

// putFile writes the value of a variable into the shared directory of its run and returns its path. The name cannot
// lead elsewhere, because the pipeline declares it.
func putFile(shared string, v runs.Variable) (string, error) {
	dir := filepath.Join(shared, variablesDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir) // commands can write to the shared directory, and create links in it
	if err != nil {
		return "", err
	}
	defer root.Close()
	temp := v.Key + ".new"
	if err := root.RemoveAll(temp); err != nil {
		return "", err
	}
	if err := root.WriteFile(temp, []byte(v.Value), 0o600); err != nil {
		return "", err
	}
	return filepath.Join(dir, v.Key), root.Rename(temp, v.Key)
}
