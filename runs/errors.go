package runs

import (
	"errors"
	"fmt"

	"github.com/millrace-go/millrace/internal/errorform"
)

// Errors that the errors of stores and engines match.
var (
	// ErrNotFound reports that the project has no such run or job.
	ErrNotFound = errors.New("not found")
	// ErrBusy reports that another process works on the run.
	ErrBusy = errors.New("the run is worked on by another process")
	// ErrForeign reports that the run was not signed with the user's key, so it can only be read.
	ErrForeign = errors.New("not signed with this user's key")
	// ErrDamaged reports that the record of the run cannot be read.
	ErrDamaged = errors.New("the record of the run is damaged")
	// ErrFormat reports that the store was written by a newer version. Nothing in it was touched.
	ErrFormat = errors.New("the store of runs is not of a version that is known here")
	// ErrNoKey reports that a key to sign runs with is missing.
	ErrNoKey = errors.New("durable runs need a key to sign with: set Options.Key")
)

// The two things that verbs apply to, in errors.
const (
	ThingRun = "run"
	ThingJob = "job"
)

// notFoundError reports that a run or job does not exist.
type notFoundError struct {
	What        string // the kind of thing: [ThingRun] or [ThingJob]
	ID, Project string // as they were asked for
}

// Error returns "run 12 not found in project 'p'".
func (e *notFoundError) Error() string {
	if e.Project == "" {
		return fmt.Sprintf("%s %s not found", e.What, shown(e.ID))
	}
	return fmt.Sprintf("%s %s not found in project '%s'", e.What, shown(e.ID), shown(e.Project))
}

// MarshalJSON returns the code, the message and the paths.
func (e *notFoundError) MarshalJSON() ([]byte, error) { return errorform.Marshal("not_found", e) }

// Is makes it match [ErrNotFound].
func (e *notFoundError) Is(target error) bool { return target == ErrNotFound }

// RunNotFound returns the error for a run that does not exist.
func RunNotFound(run RunRef) error {
	return &notFoundError{What: ThingRun, ID: run.ID, Project: run.Project}
}

// JobNotFound returns the error for a job that does not exist.
func JobNotFound(job JobRef) error {
	return &notFoundError{What: ThingJob, ID: job.ID, Project: job.Project}
}
