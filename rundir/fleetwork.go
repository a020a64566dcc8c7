package rundir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/runs"
)

// fleetWork works on the targets of a fleet. It does not count towards MaxRunning, but its children do.
type fleetWork struct {
	s      *session
	m      *Manager
	number int64
	spec   fleetTargets
	child  newRun // the description of each child, without its target
	work   sync.WaitGroup

	mu     sync.Mutex
	sum    fleetSum
	told   int // the number of ended targets in the last record
	limits fleetLimits
}

// fleetTargets returns the targets of the run if it is a fleet, else nil.
func (s *session) fleetTargets() (spec *fleetTargets) {
	s.w.state(func(f *folded) { spec = f.created.Fleet })
	return spec
}

// runFleet begins or continues the children, and records the result.
func (s *session) runFleet(spec fleetTargets) error {
	f := &fleetWork{s: s, m: s.m, number: s.w.number, spec: spec, sum: newSum(spec),
		limits: fleetLimits{spec: spec, began: time.Now()}}
	err := s.w.append(&record{Kind: kindState, Status: runs.Preparing})
	if err != nil {
		return err
	}
	if err = f.prepare(); err == nil {
		if err = s.w.append(&record{Kind: kindState, Status: runs.Running, Summary: f.sum.json(0)}); err != nil {
			return err
		}
		err = f.run()
	}
	return f.ended(err)
}

// prepare reads the description of the children, and finds the existing ones.
func (f *fleetWork) prepare() error {
	p, given, err := f.m.stored(f.s.w)
	if err != nil {
		return err
	}
	f.s.w.state(func(r *folded) {
		c := r.created
		f.child.created = created{
			Name: c.Name, Ref: c.Ref, SHA: c.SHA, DryRun: c.DryRun, User: c.User, Source: runs.SourceParent,
			Parent: f.number,
		}
	})
	f.child.status, f.child.variables, f.child.steps = runs.Created, given, stepNames(p)
	if f.child.pipeline, err = p.MarshalJSON(); err != nil {
		return err
	}
	// No target is begun unless all targets are the given ones.
	if err = f.m.store.eachTarget(f.s.ctx, f.number, f.spec, func(int, []byte) error { return nil }); err != nil {
		return err
	}
	found, err := f.find()
	if err != nil || !found {
		return err
	}
	return f.spentBefore()
}

// find adds missing entries to the file "children": a killed process leaves children that the file does not name, and a
// power cut may leave any part of the file. The first record of a child names its parent, so no child is begun twice.
// The fleet's own records do not count, because the record that a process has begun the fleet need not be durable when
// its children are.
func (f *fleetWork) find() (found bool, err error) {
	store := f.m.store
	c := scan{s: store, from: f.number, upTo: everything, trusts: func(*entry) bool { return true }}
	var failed error
	c.visit = func(e *entry) bool {
		if e.parent != f.number {
			return true
		}
		l, err := store.load(e.number)
		if err != nil || l.created.Child == nil {
			return true // not a run, or an unusable run
		}
		index := l.created.Child.Index
		if index < 0 || index >= f.spec.Count || !l.isChild(f.number, index) {
			return true
		}
		found = true
		named, err := store.child(f.number, index)
		if err == nil && named != e.number {
			if other, lerr := store.load(named); lerr != nil || !other.isChild(f.number, index) {
				err = f.s.w.setChild(index, e.number)
			}
		}
		failed = err
		return failed == nil
	}
	err = c.run(f.s.ctx)
	return found, errors.Join(err, failed)
}

// run goes through the targets. It returns when the last child has ended or waits.
func (f *fleetWork) run() error {
	defer f.work.Wait()
	places := make(chan struct{}, f.m.parallel(f.spec.Parallel))
	return f.m.store.eachTarget(f.s.ctx, f.number, f.spec, func(i int, line []byte) error {
		var t fleet.Target
		if err := json.Unmarshal(line, &t); err != nil {
			return damaged(f.number, fmt.Errorf("target %d: %w", i, err))
		}
		select {
		case places <- struct{}{}:
		case <-f.s.ctx.Done():
			return context.Cause(f.s.ctx)
		}
		if f.s.ctx.Err() != nil { // both cases of the select were ready
			return context.Cause(f.s.ctx)
		}
		child, err := f.begin(i, t)
		if child == nil {
			<-places
			return err
		}
		f.work.Go(func() {
			defer func() { <-places }()
			child.await(f.s.ctx)
			child.w.state(func(r *folded) {
				f.add(i, t.ID, shownRun{folded: r, number: child.w.number, dead: r.status.Active()})
			})
		})
		return nil
	})
}

