package flow

import (
	"fmt"
	"slices"
)

const (
	// MaxSteps is the most attempts that a run can have.
	MaxSteps = 200
	// DefaultVisits is how many visits of a step use up the ways back to it, if the step does not say.
	DefaultVisits = 4

	mostRetries = 20
)

// Step is a step as far as the way through the pipeline depends on it. The zero Step goes on to the next in the list,
// and its failure ends the run.
type Step struct {
	// OnFail and Next are the indices of the later steps that a failure and a success lead to. Less than 1 is none, for
	// the first step is never a later one.
	OnFail, Next int
	// Retries are the ways back, at most 20. The caller decides which holds, if any.
	Retries []Retry
	// MaxRetries is how many attempts a visit may have after the first.
	MaxRetries int
	// MaxVisits is how many visits of this step use up the ways back to it, however it was reached. Zero is
	// DefaultVisits.
	MaxVisits int
	// Awaited means that a later step runs if this one fails, so that the failure is handled.
	Awaited bool
	// Continue means that a failure that is not handled does not end the run.
	Continue bool
}

// Retry is a way back.
type Retry struct {
	// To is the index of the step that has it, or of an earlier one.
	To int
	// Restart also takes the stage back to what it was when To was visited first.
	Restart bool
}

// Machine is the way of one run through its steps. Its methods must not be called at the same time.
type Machine struct {
	steps    []Step
	maxSteps int

	step, attempt int // step is len(steps) at the end
	completed     bool
	status        []Status // of this sweep
	visits        []int    // by step, the current step included
	attempts      int
	history       []Visit
	said          []byte // what was said to Done, as State has it
}

// New returns a machine at the first step. maxSteps is how many attempts the run may have, from 1 to MaxSteps; zero
// is MaxSteps. It is an error if an index leads to no step or in the wrong direction, or if a number is out of range.
// The steps are copied.
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

// begin returns a machine at the first of steps that were checked.
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

// arrive begins a visit of step i, or ends the run in order if no such step exists.
func (m *Machine) arrive(i int) {
	m.step, m.attempt = i, 1
	if i < len(m.steps) {
		m.visits[i]++
	} else {
		m.completed = true
	}
}

// Position is where a machine stands: before an attempt of a step. At the end, Step is the number of steps and
// all else is zero.
type Position struct {
	// Step is the index of the step.
	Step int
	// Visit and Attempt count from 1: visits of this step in this run, and attempts in this visit. With Attempt 1 the
	// visit begins: its condition is asked, and its savepoint taken.
	Visit, Attempt int
	// Left is how many more attempts this visit may have if this one fails and can be retried. If it is 0, the visit
	// is over after this attempt, whatever comes of it.
	Left int
	// Savepoint is the number of the savepoint of this visit, from 0, and its index in History once it is over.
	Savepoint int
	// Spent means that the run has had all its attempts: the step may be skipped, but not attempted.
	Spent bool
}

// At returns where the machine stands. ok is false at the end.
func (m *Machine) At() (at Position, ok bool) {
	if m.step == len(m.steps) {
		return Position{Step: m.step}, false
	}
	return Position{
		Step: m.step, Visit: m.visits[m.step], Attempt: m.attempt, Left: max(m.steps[m.step].MaxRetries+1-m.attempt, 0),
		Savepoint: len(m.history), Spent: m.attempts >= m.maxSteps,
	}, true
}

// Completed reports whether the machine has come to the end past the last step, and not because a failure or the
// caller has ended the run: what is staged may be judged and committed.
func (m *Machine) Completed() bool { return m.completed }
