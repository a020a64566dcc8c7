package flow

import (
	"fmt"
	"slices"
)

const (
	// MaxSteps is the maximum number of attempts of a run.
	MaxSteps = 200
	// DefaultVisits is the default of Step.MaxVisits.
	DefaultVisits = 4

	mostRetries = 20
)

// Step is the part of a step that determines the way through the pipeline. After the zero Step the next step in the
// list comes, and its failure ends the run.
type Step struct {
	// OnFail and Next are the indices of the later steps that follow a failure and a success. A value less than 1 means
	// none, because step 0 is never a later one.
	OnFail, Next int
	// Retries are the ways back, at most 20. The caller decides which one holds, if any.
	Retries []Retry
	// MaxRetries is the maximum number of attempts in a visit after the first.
	MaxRetries int
	// MaxVisits is the number of visits of this step, however it was reached, after which the ways back to it are closed.
	// Zero means DefaultVisits.
	MaxVisits int
	// Awaited means that a later step runs if this one fails, so that the failure is handled.
	Awaited bool
	// Continue means that an unhandled failure does not end the run.
	Continue bool
}

// Retry is a way back.
type Retry struct {
	// To is the index of the step that has the way back, or of an earlier step.
	To int
	// Restart also rolls the stage back to its state at the first visit of To.
	Restart bool
}

// Machine is the path of one run through its steps. Its methods must not be called concurrently.
type Machine struct {
	steps    []Step
	maxSteps int

	step, attempt int // step is len(steps) at the end
	completed     bool
	status        []Status // of the steps in this sweep
	visits        []int    // by step, including the current visit
	attempts      int
	history       []Visit
	said          []byte // the outcomes passed to Done, in the form of State
}

// New returns a machine at the first step. maxSteps is the maximum number of attempts of the run, from 1 to MaxSteps;
// zero means MaxSteps. It is an error if an index leads to no step or in the wrong direction, or if a number is out of
// range. The steps are copied.
func New(steps []Step, maxSteps int) (*Machine, error) {
	if maxSteps == 0 {
		maxSteps = MaxSteps
	}
	if maxSteps < 1 || maxSteps > MaxSteps {
		return nil, fmt.Errorf("maxSteps must be 1 to %d, got %d", MaxSteps, maxSteps)
	}
	steps = slices.Clone(steps)
	for i := range steps {
		if err := steps[i].check(i, len(steps)); err != nil {
			return nil, fmt.Errorf("step %d: %w", i, err)
		}
		steps[i].Retries = slices.Clone(steps[i].Retries)
		if steps[i].MaxVisits == 0 {
			steps[i].MaxVisits = DefaultVisits
		}
	}
	return begin(steps, maxSteps), nil
}

// begin returns a machine at the first of steps that New has checked.
func begin(steps []Step, maxSteps int) *Machine {
	m := &Machine{steps: steps, maxSteps: maxSteps, status: make([]Status, len(steps)), visits: make([]int, len(steps))}
	m.arrive(0)
	return m
}

func (s Step) check(i, n int) error {
	for _, ahead := range []struct {
		name string
		to   int
	}{{"OnFail", s.OnFail}, {"Next", s.Next}} {
		if ahead.to > 0 && (ahead.to <= i || ahead.to >= n) {
			return fmt.Errorf("%s must be the index of a later step, got %d", ahead.name, ahead.to)
		}
	}
	if len(s.Retries) > mostRetries {
		return fmt.Errorf("there can be %d retries at most, got %d", mostRetries, len(s.Retries))
	}
	for _, r := range s.Retries {
		if r.To < 0 || r.To > i {
			return fmt.Errorf("a retry must lead to this step or an earlier one, got %d", r.To)
		}
	}
	if s.MaxRetries < 0 {
		return fmt.Errorf("MaxRetries cannot be negative, got %d", s.MaxRetries)
	}
	if s.MaxVisits < 0 {
		return fmt.Errorf("MaxVisits cannot be negative, got %d", s.MaxVisits)
	}
	return nil
}

// arrive begins a visit of step i, or completes the run if no such step exists.
func (m *Machine) arrive(i int) {
	m.step, m.attempt = i, 1
	if i < len(m.steps) {
		m.visits[i]++
	} else {
		m.completed = true
	}
}

// Position is the position of a machine: before an attempt of a step. At the end, Step is the number of steps and all
// other fields are zero.
type Position struct {
	// Step is the index of the step.
	Step int
	// Visit and Attempt count from 1: visits of this step in this run, and attempts in this visit. Attempt 1 begins the
	// visit: the caller takes the savepoint and asks the condition.
	Visit, Attempt int
	// Left is the number of further attempts in this visit if this one fails and can be retried. If it is 0, the visit
	// ends after this attempt in any case.
	Left int
	// Savepoint is the number of the savepoint of this visit, from 0, and the visit's index in History when it is over.
	Savepoint int
	// Spent means that the run has used all its attempts: the step may be skipped, but not attempted.
	Spent bool
}

// At returns the position of the machine. ok is false at the end.
func (m *Machine) At() (at Position, ok bool) {
	if m.step == len(m.steps) {
		return Position{Step: m.step}, false
	}
	return Position{
		Step: m.step, Visit: m.visits[m.step], Attempt: m.attempt, Left: max(m.steps[m.step].MaxRetries+1-m.attempt, 0),
		Savepoint: len(m.history), Spent: m.attempts >= m.maxSteps,
	}, true
}

// Completed reports whether the run went past the last step, and was not ended by a failure or the caller: the staged
// changes may be judged and committed.
func (m *Machine) Completed() bool { return m.completed }
