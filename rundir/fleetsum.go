package rundir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/runs"
)

// The largest size of a fleet's summary in a record, in bytes, and the first limit for the message of a failure in it.
const (
	maxSummary = 32 << 10
	maxMessage = 1000
)

// fleetSum counts the targets of a fleet.
type fleetSum struct {
	runs.Summary
	waiting int    // for a decision
	why     string // why no more targets were begun, "" for failures
}

func newSum(spec fleetTargets) fleetSum { return fleetSum{Summary: runs.Summary{Targets: spec.Count}} }

// ended returns the number of targets that have ended.
func (s *fleetSum) ended() int { return s.Success + s.Failed + s.Skipped + s.Canceled }

// add counts the run of a target.
func (s *fleetSum) add(i int, name string, r shownRun) {
	var told childEnd
	if r.end != nil && r.end.Child != nil {
		told = *r.end.Child
	}
	switch r.shownStatus() {
	case runs.Success:
		s.Success++
	case runs.Skipped:
		s.Skipped++
	case runs.Canceled:
		s.Canceled++
	case runs.Failed:
		reason := r.reason
		if r.dead {
			reason = r.deadReason()
		}
		if told.Code == "" {
			told.Code = "internal"
		}
		s.fail(i, name, r.number, told.Code, reason)
	case runs.Manual:
		s.waiting++
	}
	s.Files += int64(told.Files)
	s.Edits += int64(told.Edits)
	s.Risks.Add(told.Risk, 1)
}

// fail counts a failed target, and keeps it if it is among the first.
func (s *fleetSum) fail(i int, name string, number int64, code, message string) {
	s.Failed++
	at := sort.Search(len(s.Failures), func(j int) bool { return s.Failures[j].Index > i })
	if at == names.Most {
		return
	}
	s.Failures = append(s.Failures, runs.Failure{})
	copy(s.Failures[at+1:], s.Failures[at:])
	s.Failures[at] = runs.Failure{
		Index: i, Target: name, Run: strconv.FormatInt(number, 10), Code: code,
		Message: show.Within(message, maxMessage),
	}
	s.Failures = s.Failures[:min(len(s.Failures), names.Most)]
}

// json returns the summary with at most that many failures, in the form for a record.
func (s *fleetSum) json(failures int) json.RawMessage {
	sum := s.Summary
	sum.Failures = append([]runs.Failure{}, s.Failures[:min(failures, len(s.Failures))]...)
	for most := maxMessage; ; most /= 2 {
		text, err := json.Marshal(sum)
		if err != nil {
			return nil // it has only values that JSON can express
		}
		if len(text) <= maxSummary || len(sum.Failures) == 0 {
			return text
		}
		if most < 50 {
			sum.Failures = sum.Failures[:len(sum.Failures)/2]
		}
		for i := range sum.Failures {
			sum.Failures[i].Message = show.Within(sum.Failures[i].Message, max(most, 50))
		}
	}
}

