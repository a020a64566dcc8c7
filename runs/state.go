package runs

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/internal/errorform"
)

// Verb is an operation on a run or a job.
type Verb string

// The verbs. Runs cannot be played, but their jobs can.
const (
	VerbRetry  Verb = "retry"
	VerbCancel Verb = "cancel"
	VerbPlay   Verb = "play"
)

// StateError reports that the status of a run or a job does not allow a verb. Nothing was changed.
type StateError struct {
	Verb Verb
	// ID is the number of What, which is [ThingRun] or [ThingJob].
	What, ID string
	// Status is the status of the run or the job, or, if Run is set, the status of the job's run.
	Status Status
	// Step is the id of the step of a job, "" for the commit.
	Step string
	// Run is the number of the job's run if the run's status does not allow the verb, else "".
	Run string
	// Reason is the advice, "" for the default of the verb and the status.
	Reason string
}

// Error names the refused operation, the reason, and the alternative if one is known: "cannot retry run 12: it is
// success, create a new run".
func (e *StateError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cannot %s %s %s", e.Verb, e.What, shown(e.ID))
	switch {
	case e.What == ThingJob && e.Step != "":
		fmt.Fprintf(&b, " (step '%s')", shown(e.Step))
	case e.What == ThingJob:
		b.WriteString(" (commit)")
	}
	about := "it"
	if e.Run != "" {
		about = "run " + shown(e.Run)
	}
	fmt.Fprintf(&b, ": %s is %s", about, e.Status)
	if reason := cmp.Or(e.Reason, e.permit()); reason != "" && reason != yes {
		b.WriteString(", " + reason)
	}
	return b.String()
}

// MarshalJSON returns the code, the message and the paths.
func (e *StateError) MarshalJSON() ([]byte, error) { return errorform.Marshal("wrong_state", e) }

// permit has the verbs that a status allows: [yes], or the advice, "" without an alternative.
type permit struct {
	status Status
	// runRetry and runCancel are for a run with the status.
	runRetry, runCancel string
	// jobPlay, jobRetry and jobCancel are for a job with the status, ofRunRetry for a job of a run with the status.
	jobPlay, jobRetry, jobCancel, ofRunRetry string
}

// Values of permits. Only yes allows a verb.
const (
	yes       = "yes"
	anew      = "create a new run"
	cancelIt  = "cancel it first"
	onlyEnded = "only failed and canceled runs can be retried"
	playIt    = "play or cancel it"
	onlyHeld  = "only manual jobs can be played"
	onlyDone  = "only jobs that have ended can be retried"
	onlyBegun = "only jobs that have begun can be canceled: cancel the run"
)

// permits has a row for each status.
var permits = []permit{
	{Created, onlyEnded, yes, onlyHeld, onlyDone, onlyBegun, onlyEnded},
	{Scheduled, onlyEnded, yes, onlyHeld, onlyDone, onlyBegun, onlyEnded},
	{Pending, cancelIt, yes, onlyHeld, onlyDone, yes, cancelIt},
	{Preparing, cancelIt, yes, onlyHeld, onlyDone, onlyBegun, cancelIt},
	{WaitingForResource, cancelIt, yes, onlyHeld, onlyDone, yes, cancelIt},
	{Running, cancelIt, yes, onlyHeld, onlyDone, yes, cancelIt},
	{Manual, playIt, yes, yes, playIt, yes, yes},
	{Failed, yes, "", onlyHeld, yes, "", yes},
	{Canceled, yes, "", onlyHeld, yes, "", yes},
	{Success, anew, "", onlyHeld, yes, "", anew},
	{Skipped, anew, "", onlyHeld, yes, "", anew},
}

// permitOf returns the row of a status. An unknown status allows nothing.
func permitOf(s Status) permit {
	for _, p := range permits {
		if p.status == s {
			return p
		}
	}
	return permit{status: s}
}

// permit returns the table's entry for the verb.
func (e *StateError) permit() string {
	p := permitOf(e.Status)
	switch {
	case e.What == ThingJob && e.Run != "":
		return p.ofRunRetry
	case e.What == ThingJob && e.Verb == VerbPlay:
		return p.jobPlay
	case e.What == ThingJob && e.Verb == VerbRetry:
		return p.jobRetry
	case e.What == ThingJob && e.Verb == VerbCancel:
		return p.jobCancel
	case e.Verb == VerbRetry:
		return p.runRetry
	case e.Verb == VerbCancel:
		return p.runCancel
	case e.Verb == VerbPlay:
		return "runs are not played, their jobs are"
	}
	return ""
}

// Check returns nil if the status of the run allows the verb, else a *[StateError]. It ignores who has signed the run,
// and who works on it.
func (r Run) Check(v Verb) error {
	e := &StateError{Verb: v, What: ThingRun, ID: r.ID, Status: r.Status}
	switch {
	case e.permit() != yes:
	case v == VerbRetry && !r.Resumable:
		e.Reason = "not resumable: " + anew
	default:
		return nil
	}
	return e
}

// Check returns nil if the status of the job and the status of its run allow the verb, else a *[StateError]. Only the
// latest job of a step can be retried.
func (j Job) Check(v Verb, run Status) error {
	e := &StateError{Verb: v, What: ThingJob, ID: j.ID, Status: j.Status}
	if j.Kind != JobCommit {
		e.Step = j.Name
	}
	ofRun := *e
	ofRun.Run, ofRun.Status = j.Run, run
	switch {
	case v == VerbRetry && ofRun.permit() != yes:
		return &ofRun
	case e.permit() != yes:
	case v == VerbRetry && j.Retried:
		e.Reason = "and has a later job: retry job " + shown(j.Run+"/"+j.Name)
	default:
		return nil
	}
	return e
}
