package rundir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/runs"
)

// Get implements [runs.Browser].
func (s *Store) Get(ctx context.Context, ref runs.RunRef) (runs.Run, error) {
	l, err := s.find(ctx, ref)
	if err != nil {
		return runs.Run{}, err
	}
	data := &lazyData{layout: s.layout, number: l.number}
	defer data.Close()
	r := l.run()
	r.Result = l.result(data)
	return r, nil
}

// Jobs implements [runs.Browser].
func (s *Store) Jobs(ctx context.Context, ref runs.RunRef, f runs.JobFilter) (runs.Page[runs.Job], error) {
	if err := f.Check(); err != nil {
		return runs.Page[runs.Job]{}, err
	}
	l, err := s.find(ctx, ref)
	if err != nil {
		return runs.Page[runs.Job]{}, err
	}
	if l.created.Fleet != nil {
		return f.PageOf(nil), nil // only its targets have jobs
	}
	steps := s.stepsOf(l)
	all := make([]runs.Job, 0, len(l.jobs))
	for _, j := range l.jobs {
		all = append(all, l.job(j, steps))
	}
	return f.PageOf(all), nil
}

// Job implements [runs.Browser].
func (s *Store) Job(ctx context.Context, ref runs.JobRef) (runs.Job, error) {
	l, j, err := s.findJob(ctx, ref)
	if err != nil {
		return runs.Job{}, err
	}
	data := &lazyData{layout: s.layout, number: l.number}
	defer data.Close()
	v := l.job(j, s.stepsOf(l))
	if j.done != nil {
		result, err := stepResult(j.done, l.mostRead(), data)
		if err != nil && !j.retried {
			result, err = l.inWhole(v.Name, data, err) // the last record may also have it
		}
		if err != nil {
			result = &millrace.StepResult{StepID: v.Name, Action: v.Action, Success: v.Status == runs.Success,
				Skipped: v.Status == runs.Skipped, Warnings: []string{notThere(err)}}
		}
		v.Result = result
	}
	return v, nil
}

// inWhole returns the part of a step in the result of the run, or the error without a result.
func (r shownRun) inWhole(step string, data io.ReaderAt, err error) (*millrace.StepResult, error) {
	if whole := r.result(data); whole != nil {
		for i := range whole.Results {
			if whole.Results[i].StepID == step {
				return &whole.Results[i], nil
			}
		}
	}
	return nil, err
}

// find returns the run for a reference.
func (s *Store) find(ctx context.Context, ref runs.RunRef) (*loaded, error) {
	if ok, err := s.present(); err != nil || !ok {
		return nil, errOr(err, runs.RunNotFound(ref))
	}
	number, err := s.numberOf(ctx, ref.ID)
	if err != nil || number == 0 {
		return nil, errOr(err, runs.RunNotFound(ref))
	}
	l, err := s.look(number)
	switch {
	case errors.Is(err, errNoRun):
		return nil, runs.RunNotFound(ref)
	case err != nil:
		return nil, err
	case ref.Project != "" && ref.Project != l.created.Project:
		return nil, runs.RunNotFound(ref)
	}
	return l, nil
}

func errOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// numberOf returns the number of a run, by its number or its id, 0 if not found.
func (s *Store) numberOf(ctx context.Context, id string) (number int64, err error) {
	if n, ok := runs.Number(id); ok {
		if n > maxNumber {
			return 0, nil
		}
		return n, nil
	}
	if !journal.ValidRunID(id) {
		return 0, nil
	}
	c := scan{s: s, upTo: everything, trusts: func(e *entry) bool { return !e.tooLong }}
	c.visit = func(e *entry) bool {
		if string(e.id) == id {
			number = e.number
		}
		return number == 0
	}
	if err := c.run(ctx); err != nil || number == 0 {
		return 0, err
	}
	// The index may be wrong; then no run is found, as if it had just been removed.
	if l, err := s.load(number); err != nil || l.created.ID != id {
		return 0, nil
	}
	return number, nil
}

// findJob returns the job for a reference: the number of a job, or a run and a step.
func (s *Store) findJob(ctx context.Context, ref runs.JobRef) (*loaded, *job, error) {
	run, step, named := strings.Cut(ref.ID, "/")
	ordinal := 0
	if !named {
		n, ok := runs.Number(ref.ID)
		if !ok || n < perRun {
			return nil, nil, runs.JobNotFound(ref)
		}
		run, ordinal = fmt.Sprint(n/perRun), int(n%perRun)
	}
	l, err := s.find(ctx, runs.RunRef{Project: ref.Project, ID: run})
	if errors.Is(err, runs.ErrNotFound) {
		err = runs.JobNotFound(ref)
	}
	if err != nil {
		return nil, nil, err
	}
	if named {
		ordinal = l.ordinalOf(step, s.stepsOf(l))
	}
	if ordinal < 1 || ordinal > len(l.jobs) || l.created.Fleet != nil {
		return nil, nil, runs.JobNotFound(ref)
	}
	return l, l.jobs[ordinal-1], nil
}

// ordinalOf returns the ordinal of the latest job of a step, 0 for none. "commit" means the commit if no step has that
// name.
func (r shownRun) ordinalOf(step string, steps []stepName) int {
	for index, ordinal := range r.latest[:r.commitIndex()] {
		if name, _ := r.nameOf(r.jobs[ordinal-1], steps); name == step && index < r.commitIndex() {
			return ordinal
		}
	}
	if step == commitName {
		return r.latest[r.commitIndex()]
	}
	return 0
}

// maxSteps is the largest size of the step names of a run, in bytes.
const maxSteps = 4 << 20

// stepsOf returns the steps of the pipeline of a run, nil if their names were removed with its data.
func (s *Store) stepsOf(l *loaded) []stepName {
	data := &lazyData{layout: s.layout, number: l.number}
	defer data.Close()
	var steps []stepName
	if l.created.Steps.decodeUpTo(maxSteps, data, &steps) != nil {
		return nil
	}
	return steps
}
