package rundir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/runs"
)

// recorder records a run while it is executed: it is the run's [millrace.Checkpointer] and [millrace.Approver].
// Everything goes into the records and the log of the run.
type recorder struct {
	s *session
	w *writer

	mu      sync.Mutex                   // held while a job gets its number and is recorded
	begun   bool                         // an attempt, or the commit, was entered
	ordinal map[string]int               // of the running attempts, by step
	failed  map[string]millrace.Position // the last attempts of unfinished visits
	digest  string                       // of the plan to commit
	spent   budget.Cost                  // so far, 0 if nothing was spent since the run was resumed
}

func newRecorder(s *session) *recorder {
	return &recorder{s: s, w: s.w, ordinal: make(map[string]int), failed: make(map[string]millrace.Position)}
}

// entered reports whether the run has reached its tree.
func (r *recorder) entered() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.begun
}

// Enter implements [millrace.Checkpointer].
func (r *recorder) Enter(_ context.Context, at millrace.Position) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun = true
	if err := r.waitsAt(at); err != nil {
		return err
	}
	ordinal, err := r.w.jobFor(at.Index)
	if err != nil {
		return err
	}
	rec := &record{Kind: kindStart, Job: ordinal, At: placeOf(at), Status: r.running()}
	if at.Step == "" {
		rec.Kind, rec.Commit = kindCommit, &commit{PlanDigest: r.digest}
	}
	r.ordinal[at.Step] = ordinal
	return r.w.append(rec)
}

// waitsAt holds a run again that was held before that visit and then canceled: a retry is not a decision to continue
// it.
func (r *recorder) waitsAt(at millrace.Position) (err error) {
	r.w.state(func(f *folded) {
		if h := f.undecided; h != nil && h.At != nil && at.Step != "" && h.At.Index == at.Index &&
			h.At.Visit == at.Visit {
			if err = fmt.Errorf("%s: %w", h.Reason, millrace.ErrHold); h.Hold != nil && h.Hold.Advice != "" {
				err = asking(h.Hold.Why, h.Hold.Advice)
			}
		}
	})
	return err
}

// holdAt returns the hold for the mark that the engine keeps before a visit that is not entered. The mark contains the
// hold, because the run may end before the hold has its own record. It is nil if the run already waits there.
func (r *recorder) holdAt(at millrace.Position) *hold {
	if r.waitsAt(at) != nil {
		return nil
	}
	interrupted := false
	r.w.state(func(f *folded) {
		for _, c := range f.line {
			if c.at.Index == at.Index && c.at.Visit == at.Visit {
				interrupted = c.done.Mark
			}
		}
	})
	if interrupted {
		why := fmt.Sprintf("step '%s' was interrupted and may have had its effect", at.Step)
		return &hold{Why: why, Advice: kinds.PlayAgain}
	}
	return &hold{Why: fmt.Sprintf("step '%s' is manual", at.Step), Advice: kinds.PlayStep}
}

// running returns the status for a record that starts the run, "" if it is already running.
func (r *recorder) running() runs.Status {
	if r.w.status() == runs.Running {
		return ""
	}
	return runs.Running
}

// Keep implements [millrace.Checkpointer].
func (r *recorder) Keep(_ context.Context, c millrace.Checkpoint) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun = true
	var err error
	d := &done{Final: c.Final, Parent: c.Parent, Spent: r.spent}
	if c.State != nil {
		if d.State, err = r.w.value(c.State); err != nil {
			return err
		}
	}
	rec := &record{Kind: kindDone, At: placeOf(c.Position), Done: d}
	if d.Mark = c.Result.StepID == ""; d.Mark {
		if _, entered := r.ordinal[c.Step]; c.Step != "" && !entered {
			rec.Hold = r.holdAt(c.Position)
		}
		return r.w.append(rec)
	}
	if d.Result, err = r.w.value(c.Result); err != nil {
		return err
	}
	if d.Delta, err = r.w.blob(c.Delta); err != nil {
		return err
	}
	if rec.Job, err = r.w.jobFor(c.Index); err != nil {
		return err
	}
	if ordinal, ok := r.ordinal[c.Step]; ok {
		rec.Job = ordinal
		delete(r.ordinal, c.Step)
	}
	rec.Status, rec.JobStatus = r.running(), runs.Success
	switch res := c.Result; {
	case res.Skipped:
		rec.JobStatus, rec.Reason = runs.Skipped, res.SkipReason
	case res.Failed():
		rec.JobStatus, rec.Reason = runs.Failed, res.Error
	}
	if err := r.w.append(rec); err != nil {
		return err
	}
	r.tell(rec.Job, c.Result)
	if delete(r.failed, c.Step); !c.Final {
		r.failed[c.Step] = c.Position
	}
	return nil
}

// tell writes the result of an attempt into the log of its job. The log is for people, so errors of writing it are
// ignored.
func (r *recorder) tell(ordinal int, res millrace.StepResult) {
	for _, w := range res.Warnings {
		_ = r.w.line(ordinal, "warning: "+w)
	}
	switch {
	case res.Skipped:
		_ = r.w.line(ordinal, "skipped: "+res.SkipReason)
	case res.Failed():
		_ = r.w.line(ordinal, "failed: "+res.Error)
	default:
		_ = r.w.line(ordinal, fmt.Sprintf("success: %d files, %d edits", len(res.FilesMatched), res.EditsApplied))
	}
	_ = r.w.endLog(ordinal)
}

