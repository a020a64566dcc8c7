package runs

import (
	"context"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/risk"
)

// Manager decides about runs. Each method returns when the decision is recorded; the work continues in the background.
// Implementations are safe for concurrent use. The errors match [ErrNotFound] for a run that does not exist, [ErrBusy]
// for a run that another process works on, [ErrForeign] for a run that another user has signed. A *[StateError] reports
// that the run's status does not allow the verb.
type Manager interface {
	// Create creates a run. The error is a *[millrace.ValidationError] for variables that do not fit and for a ref whose
	// text is not a valid pipeline: in the second case the run exists, has failed, and is returned with the error.
	Create(ctx context.Context, c CreateParams) (Run, error)
	// Retry continues a run that has failed or was canceled, after the last step that was done.
	Retry(ctx context.Context, run RunRef) (Run, error)
	// Cancel ends a run. Staged changes are kept, for Retry. A run that is being committed can no longer be canceled.
	Cancel(ctx context.Context, run RunRef) (Run, error)
}

// JobManager decides about jobs. It returns the same errors as [Manager].
type JobManager interface {
	// Play continues a run that waits for a decision at this job.
	Play(ctx context.Context, job JobRef, p PlayParams) (Job, error)
	// Retry returns to the state before the job, and continues from there: the job and all later jobs run again.
	Retry(ctx context.Context, job JobRef) (Job, error)
	// Cancel ends a job. That is not a failure: nothing handles it, and its run is canceled.
	Cancel(ctx context.Context, job JobRef) (Job, error)
}

// CreateParams describes a new run. Either Ref or Pipeline is set.
type CreateParams struct {
	// Project is the key of the tree.
	Project string
	// Ref is the name of a pipeline in the library of the host.
	Ref string
	// Pipeline is the pipeline itself. The zero Pipeline means that Ref is set.
	Pipeline millrace.Pipeline
	// Variables are the values of variables of the pipeline.
	Variables []Variable
	// Source is the origin of the run, "" for [SourceAPI]. User is the name of the user, "" for the user of the host.
	Source, User string
	// StartAt is the time before which the run does not begin, zero for immediately.
	StartAt time.Time
	// ApproveFrom holds the run before its commit from this level of risk on, whichever process continues it. The lower of
	// this level and the host's level applies. Unset, the zero value, means the host's level.
	ApproveFrom risk.Level
}

// VariableType selects where a variable's value is stored.
type VariableType string

// The types of variables.
const (
	EnvVar VariableType = "env_var" // the value of the variable itself; the default
	// a file in the shared directory of the run, whose path is the value of the variable
	File VariableType = "file"
)

// Variable is the value of a variable of a pipeline.
type Variable struct {
	// Key is the name that the pipeline declares.
	Key string `json:"key"`
	// Value is read as the type that the pipeline declares. Integers, numbers, booleans, lists and objects are written as
	// in JSON; a string is the unchanged value.
	Value string `json:"value"`
	// Type is "" for [EnvVar].
	Type VariableType `json:"variable_type,omitempty"`
}

// The limits of the variables of one call.
const (
	MaxVariables  = 100
	maxValueBytes = 64 << 10 // of the value of an EnvVar
	maxFileBytes  = 1 << 20  // of the value of a File
)

// PlayParams has the values with which a held job continues.
type PlayParams struct {
	// Variables have these values from now on.
	Variables []Variable `json:"job_variables_attributes,omitempty"`
	// Force lifts the same limits as the option force of a pipeline, up to the ceiling of the host.
	Force bool `json:"force,omitempty"`
	// PlanDigest is the digest of the plan that was looked at. If the plan has changed since, the job is not played. ""
	// means any.
	PlanDigest string `json:"plan_digest,omitempty"`
	// Leave has the parts of the plan that are not written, by the path of the change: the numbers of the hunks that are
	// left, from 0, as millrace.Plan.RejectHunks takes them, and no number for the whole change. Only a run that is held
	// before its commit leaves a part out (its job is a JobCommit), and only of the plan that PlanDigest names. A part
	// that others need holds the run again.
	Leave map[string][]int `json:"leave,omitempty"`
}