// status returns the status of the parent when nothing is left to do, and the reason. Targets that were not begun are
// skipped.
func (s *fleetSum) status() (status runs.Status, reason string) {
	left := s.Targets - s.ended() - s.waiting
	s.Skipped += left
	var all []string
	for _, part := range []struct {
		n    int
		what string
	}{{s.Failed, "failed"}, {s.Canceled, "canceled"}, {left, "not begun"}, {s.waiting, "waiting for a decision"}} {
		if part.n > 0 {
			all = append(all, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	if len(all) > 0 {
		reason = fmt.Sprintf("of %d targets %s", s.Targets, strings.Join(all, ", "))
	}
	if left > 0 && s.why != "" {
		reason += fmt.Sprintf(" (%s)", s.why)
	}
	switch {
	case s.Failed+s.Canceled+left > 0:
		return runs.Failed, reason
	case s.waiting > 0:
		return runs.Manual, reason
	case s.Skipped == s.Targets:
		return runs.Skipped, ""
	}
	return runs.Success, ""
}

// record returns the record with the result of the fleet.
func (s *fleetSum) record() *record {
	status, reason := s.status()
	if status == runs.Manual {
		return &record{Kind: kindState, Status: status, Reason: reason, Summary: s.json(names.Most)}
	}
	return &record{Kind: kindEnd, Status: status, Reason: reason, End: &end{Summary: s.json(names.Most)}}
}

// ended records the result of the fleet. err is the reason why it has not gone through its targets, nil if it has.
func (f *fleetWork) ended(err error) error {
	f.s.canceling.Lock()
	cause := context.Cause(f.s.ctx)
	if by, ok := errors.AsType[*canceledBy](cause); ok {
		f.s.canceling.Unlock()
		r, err := f.m.cancelChildren(f.m.base, f.s.w, f.spec, by)
		if err != nil {
			return err
		}
		return f.s.w.append(r)
	}
	defer f.s.canceling.Unlock()
	if cause != nil {
		return nil // the manager is closed: like after the death of the process, the fleet can continue
	}
	f.s.waits = true
	f.sum.why = f.limits.why
	r := f.sum.record()
	if err != nil {
		r.Kind, r.Status, r.Reason = kindEnd, runs.Failed, err.Error()
		r.End, r.Summary = &end{Summary: f.sum.json(names.Most)}, nil
	}
	return f.s.w.append(r)
}

// cancelChildren cancels the existing children of a canceled fleet, and returns the record of that.
func (m *Manager) cancelChildren(ctx context.Context, w *writer, spec fleetTargets, by *canceledBy) (*record, error) {
	sum, err := m.sumUp(ctx, w.number, spec, func(l *loaded) error {
		if s := l.shownStatus(); s.Ended() {
			return nil
		}
		check := func(r shownRun) error { return r.run().Check(runs.VerbCancel) }
		err := m.cancelAs(ctx, l.number, check, true)
		if _, over := errors.AsType[*runs.StateError](err); over {
			return nil // it has ended in the meantime
		}
		return err
	})
	r := &record{Kind: kindEnd, Status: runs.Canceled, Reason: by.Error(), End: new(end)}
	switch {
	case context.Cause(ctx) != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		r.Reason = show.Within(r.Reason+"; not all of its targets could be: "+err.Error(), maxReason)
	}
	_, _ = sum.status() // it counts what was not begun
	r.End.Summary = sum.json(names.Most)
	return r, nil
}

// sumUp counts the targets of a fleet from their own records. first is called with each child before it is counted. Its
// errors, and errors of children that cannot be read, are joined at the end.
func (m *Manager) sumUp(ctx context.Context, parent int64, spec fleetTargets,
	first func(*loaded) error) (sum fleetSum, failed error) {
	sum = newSum(spec)
	err := m.store.eachTarget(ctx, parent, spec, func(i int, line []byte) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		l, err := m.store.childAt(parent, i)
		if err == nil && l != nil {
			if err = first(l); err == nil {
				l, err = m.store.look(l.number)
			}
		}
		if l != nil && err == nil {
			var t targetName
			if err = json.Unmarshal(line, &t); err == nil {
				sum.add(i, t.ID, l.shownRun)
			}
		}
		if err != nil && failed == nil {
			failed = fmt.Errorf("target %d: %w", i, err)
		}
		return nil
	})
	return sum, errors.Join(err, failed)
}

// leftOver reports whether a run is a failed fleet with children that wait for a decision or are worked on separately:
// they can be canceled with it.
func (m *Manager) leftOver(ctx context.Context, r shownRun) bool {
	if r.created.Fleet == nil || r.status != runs.Failed {
		return false
	}
	found := false
	_ = m.store.eachTarget(ctx, r.number, *r.created.Fleet, func(i int, _ []byte) error {
		child, err := m.store.childAt(r.number, i)
		if found = err == nil && child != nil && !child.shownStatus().Ended(); found {
			return errFound
		}
		return context.Cause(ctx)
	})
	return found
}

// errFound ends a search.
var errFound = errors.New("found")

// childAt returns the run of a target, nil if there is none.
func (s *Store) childAt(parent int64, index int) (*loaded, error) {
	number, err := s.child(parent, index)
	if err != nil || number == 0 {
		return nil, err
	}
	l, err := s.look(number)
	switch {
	case errors.Is(err, errNoRun):
		return nil, nil
	case err != nil:
		return nil, err
	case !l.isChild(parent, index):
		return nil, nil // the file is not signed: the run itself names its parent
	}
	return l, nil
}

// fleetToEnd returns the fleet that may have ended with this session: the fleet of a child that was worked on
// separately, or a fleet that waits for its children. 0 means none.
func (s *session) fleetToEnd() (parent int64) {
	s.w.state(func(f *folded) {
		switch {
		case f.created.Parent > 0 && !s.within:
			parent = f.created.Parent
		case f.created.Fleet != nil && f.status == runs.Manual:
			parent = s.w.number
		}
	})
	return parent
}

// endFleet ends a fleet that was waiting for its children, if all of them have ended.
func (m *Manager) endFleet(ctx context.Context, parent int64) error {
	l, err := m.store.look(parent)
	if err != nil || l.foreign || l.created.Fleet == nil || l.status != runs.Manual {
		return err
	}
	spec := *l.created.Fleet
	m.mu.Lock()
	first := m.waiting[parent]
	m.mu.Unlock()
	for i := first; i < spec.Count; i++ {
		child, err := m.store.childAt(parent, i)
		if err != nil {
			return err
		}
		if child != nil && !child.shownStatus().Ended() {
			m.mu.Lock()
			m.waiting[parent] = i
			m.mu.Unlock()
			return context.Cause(ctx)
		}
	}
	m.mu.Lock()
	delete(m.waiting, parent)
	m.mu.Unlock()
	release, err := m.claimAs(ctx, parent, true)
	if err != nil {
		return err
	}
	defer release()
	if s := m.session(parent); s != nil {
		return nil // it does that itself
	}
	w, err := m.store.own(parent)
	if errors.Is(err, runs.ErrBusy) {
		return nil // as above
	}
	if err != nil {
		return err
	}
	if w.status() == runs.Manual {
		var sum fleetSum
		if sum, err = m.sumUp(ctx, parent, spec, func(*loaded) error { return nil }); err == nil {
			err = w.append(sum.record())
		}
	}
	return errors.Join(err, w.close())
}