// await waits until the session of a child is over, and cancels it if the fleet is canceled.
func (s *session) await(fleet context.Context) {
	select {
	case <-s.over:
		return
	case <-fleet.Done():
	}
	if by, ok := errors.AsType[*canceledBy](context.Cause(fleet)); ok {
		if err := s.cancel(by.user); err != nil && !errors.Is(err, os.ErrClosed) {
			s.m.log("a cancel cannot be recorded", s.w.number, err)
			s.stop(by)
		}
	}
	<-s.over
}

// add counts a target that has ended, or waits.
func (f *fleetWork) add(i int, name string, r shownRun) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limits.use(i, r.used())
	f.sum.add(i, name, r)
	if n := f.sum.ended(); (n-f.told)*100 >= f.spec.Count && n < f.spec.Count {
		f.told = n
		_ = f.s.w.append(&record{Kind: kindState, Summary: f.sum.json(0)}) // it is only shown
	}
}

// begin begins or continues a child. The session is nil if the child needs no work.
func (f *fleetWork) begin(i int, t fleet.Target) (*session, error) {
	number, err := f.m.store.child(f.number, i)
	if err != nil {
		return nil, err
	}
	for number > 0 {
		l, err := f.m.store.look(number)
		switch {
		case errors.Is(err, runs.ErrDamaged):
			f.lost(i, t.ID, number, err)
			return nil, nil
		case err != nil && !errors.Is(err, errNoRun):
			return nil, err
		case err != nil || !l.isChild(f.number, i):
			number = 0 // the run was removed, or the file is wrong
			continue
		case l.status.Active() && !l.dead:
		case l.shownRun.toDo():
			stopped, err := f.stopped()
			if err != nil {
				return nil, err
			}
			if stopped {
				f.add(i, t.ID, l.shownRun)
				return nil, nil
			}
			child, err := f.resume(number)
			if child != nil || err != nil && !errors.Is(err, runs.ErrBusy) {
				return child, err
			}
		default:
			f.add(i, t.ID, l.shownRun)
			return nil, nil
		}
		// A process other than this fleet works on it, or has just done so.
		if s := f.m.session(number); s != nil {
			return s, nil
		}
		select {
		case <-time.After(effectWait):
		case <-f.s.ctx.Done():
			return nil, context.Cause(f.s.ctx)
		}
	}
	if stopped, err := f.stopped(); stopped || err != nil {
		return nil, err
	}
	return f.create(i, t)
}

// toDo reports whether a fleet continues a child.
func (r shownRun) toDo() bool {
	s := r.shownStatus()
	return s == runs.Created || (s == runs.Failed || s == runs.Canceled) && r.resumable()
}

// stopped reports whether no more targets are begun, because too many have failed or a limit is reached. Otherwise it
// waits until the next target may begin. The error is the reason why the fleet ends instead.
func (f *fleetWork) stopped() (bool, error) {
	if f.reached() {
		return true, nil
	}
	if err := f.limits.pace(f.s.ctx); err != nil {
		return false, err
	}
	return f.reached(), nil
}

func (f *fleetWork) reached() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.spec.StopAfter > 0 && f.sum.Failed >= f.spec.StopAfter || f.limits.reached()
}

// lost counts a child that cannot be read.
func (f *fleetWork) lost(i int, name string, number int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sum.fail(i, name, number, "internal", err.Error())
}

// create creates the child of a target. The parent records it before the child starts.
func (f *fleetWork) create(i int, t fleet.Target) (*session, error) {
	n := f.child
	n.Project = t.ID
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	n.target = text
	n.Child = &childOf{Index: i}
	w, err := f.m.store.create(f.s.ctx, n)
	if err != nil {
		return nil, err
	}
	if err := f.s.w.setChild(i, w.number); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return f.m.beginAs(w, true)
}

// resume continues a child. The session is nil if the child is done.
func (f *fleetWork) resume(number int64) (*session, error) {
	release, err := f.m.claimAs(f.s.ctx, number, true)
	if err != nil {
		return nil, err
	}
	defer release()
	if s := f.m.session(number); s != nil {
		return s, nil
	}
	w, err := f.m.store.own(number)
	if err != nil {
		return nil, err
	}
	if w.status().Active() {
		err = f.m.settle(f.s.ctx, w, true)
	}
	again, created := false, false
	w.state(func(r *folded) {
		again, created = shownRun{folded: r, number: number}.toDo(), r.status == runs.Created
	})
	if err == nil && again && !created {
		err = f.m.goOn(w, f.m.host.User)
	}
	if err != nil || !again {
		return nil, also(err, w.close())
	}
	return f.m.beginAs(w, true)
}

// spentBefore counts the use of the existing children, if there is a budget.
func (f *fleetWork) spentBefore() error {
	if f.spec.Budget.IsZero() {
		return nil
	}
	return f.m.store.eachTarget(f.s.ctx, f.number, f.spec, func(i int, _ []byte) error {
		l, err := f.m.store.childAt(f.number, i)
		if err == nil && l != nil {
			f.limits.use(i, l.used())
		}
		return nil // an unreadable child is reported in its turn
	})
}
