package rundir

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/millrace-go/millrace/runs"
)

// sum sets the summary of a fleet, if any.
func (f *folded) sum(summary json.RawMessage) {
	if summary != nil {
		f.summary = summary
	}
}

// before returns the number of checkpoints that stay when a run goes back to its state before the job's visit of its
// step: all of them if the job has none. reached is false if the run has not reached the job.
func (f *folded) before(ordinal int) (from int, reached bool) {
	j := f.jobs[ordinal-1]
	for i, c := range f.line {
		if c.at.Index < f.commitIndex() && c.at.Index == j.at.Index && c.at.Visit == j.at.Visit {
			return i, true
		}
	}
	return len(f.line), !j.started.IsZero() || f.heldJob == ordinal || f.isNext(j)
}

// isNext reports whether a job that has not begun is the next job of the run, as far as its records show: the first
// step, or the commit of a run whose steps are all done.
func (f *folded) isNext(j *job) bool {
	if j.index < f.commitIndex() {
		return j.index == 0 &&
			!slices.ContainsFunc(f.line, func(c checkpoint) bool { return c.at.Index < f.commitIndex() })
	}
	for _, ordinal := range f.latest[:f.commitIndex()] {
		if done := f.jobs[ordinal-1]; done.done == nil || !done.done.Final || done.status == runs.Failed {
			return false
		}
	}
	return true
}

// again returns the jobs for a record retry that keeps that many checkpoints: jobs of all steps whose latest job has
// begun, unless a kept checkpoint ends it without a failure.
func (f *folded) again(from int) (jobs []newJob, err error) {
	kept := make(map[int]bool) // by ordinal
	for _, c := range f.line[:from] {
		kept[c.job] = true
	}
	next := len(f.jobs) + 1
	for index, ordinal := range f.latest {
		j := f.jobs[ordinal-1]
		if kept[ordinal] && j.done != nil && j.done.Final && j.status != runs.Failed || j.status == runs.Created {
			continue
		}
		if next > maxJobs {
			return nil, fmt.Errorf("run %d has used up its %d jobs: create a new run", f.created.Number, maxJobs)
		}
		jobs = append(jobs, newJob{next, index})
		next++
	}
	return jobs, nil
}

// resumable reports whether a retry can continue the run, as far as its records show.
func (f *folded) resumable() bool {
	return f.status != runs.Success && f.status != runs.Skipped && !f.created.YAMLErrors && !f.dropped &&
		(f.end == nil || !f.end.Final)
}

// dataEnd returns the least size of the run's data.
func (f *folded) dataEnd() int64 {
	var end int64
	for _, s := range f.appended {
		end = max(end, s.Offset+s.Length)
	}
	return end
}
