package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/recordlog"
	"github.com/millrace-go/millrace/runs"
)

// folded is the state that results from the records of a run. It ignores locks: whether the process of an active run is
// alive is added when the run is shown.
type folded struct {
	created *created
	status  runs.Status
	reason  string
	updated time.Time // of the last record
	started time.Time // of the first step
	ended   time.Time // zero unless the status reports the end
	// running is the running time before runningAt, which is zero unless it is running now.
	running   time.Duration
	runningAt time.Time

	takes   int
	take    *take // the last take, with its time
	takenAt time.Time

	jobs   []*job // by ordinal, from 1
	latest []int  // the ordinal of the latest job of each step, by index, then of the commit
	// line has the checkpoints that a resume starts from, in the order in which they were kept.
	line []checkpoint

	hold      *hold // nil unless it is held
	heldJob   int
	undecided *record // the last hold, from a hold record or a mark; nil if it was played
	plays     []*play
	answers   map[string]value
	paid      budget.Cost     // for all answers and work, even if they no longer count
	canceled  *cancel         // a cancel is recorded, but the run has not ended
	committed bool            // a commit record was written since the last take: the tree has the outcome
	end       *end            // nil unless it has ended
	dropped   bool            // its data was removed
	endings   int             // the number of times that it has ended
	summary   json.RawMessage // of a fleet, the latest
	appended  []*recordlog.Span
	keys      []string
}

// job is an attempt of a step, or the commit.
type job struct {
	ordinal, index          int
	at                      place
	status                  runs.Status
	reason                  string
	created, started, ended time.Time
	retried                 bool
	done                    *done // nil before its end, and for the commit
}

// checkpoint is a valid record done, with its position.
type checkpoint struct {
	at   place
	job  int // 0 for a mark
	done *done
}

// add adds the next record. After an error the state is unchanged: the record contradicts the records before, so no run
// has written it.
func (f *folded) add(r *record) error {
	if err := f.check(r); err != nil {
		return fmt.Errorf("record %q: %w", r.Kind, err)
	}
	before := f.updated
	f.updated = r.Time
	if r.Appended != nil {
		f.appended = append(f.appended, r.Appended)
	}
	switch r.Kind {
	case kindCreated:
		f.begin(r)
	case kindTake:
		for _, j := range f.jobs {
			if !j.started.IsZero() && !j.status.Ended() {
				j.become(runs.Failed, diedReason, before) // with its process
			}
		}
		f.takes++
		f.take, f.takenAt, f.committed, f.canceled = r.Take, r.Time, false, nil
	case kindState:
		f.dropped = f.dropped || r.Dropped
		f.sum(r.Summary)
		if r.Job > 0 {
			f.jobs[r.Job-1].become(r.JobStatus, r.Reason, r.Time)
		}
	case kindStart:
		f.jobAt(r).become(statusOr(r.JobStatus, runs.Running), r.Reason, r.Time)
	case kindAnswer:
		f.answers[r.Answer.Key] = r.Answer.Value
		f.paid = f.paid.Plus(r.Answer.Cost)
	case kindDone:
		f.addDone(r)
	case kindHold:
		f.hold, f.heldJob, f.undecided = r.Hold, r.Job, r
		if r.Job > 0 {
			f.jobAt(r).become(runs.Manual, r.Reason, r.Time)
		}
	case kindPlay:
		if f.heldJob > 0 {
			f.jobs[f.heldJob-1].become(runs.Pending, "", r.Time)
		}
		f.plays, f.undecided, f.canceled = append(f.plays, r.Play), nil, nil
		f.addKeys(r.Play.Keys)
	case kindRetry:
		if r.Retry.Anew || r.Retry.From < len(f.line) && !r.Retry.ByItself {
			clear(f.answers) // steps that run again ask again
		}
		f.cut(r.Retry.From)
		for _, n := range r.Retry.Jobs {
			f.addJob(n.Ordinal, n.Index, r.Time)
		}
	case kindCancel:
		f.canceled = r.Cancel
	case kindCommit:
		f.committed = true
		if r.Job > 0 {
			f.jobAt(r).become(runs.Running, "", r.Time)
		}
	case kindEnd:
		f.end, f.canceled = r.End, nil
		f.endings++
		f.sum(r.End.Summary)
	}
	if r.Status != "" {
		f.become(r)
	}
	return nil
}

// cut keeps that many checkpoints, and the checkpoints of commits: the removals of an undone commit must be known even
// if the steps run again.
func (f *folded) cut(from int) {
	line := slices.Clone(f.line[:from])
	for _, c := range f.line[from:] {
		if c.at.Index == f.commitIndex() {
			line = append(line, c)
		}
	}
	f.line, f.canceled = line, nil
}

// check returns the reason why a record cannot come next.
func (f *folded) check(r *record) error {
	if first := f.created == nil; first != (r.Kind == kindCreated) {
		return errors.New("it is not the place for it")
	}
	if r.Kind == kindCreated {
		if c := r.Created; c.StepCount < 0 || c.StepCount > maxJobs-1 || c.Number < 1 || !r.Status.Valid() {
			return errors.New("it is not a run")
		}
		return nil
	}
	switch {
	case r.Status != "" && !r.Status.Valid(), r.JobStatus != "" && !r.JobStatus.Valid():
		return errors.New("unknown status")
	case r.Kind == kindState && (r.Job > 0) != (r.JobStatus != ""):
		return errors.New("a job without a status, or a status without a job")
	case r.At != nil && (r.At.Index < 0 || r.At.Index >= len(f.latest)):
		return fmt.Errorf("there is no step %d", r.At.Index)
	case r.Job < 0 || r.Job > maxJobs || r.Job > len(f.jobs)+1:
		return fmt.Errorf("there is no job %d", r.Job)
	case r.Job > len(f.jobs) && r.At == nil, r.Kind == kindState && r.Job > len(f.jobs):
		return fmt.Errorf("job %d is new and has no step", r.Job)
	case r.At != nil && r.Job > 0 && r.Job <= len(f.jobs) && f.jobs[r.Job-1].index != r.At.Index:
		return fmt.Errorf("job %d is of another step", r.Job)
	case r.Kind == kindDone && (r.Job > 0) == r.Done.Mark:
		return errors.New("a checkpoint without a job, or a mark with one")
	case r.Kind == kindRetry:
		return f.checkRetry(r.Retry)
	}
	return nil
}

