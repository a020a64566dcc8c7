package rundir

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/runs"
	"github.com/millrace-go/millrace/wording"
)

// Reasons shown for runs and jobs whose end is not recorded.
const (
	diedReason    = "its process died"
	reachedReason = "the run ended before it"
	commitName    = "commit"
)

// shownRun is a run for display: its records, and further facts.
type shownRun struct {
	*folded
	number  int64 // of the directory: a record may have another
	foreign bool
	dead    bool // it is active, but no process works on it
	// lost is the reason why this process, which worked on it, could not record its end, "" for all other dead runs.
	lost string
}

// deadReason returns the reason of a dead run.
func (r shownRun) deadReason() string { return cmp.Or(r.lost, diedReason) }

// shownStatus returns the status of the run for display.
func (r shownRun) shownStatus() runs.Status {
	if r.dead {
		return runs.Failed
	}
	return r.status
}

// run returns the run for display, without its result.
func (r shownRun) run() runs.Run {
	c := r.created
	v := runs.Run{
		ID: strconv.FormatInt(r.number, 10), RunID: c.ID, Project: c.Project, Name: c.Name, RefName: c.Ref, SHA: c.SHA,
		Status: r.status, Reason: r.reason, Foreign: r.foreign, Source: c.Source, User: c.User,
		YAMLErrors: c.YAMLErrors, CreatedAt: r.jobs[0].created, UpdatedAt: r.updated, StartAt: c.StartAt,
		StartedAt: r.started, FinishedAt: r.ended, Duration: r.running, Attempts: r.takes, Variables: r.keys,
	}
	if c.Parent > 0 {
		v.Parent = strconv.FormatInt(c.Parent, 10)
	}
	if !r.runningAt.IsZero() {
		v.Duration += max(0, r.updated.Sub(r.runningAt))
	}
	if !r.started.IsZero() {
		v.QueuedDuration = max(0, r.started.Sub(v.CreatedAt))
	}
	if r.dead {
		v.Status, v.Reason, v.FinishedAt = runs.Failed, r.deadReason(), r.updated
	}
	v.Resumable = (v.Status == runs.Failed || v.Status == runs.Canceled) && !r.foreign && r.resumable()
	if r.end != nil && r.end.From != "" && v.Resumable {
		v.ResumeFrom = v.ID + "/" + r.end.From
	}
	if r.hold != nil {
		v.Held = &runs.Held{
			PlanDigest: r.hold.PlanDigest, Files: r.hold.Files, Edits: r.hold.Edits, Risk: r.hold.Risk,
		}
		if r.hold.Advice != "" {
			v.Held.Parts = []wording.Part{{Text: r.hold.Why}, kinds.Play(r.hold.Advice)}
		}
		if r.heldJob > 0 {
			v.Held.JobID = r.jobID(r.heldJob)
		}
	}
	if c.Fleet != nil {
		v.Summary = r.fleetSummary()
	}
	return v
}

func (r shownRun) jobID(ordinal int) string {
	return strconv.FormatInt(r.number*perRun+int64(ordinal), 10)
}

// job returns a job for display, without its result. steps are the names of the steps.
func (r shownRun) job(j *job, steps []stepName) runs.Job {
	v := runs.Job{
		ID: r.jobID(j.ordinal), Run: strconv.FormatInt(r.number, 10), Project: r.created.Project, Kind: runs.JobStep,
		Status: j.status, Reason: j.reason, Visit: j.at.Visit, Attempt: j.at.Attempt, Retried: j.retried,
		CreatedAt: j.created, StartedAt: j.started, FinishedAt: j.ended,
	}
	v.Name, v.Action = r.nameOf(j, steps)
	if j.index == r.commitIndex() {
		v.Kind = runs.JobCommit
	}
	switch {
	case j.status.Ended():
	case r.dead && j.status != runs.Created:
		v.Status, v.Reason, v.FinishedAt = runs.Failed, r.deadReason(), r.updated
	case r.shownStatus().Ended():
		v.Status, v.Reason = runs.Skipped, reachedReason
		if j.index == r.commitIndex() && r.status == runs.Success {
			v.Reason = "nothing was to be written"
		}
	}
	if !v.StartedAt.IsZero() {
		end := v.FinishedAt
		if end.IsZero() {
			end = r.updated
		}
		v.Duration = max(0, end.Sub(v.StartedAt))
	}
	return v
}

// nameOf returns the id of the job's step, and its action if that is known.
func (r shownRun) nameOf(j *job, steps []stepName) (name, action string) {
	switch {
	case j.index == r.commitIndex():
		return commitName, ""
	case j.index < len(steps):
		return steps[j.index].ID, steps[j.index].Action
	case j.at.Step != "":
		return j.at.Step, ""
	}
	return fmt.Sprintf("step %d", j.index+1), "" // its name was removed with the data of the run
}

// fleetSummary returns the summary of a fleet for display.
func (r shownRun) fleetSummary() *runs.Summary {
	sum := &runs.Summary{Targets: r.created.Fleet.Count}
	if r.summary != nil && json.Unmarshal(r.summary, sum) != nil {
		return &runs.Summary{Targets: r.created.Fleet.Count} // it is only shown
	}
	return sum
}
