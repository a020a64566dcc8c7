package runs

import (
	"encoding/json"
	"time"

	"github.com/millrace-go/millrace"
)

// JobRef names a job.
type JobRef struct {
	// Project is the project of the run of the job. A job of another project is not found.
	Project string
	// ID is the number of the job in decimal, or "<run>/<step>": the latest attempt of that step. "<run>/commit" is the
	// commit, if no step has that id. Engines with other ids accept these too.
	ID string
}

// JobKind is the kind of a job.
type JobKind string

// The kinds of jobs.
const (
	JobStep   JobKind = "step"   // an attempt of a step
	JobCommit JobKind = "commit" // the commit, the last job of a run
)

// Job is an attempt of a step, or the commit. In JSON, ids that are numbers are numbers, durations are milliseconds,
// and unknown times and texts are left out.
type Job struct {
	// ID is the number of the job, in decimal: the number of its run times 1000, plus its place in the run. Other engines
	// have their own ids.
	ID string `json:"-"` // in JSON "id"
	// Run is the ID of the job's run. Project is the project of the run.
	Run     string `json:"-"` // in JSON "run"
	Project string `json:"project_id"`
	// Name is the id of the step, or "commit".
	Name string  `json:"name"`
	Kind JobKind `json:"kind"`
	// Action is the action of the step, "" for the commit.
	Action string `json:"action,omitempty"`
	Status Status `json:"status"`
	// Reason is a sentence with the reason for the job's status, if the status needs a reason.
	Reason string `json:"reason,omitempty"`
	// Visit and Attempt count the visits of the step and the attempts of that visit, from 1. Both are 0 before the job has
	// begun.
	Visit   int `json:"visit"`
	Attempt int `json:"attempt"`
	// Retried means that there is a later job for the step.
	Retried bool `json:"retried"`
	// CreatedAt is the time when the job was created, StartedAt when it began, FinishedAt when it ended; zero before.
	CreatedAt  time.Time `json:"created_at,omitzero"`
	StartedAt  time.Time `json:"started_at,omitzero"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
	// Duration is the execution time. In JSON "duration", in milliseconds.
	Duration time.Duration `json:"-"`
	// Result is the result of the step. Nil for the commit, and before the job has ended.
	Result *millrace.StepResult `json:"result,omitempty"`
}

// Ref returns the reference to the job.
func (j Job) Ref() JobRef { return JobRef{Project: j.Project, ID: j.ID} }

type plainJob Job

type jsonJob struct {
	ID  number `json:"id"`
	Run number `json:"run"`
	plainJob
	Duration millis `json:"duration"`
}

// MarshalJSON writes ids that are numbers as numbers, and the duration in milliseconds.
func (j Job) MarshalJSON() ([]byte, error) {
	return json.Marshal(jsonJob{number(j.ID), number(j.Run), plainJob(j), millis(j.Duration)})
}

// UnmarshalJSON reads the JSON of MarshalJSON.
func (j *Job) UnmarshalJSON(data []byte) error {
	var read jsonJob
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*j = Job(read.plainJob)
	j.ID, j.Run, j.Duration = string(read.ID), string(read.Run), time.Duration(read.Duration)
	return nil
}
