package rundir

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/runs"
)

// decide records a decision about a run that check allows, and begins to work on it. decide returns the run in its new
// state. goesOn means that do does not refuse.
func (m *Manager) decide(ctx context.Context, number int64, goesOn bool, check func(shownRun) error,
	do func(w *writer) error) (runs.Run, error) {
	release, err := m.claim(ctx, number)
	if err != nil {
		return runs.Run{}, err
	}
	defer release()
	if s := m.session(number); s != nil {
		l, err := m.store.look(number)
		if err == nil {
			err = check(l.shownRun)
		}
		if err != nil {
			return runs.Run{}, err
		}
		select { // it has ended, and is about to release the lock
		case <-s.over:
		case <-ctx.Done():
			return runs.Run{}, context.Cause(ctx)
		}
	}
	w, err := m.store.own(number)
	if err != nil {
		return runs.Run{}, err
	}
	dead := w.status().Active()
	checked := func() {
		w.state(func(f *folded) { err = check(shownRun{folded: f, number: number, dead: dead}) })
	}
	if checked(); err == nil && dead {
		if err = m.settle(ctx, w, goesOn); err == nil {
			dead = false
			checked()
		}
	}
	if err == nil {
		err = do(w)
	}
	if err != nil {
		return runs.Run{}, also(err, w.close())
	}
	run := m.shown(w)
	return run, m.begin(w)
}

// goOn records that a user continues the run after the last checkpoint.
func (m *Manager) goOn(w *writer, user string) error {
	return m.goBackAs(w, retry{User: user, From: -1})
}

// goBackAs records the decision to continue after a number of checkpoints, a negative number for all. It adds the jobs.
func (m *Manager) goBackAs(w *writer, r retry) error {
	var err error
	w.state(func(f *folded) {
		if r.From < 0 {
			r.From = len(f.line)
		}
		r.Jobs, err = f.again(r.From)
	})
	if err != nil {
		return err
	}
	return w.append(&record{Kind: kindRetry, Status: runs.Pending, Retry: &r})
}

// Retry implements [runs.Manager].
func (m *Manager) Retry(ctx context.Context, ref runs.RunRef) (runs.Run, error) {
	if isNested(ctx) {
		return runs.Run{}, millrace.ErrNested
	}
	l, err := m.store.find(ctx, ref)
	if err != nil {
		return runs.Run{}, err
	}
	check := func(r shownRun) error { return r.run().Check(runs.VerbRetry) }
	return m.decide(ctx, l.number, true, check, func(w *writer) error { return m.goOn(w, m.host.User) })
}

// Resume continues a run in any state: "<run>" or "<run>/<step>", where the run is a number or an id. A run that waits
// for a decision is played. A run that has failed, was canceled, or whose process has died continues after the last
// finished step. A created run is begun. With a step the run goes back to its state before that step, which asks its
// questions again. A step that waits for a decision is refused with a *[runs.StateError], and so is a step that the run
// has not reached, because the results of the steps before it would be missing. If the process of the run has died
// after its commit, the run is returned as success. Errors are the errors of Retry and Play.
func (m *Manager) Resume(ctx context.Context, what string) (runs.Run, error) {
	if isNested(ctx) {
		return runs.Run{}, millrace.ErrNested
	}
	id, step, stepped := strings.Cut(what, "/")
	l, err := m.store.find(ctx, runs.RunRef{ID: id})
	if err != nil {
		return runs.Run{}, err
	}
	var j *job
	if stepped {
		if l, j, err = m.store.findJob(ctx, runs.JobRef{ID: id + "/" + step}); err != nil {
			return runs.Run{}, err
		}
	}
	check := func(r shownRun) error {
		switch {
		case j != nil && r.jobs[j.ordinal-1].status == runs.Manual:
			return (jobs{m}).check(r, j.ordinal, runs.VerbRetry)
		case r.status == runs.Created, r.status == runs.Manual:
			return nil
		}
		return r.run().Check(runs.VerbRetry)
	}
	run, err := m.decide(ctx, l.number, j == nil, check, func(w *writer) error {
		var status runs.Status
		var digest string
		var from, all int
		reached := true
		w.state(func(f *folded) {
			status = f.status
			if f.hold != nil && f.hold.Commit {
				digest = f.hold.PlanDigest
			}
			if all = len(f.line); j != nil {
				from, reached = f.before(j.ordinal)
			}
		})
		switch {
		case !reached:
			return (jobs{m}).refused(w, j, runs.VerbRetry, notReached)
		case j != nil && (from < all || status.Ended()):
			return m.goBackAs(w, retry{User: m.host.User, From: from, Anew: true})
		case j == nil && status == runs.Manual:
			return w.append(&record{Kind: kindPlay, Status: runs.Pending,
				Play: &play{User: m.host.User, PlanDigest: digest}})
		case status == runs.Created:
			return nil
		}
		return m.goOn(w, m.host.User)
	})
	if _, refused := errors.AsType[*runs.StateError](err); refused && l.dead {
		if settled, gerr := m.store.Get(ctx, runs.RunRef{ID: id}); gerr == nil && settled.Status.Final() {
			return settled, nil
		}
	}
	return run, err
}

// notReached is the reason why a run cannot go back to a step that it has not reached.
const notReached = "the run has not come to it: retry the run, which goes on behind the last step done"