// warn writes a warning about the run into the log of the next job.
func (r *recorder) warn(text string) {
	var first int
	r.w.state(func(f *folded) {
		for _, ordinal := range f.latest {
			if j := f.jobs[ordinal-1]; first == 0 && !j.status.Ended() {
				first = ordinal
			}
		}
	})
	if first > 0 {
		_ = r.w.line(first, "warning: "+text) // errors are ignored, as in tell
	}
}

// Spill implements [millrace.Checkpointer].
func (r *recorder) Spill() fsutil.Spill { return r.w.spill() }

// answers is the [millrace.Recorder] of a run.
type answers struct{ w *writer }

// Find implements [millrace.Recorder].
func (a answers) Find(key string) (found millrace.Recorded, ok bool, err error) {
	var v value
	a.w.state(func(f *folded) { v, ok = f.answers[key] })
	if !ok {
		return found, false, nil
	}
	return found, true, v.decode(a.w.spill(), &found)
}

// Keep implements [millrace.Recorder].
func (a answers) Keep(key string, answered millrace.Recorded) error {
	v, err := a.w.value(answered)
	if err != nil {
		return err
	}
	return a.w.append(&record{Kind: kindAnswer, Answer: &answer{Key: key, Value: v, Cost: answered.Cost}})
}

// observer returns the observer of the run: it calls the host's observer, and writes the logs.
func (r *recorder) observer(host func(millrace.Event)) func(millrace.Event) {
	return func(e millrace.Event) {
		if host != nil {
			defer host(e) // even if writing panics
		}
		switch e := e.(type) {
		case millrace.CostSpent:
			r.mu.Lock()
			r.spent = e.Total
			r.mu.Unlock()
		case millrace.StepOutput:
			r.line(e.Step, e.Text)
		case millrace.StepRetrying:
			r.waits(e)
		case millrace.StepReplayed:
			r.line(e.Step, "what it asks was answered before, and is not asked again")
		case millrace.StepJumped:
			r.line(e.From, fmt.Sprintf("goes on with step '%s' (%s)", e.To, e.By))
		}
	}
}

// waits records that a step waits before its next attempt.
func (r *recorder) waits(e millrace.StepRetrying) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.failed[e.Step]
	ordinal, err := r.w.jobFor(at.Index)
	if !ok || err != nil {
		return // the attempt reports the error
	}
	at.Attempt = e.Attempt
	reason := fmt.Sprintf("attempt %d follows in %v: %v", e.Attempt, e.Wait, e.Err)
	_ = r.w.append(&record{Kind: kindStart, Job: ordinal, At: placeOf(at), JobStatus: runs.Pending,
		Reason: reason}) // it is only shown
	_ = r.w.line(ordinal, reason)
}

// line writes into the log of a running step's job. Lines of other jobs are dropped.
func (r *recorder) line(step, text string) {
	r.mu.Lock()
	ordinal := r.ordinal[step]
	r.mu.Unlock()
	if ordinal > 0 {
		_ = r.w.line(ordinal, strings.TrimSuffix(text, "\n")) // as in tell
	}
}

// unlessLocked returns an observer for a run that may find its tree locked, and is then run again: the next run emits
// its events.
func (r *recorder) unlessLocked(told func(millrace.Event)) func(millrace.Event) {
	var started millrace.Event
	return func(e millrace.Event) {
		switch f := e.(type) {
		case millrace.RunStarted:
			started = e
			return
		case millrace.RunFinished:
			if started != nil && f.Result == nil && errors.Is(f.Err, fsutil.ErrLocked) {
				return
			}
		}
		if started != nil {
			told(started)
			started = nil
		}
		told(e)
	}
}

// status returns the status of the run.
func (w *writer) status() (status runs.Status) {
	w.state(func(f *folded) { status = f.status })
	return status
}

// saved returns the saved state for resuming the run.
func (w *writer) saved() millrace.Saved {
	var line []checkpoint
	s := millrace.Saved{}
	w.state(func(f *folded) {
		line = append(line, f.line...)
		s.Began = f.jobs[0].created
		for _, p := range f.plays {
			s.Force = s.Force || p.Force
		}
	})
	s.Checkpoints = w.checkpoints(line)
	return s
}

func (w *writer) checkpoints(line []checkpoint) iter.Seq2[millrace.Checkpoint, error] {
	return func(yield func(millrace.Checkpoint, error) bool) {
		for i, c := range line {
			kept, err := c.read(w)
			if err != nil {
				err = fmt.Errorf("checkpoint %d: %w", i+1, err)
			}
			if !yield(kept, err) || err != nil {
				return
			}
		}
	}
}

// read returns the checkpoint in its original form.
func (c checkpoint) read(w *writer) (millrace.Checkpoint, error) {
	kept := millrace.Checkpoint{Position: c.at.position(), Final: c.done.Final, Parent: c.done.Parent}
	if err := c.done.Result.decode(w.spill(), &kept.Result); err != nil {
		return kept, err
	}
	state, err := c.done.State.bytes(w.spill())
	if err != nil {
		return kept, err
	}
	kept.State = json.RawMessage(state)
	kept.Delta, err = c.done.Delta.bytes(w.spill())
	return kept, err
}

// maxResult is the largest size of a run's result in its last record, in bytes: such a result is still available after
// the data of the run is removed.
const maxResult = 40 << 10

// result returns the value of a run's result.
func (w *writer) result(res *millrace.Result) (value, error) {
	text, err := json.Marshal(res)
	if err != nil || len(text) <= maxResult {
		return value{JSON: text}, err
	}
	return w.put(text)
}
