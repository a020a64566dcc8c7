package runs

import (
	"errors"
	"fmt"
	"time"

	"github.com/millrace-go/millrace/internal/errorform"
)

// Errors that the errors of stores and engines match.
var (
	// ErrNotFound reports that the project has no such run or job. The error itself is a *[NotFoundError].
	ErrNotFound = errors.New("not found")
	// ErrBusy reports that another process works on the run. The error itself is a *[BusyError].
	ErrBusy = errors.New("the run is worked on by another process")
	// ErrForeign reports that the run was not signed with the user's key, so that it can be looked at and nothing else.
	ErrForeign = errors.New("not signed with this user's key")
	// ErrDamaged reports that the record of the run cannot be read.
	ErrDamaged = errors.New("the record of the run is damaged")
	// ErrFormat reports that the store was written by a newer version. Nothing of it was touched.
	ErrFormat = errors.New("the store of runs is not of a version that is known here")
	// ErrNoKey reports that a key to sign runs with is missing.
	ErrNoKey = errors.New("durable runs need a key to sign with: set Options.Key")
)

// The two things that verbs are about, as errors have them.
const (
	ThingRun = "run"
	ThingJob = "job"
)

// NotFoundError reports that a run or job does not exist. It matches [ErrNotFound].
type NotFoundError struct {
	// The kind of thing: [ThingRun] or [ThingJob].
	What string
	// ID and Project are those that were asked for.
	ID, Project string
}

// Error returns "run 12 not found in project 'p'".
func (e *NotFoundError) Error() string {
	if e.Project == "" {
		return fmt.Sprintf("%s %s not found", e.What, shown(e.ID))
	}
	return fmt.Sprintf("%s %s not found in project '%s'", e.What, shown(e.ID), shown(e.Project))
}

// MarshalJSON gives the code, the message and the paths.
func (e *NotFoundError) MarshalJSON() ([]byte, error) { return errorform.Marshal("not_found", e) }

// Is makes it match [ErrNotFound].
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }

// RunNotFound returns the error for a run that is not there.
func RunNotFound(run RunRef) error {
	return &NotFoundError{What: ThingRun, ID: run.ID, Project: run.Project}
}

// JobNotFound returns the error for a job that is not there.
func JobNotFound(job JobRef) error {
	return &NotFoundError{What: ThingJob, ID: job.ID, Project: job.Project}
}

// BusyError names the process that works on a run. It matches [ErrBusy].
type BusyError struct {
	// Run is the ID of the run.
	Run string
	// Process is the id of the process, 0 if it is not known, and Host the name of its machine, "" if it is not known.
	Process int
	Host    string
	// Since is when it has begun, zero if that is not known.
	Since time.Time
}

// Error returns "run 12 is worked on by process 4711 on 'host' since 2006-01-02T15:04:05Z". Unknown parts are left
// out.
func (e *BusyError) Error() string {
	text := fmt.Sprintf("run %s is worked on by another process", shown(e.Run))
	if e.Process != 0 {
		text = fmt.Sprintf("run %s is worked on by process %d", shown(e.Run), e.Process)
	}
	if e.Host != "" {
		text += fmt.Sprintf(" on '%s'", shown(e.Host))
	}
	if !e.Since.IsZero() {
		text += " since " + e.Since.UTC().Format(time.RFC3339)
	}
	return text
}

// MarshalJSON gives the code, the message and the paths.
func (e *BusyError) MarshalJSON() ([]byte, error) { return errorform.Marshal("locked", e) }

// Is makes it match [ErrBusy].
func (e *BusyError) Is(target error) bool { return target == ErrBusy }