// jobs is the [runs.JobManager] of a manager.
type jobs struct{ m *Manager }

// Play implements [runs.JobManager].
func (j jobs) Play(ctx context.Context, ref runs.JobRef, p runs.PlayParams) (runs.Job, error) {
	return j.decide(ctx, ref, runs.VerbPlay, func(w *writer, played *job) error {
		var held *hold
		w.state(func(f *folded) {
			if f.heldJob == played.ordinal {
				held = f.hold
			}
		})
		if held == nil {
			return j.refused(w, played, runs.VerbPlay, "another job of the run is held")
		}
		if p.PlanDigest != "" && p.PlanDigest != held.PlanDigest {
			return j.refused(w, played, runs.VerbPlay, fmt.Sprintf(
				"and its plan differs from the reviewed plan: its plan_digest is %s: look at it again",
				held.PlanDigest))
		}
		if len(p.Leave) > 0 && (!held.Commit || p.PlanDigest == "") {
			return j.refused(w, played, runs.VerbPlay,
				"a part is left out only before the commit, and of the plan of a plan_digest")
		}
		pipeline, given, err := j.m.stored(w)
		if err != nil {
			return err
		}
		if err := runs.CheckVariables(p.Variables); err != nil {
			return err
		}
		if _, err := runs.WithVariables(pipeline, p.Variables, noFile); err != nil {
			return err
		}
		if all := replaced(given, p.Variables); len(all) > runs.MaxVariables {
			return fmt.Errorf("the run has %d variables then, at most %d are possible", len(all), runs.MaxVariables)
		}
		r := &play{User: j.m.host.User, Force: p.Force}
		if held.Commit {
			r.PlanDigest = held.PlanDigest
		}
		if r.Leave, err = w.leave(p.Leave); err != nil {
			return err
		}
		if len(p.Variables) > 0 {
			if r.Variables, err = w.value(p.Variables); err != nil {
				return err
			}
			for _, v := range p.Variables {
				r.Keys = append(r.Keys, v.Key)
			}
		}
		return w.append(&record{Kind: kindPlay, Status: runs.Pending, Play: r})
	})
}

// Retry implements [runs.JobManager].
func (j jobs) Retry(ctx context.Context, ref runs.JobRef) (runs.Job, error) {
	return j.decide(ctx, ref, runs.VerbRetry, func(w *writer, again *job) error {
		var from int
		var reached bool
		w.state(func(f *folded) { from, reached = f.before(again.ordinal) })
		if !reached {
			return j.refused(w, again, runs.VerbRetry, notReached)
		}
		return j.m.goBackAs(w, retry{User: j.m.host.User, From: from, Anew: true})
	})
}

// Cancel implements [runs.JobManager].
func (j jobs) Cancel(ctx context.Context, ref runs.JobRef) (runs.Job, error) {
	l, found, err := j.m.store.findJob(ctx, ref)
	if err != nil {
		return runs.Job{}, err
	}
	check := func(r shownRun) error { return j.check(r, found.ordinal, runs.VerbCancel) }
	if err := j.m.cancel(ctx, l.number, check); err != nil {
		return runs.Job{}, err
	}
	return j.m.store.Job(ctx, runs.JobRef{ID: l.jobID(found.ordinal)})
}

// check returns an error if the status of a job, or of its run, does not allow the verb.
func (j jobs) check(r shownRun, ordinal int, v runs.Verb) error {
	err := r.job(r.jobs[ordinal-1], j.m.stepNames(r)).Check(v, r.shownStatus())
	if run := r.run(); err == nil && v == runs.VerbRetry && run.Status.Ended() {
		err = run.Check(v) // the run may not be resumable
	}
	return err
}

// stepNames returns the steps of a run.
func (m *Manager) stepNames(r shownRun) []stepName {
	return m.store.stepsOf(&loaded{shownRun: r})
}

// decide is the manager's decide for a job. It returns the latest job of the step.
func (j jobs) decide(ctx context.Context, ref runs.JobRef, v runs.Verb,
	do func(w *writer, about *job) error) (runs.Job, error) {
	if isNested(ctx) {
		return runs.Job{}, millrace.ErrNested
	}
	l, found, err := j.m.store.findJob(ctx, ref)
	if err != nil {
		return runs.Job{}, err
	}
	var shown runs.Job
	check := func(r shownRun) error { return j.check(r, found.ordinal, v) }
	_, err = j.m.decide(ctx, l.number, false, check, func(w *writer) error {
		if err := do(w, found); err != nil {
			return err
		}
		w.state(func(f *folded) {
			r := shownRun{folded: f, number: l.number}
			shown = r.job(f.jobs[f.latest[found.index]-1], slices.Clone(j.m.stepNames(r)))
		})
		return nil
	})
	return shown, err
}

// refused returns the error for a verb that is refused although the status of the job allows it.
func (j jobs) refused(w *writer, about *job, v runs.Verb, reason string) error {
	e := &runs.StateError{Verb: v, What: runs.ThingJob, Reason: reason}
	w.state(func(f *folded) {
		r := shownRun{folded: f, number: w.number}
		shown := r.job(f.jobs[about.ordinal-1], j.m.stepNames(r))
		e.ID, e.Status = shown.ID, shown.Status
		if shown.Kind != runs.JobCommit {
			e.Step = shown.Name
		}
	})
	return e
}