func (f *folded) checkRetry(r *retry) error {
	if r.From < 0 || r.From > len(f.line) {
		return fmt.Errorf("there is no checkpoint %d", r.From)
	}
	for i, n := range r.Jobs {
		if n.Ordinal != len(f.jobs)+1+i || n.Ordinal > maxJobs || n.Index < 0 || n.Index >= len(f.latest) {
			return fmt.Errorf("job %d cannot be new", n.Ordinal)
		}
	}
	return nil
}

// begin adds the first record: the first attempts of all steps, and the commit, have their numbers from the beginning.
func (f *folded) begin(r *record) {
	f.created = r.Created
	f.answers = make(map[string]value)
	f.latest = make([]int, r.Created.StepCount+1)
	for i := range f.latest {
		f.addJob(i+1, i, r.Time)
	}
	f.addKeys(r.Created.Keys)
}

func (f *folded) addKeys(keys []string) {
	f.keys = append(f.keys, keys...)
	slices.Sort(f.keys)
	f.keys = slices.Compact(f.keys)
}

// addJob adds a future job, the latest of its step.
func (f *folded) addJob(ordinal, index int, at time.Time) *job {
	j := &job{ordinal: ordinal, index: index, at: place{Index: index}, status: runs.Created, created: at}
	f.jobs = append(f.jobs, j)
	if old := f.latest[index]; old > 0 {
		f.jobs[old-1].retried = true
	}
	f.latest[index] = ordinal
	return j
}

// jobAt returns the job of a record with a place. It may be a new job.
func (f *folded) jobAt(r *record) *job {
	if r.Job > len(f.jobs) {
		f.addJob(r.Job, r.At.Index, r.Time)
	}
	j := f.jobs[r.Job-1]
	if r.At != nil {
		j.at = *r.At
	}
	return j
}

func (f *folded) addDone(r *record) {
	f.line = append(f.line, checkpoint{*r.At, r.Job, r.Done})
	f.paid = max(f.paid, r.Done.Spent)
	if r.Hold != nil {
		f.undecided = r
	}
	if r.Job == 0 {
		return
	}
	j := f.jobAt(r)
	j.done = r.Done
	j.become(statusOr(r.JobStatus, runs.Success), r.Reason, r.Time)
	if r.Done.Final && j.status == runs.Failed {
		clear(f.answers) // a retry of a failed step asks again; finished visits do not need their answers
	}
}

// become sets the status of a job.
func (j *job) become(status runs.Status, reason string, at time.Time) {
	j.status, j.reason = status, reason
	switch {
	case status == runs.Running && j.started.IsZero():
		j.started = at
	case status.Ended():
		j.ended = at
	}
}

// become sets the run's status from a record.
func (f *folded) become(r *record) {
	if !f.runningAt.IsZero() {
		f.running += max(0, r.Time.Sub(f.runningAt))
		f.runningAt = time.Time{}
	}
	f.status, f.reason, f.ended = r.Status, r.Reason, time.Time{}
	switch {
	case r.Status == runs.Running:
		f.runningAt = r.Time
		if f.started.IsZero() {
			f.started = r.Time
		}
	case r.Status.Ended():
		f.ended = r.Time
		f.endJobs(r)
	}
	if r.Status != runs.Manual {
		f.hold, f.heldJob = nil, 0
	}
	if !r.Status.Ended() {
		f.end = nil
	}
}

// endJobs ends the jobs that have begun but whose end is not recorded.
func (f *folded) endJobs(r *record) {
	for _, j := range f.jobs {
		if j.status.Ended() || j.status == runs.Created {
			continue
		}
		status, reason := r.Status, r.Reason
		if j.status == runs.Manual && status != runs.Canceled || status == runs.Success && j.index < f.commitIndex() {
			status = runs.Skipped
		}
		if status == runs.Success {
			reason = ""
		}
		j.become(status, reason, r.Time)
	}
}

// commitIndex returns the index of the commit: the number of steps.
func (f *folded) commitIndex() int { return len(f.latest) - 1 }

func statusOr(s, other runs.Status) runs.Status {
	if s == "" {
		return other
	}
	return s
}

// jobFor returns the ordinal of the job for an attempt of the step: a future job, or the next.
func (f *folded) jobFor(index int) (int, error) {
	if index < 0 || index >= len(f.latest) {
		return 0, fmt.Errorf("there is no step %d", index)
	}
	if j := f.jobs[f.latest[index]-1]; j.started.IsZero() && !j.status.Ended() {
		return j.ordinal, nil
	}
	if len(f.jobs) == maxJobs {
		return 0, fmt.Errorf("run %d has used up its %d jobs: create a new run", f.created.Number, maxJobs)
	}
	return len(f.jobs) + 1, nil
}
