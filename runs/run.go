package runs

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/wording"
)

// RunRef names a run.
type RunRef struct {
	// Project is the project of the run. A run of another project is not found.
	Project string
	// ID is the number of the run in decimal, or its run id. Engines with other ids accept these too.
	ID string
}

// The sources of runs that this project sets. A creator may give any other word, such as "schedule".
const (
	SourceAPI    = "api"             // the default
	SourceCLI    = "cli"             // a command line
	SourceMCP    = "mcp"             // a tool call
	SourceParent = "parent_pipeline" // another run: a target of a fleet
)

// Run describes a run. In JSON, ids that are numbers are numbers, durations are milliseconds, and unknown times and
// texts are left out.
type Run struct {
	// ID is the number of the run in its store, in decimal; other engines have their own ids.
	ID string `json:"id"`
	// RunID is the run's id for the tree, as in [millrace.Executor]: it is unique across all stores.
	RunID string `json:"run_id,omitempty"`
	// Project is the key of the tree.
	Project string `json:"project_id"`
	// Name is the name of the pipeline, "" if it could not be read.
	Name string `json:"name"`
	// RefName is the library name that the run was created from; for a run from a pipeline itself, the pipeline's name.
	RefName string `json:"ref"`
	// SHA is the digest of the pipeline as it was read, before variables were set, "" if it could not be read.
	SHA    string `json:"sha"`
	Status Status `json:"status"`
	// Reason is a sentence with the reason for the run's status, if the status needs a reason.
	Reason string `json:"reason,omitempty"`
	// Resumable means that a retry can continue after the finished steps. It is false while the run is active.
	Resumable bool `json:"resumable"`
	// ResumeFrom is the step to resume from, RUN/STEP, if another program has changed files that the step has read. A
	// retry would fail because of the same change. It is "" for other runs.
	ResumeFrom string `json:"resume_from,omitempty"`
	// Foreign means that the run was not signed with the user's key. It can only be read; retention removes it.
	Foreign bool `json:"foreign,omitempty"`
	// Source is the origin of the run: a Source constant, or another word.
	Source string `json:"source"`
	// User is the name of the user who created it, "" if it is unknown.
	User string `json:"username,omitempty"`
	// YAMLErrors means that the text of the ref was not a valid pipeline. Such a run has failed.
	YAMLErrors bool `json:"yaml_errors"`
	// CreatedAt is the time of its creation, UpdatedAt the time of its last event.
	CreatedAt time.Time `json:"created_at,omitzero"`
	UpdatedAt time.Time `json:"updated_at,omitzero"`
	// StartAt is the time before which it does not begin, zero for immediately.
	StartAt time.Time `json:"start_at,omitzero"`
	// StartedAt is the time when its first step began, FinishedAt when it ended; zero before.
	StartedAt  time.Time `json:"started_at,omitzero"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
	// Duration is the execution time, without waits for decisions. In JSON "duration", in milliseconds.
	Duration time.Duration `json:"-"`
	// QueuedDuration is the wait before its first step. In JSON "queued_duration", in milliseconds.
	QueuedDuration time.Duration `json:"-"`
	// Parent is the ID of the run that has started this one, "" for none.
	Parent string `json:"-"`
	// Attempts is the number of times that a process has begun to work on it.
	Attempts int `json:"attempts"`
	// Variables are the names of the given variables, sorted. Their values are never shown.
	Variables []string `json:"variables"`
	// Held describes the decision that a Manual run waits for, nil for others.
	Held *Held `json:"held,omitempty"`
	// Summary counts the targets of a fleet, nil for other runs.
	Summary *Summary `json:"summary,omitempty"`
	// Result is the result so far. Only [Browser.Get] and the verbs return it; contents above 64 KiB are left out, with a
	// warning. Nil before the first result.
	Result *millrace.Result `json:"result,omitempty"`
}

// Ref returns the reference to the run.
func (r Run) Ref() RunRef { return RunRef{Project: r.Project, ID: r.ID} }

// Held describes the decision that a run waits for, and its plan.
type Held struct {
	// JobID is the ID of the job to play.
	JobID string `json:"-"` // in JSON "job_id"
	// PlanDigest is the digest of the plan that was shown. Play refuses any other plan.
	PlanDigest string `json:"plan_digest"`
	// Files is the number of files that the plan changes, Edits the number of replacements.
	Files int `json:"files"`
	Edits int `json:"edits"`
	// Risk is the level of the plan as a whole.
	Risk risk.Level `json:"risk,omitzero"`
	// Parts are the reason of the run, for doors with other words for the advice at its end. Nil if the reason has no
	// such advice.
	Parts []wording.Part `json:"-"`
}

// Summary counts the targets of a fleet.
type Summary struct {
	// Targets is the number of targets; targets outside of the next four counts have not ended.
	Targets  int `json:"targets"`
	Success  int `json:"success"`
	Failed   int `json:"failed"`
	Skipped  int `json:"skipped"`
	Canceled int `json:"canceled"`
	// Files and Edits are sums over all targets.
	Files int64 `json:"files"`
	Edits int64 `json:"edits"`
	// Risks is the number of targets at each level.
	Risks risk.Counts `json:"risks"`
	// Failures are the failed targets with the smallest indices, at most ten, in their order.
	Failures []Failure `json:"failures"`
}

// Failure is a failed target of a fleet.
type Failure struct {
	// Index is the position of the target, from 0. Target is its name.
	Index  int    `json:"index"`
	Target string `json:"target"`
	// Run is the ID of the target's run, "" without a run.
	Run string `json:"-"` // in JSON "run"
	// Code is a code of [millrace.ErrorCode], or a code of the fleet. Message is the error.
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Trigger is a run that another run has started, or will start: a target of a fleet.
type Trigger struct {
	// Name is the name of the target.
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Run is the run of the target, without its result. Nil if it was not begun.
	Run *Run `json:"run,omitempty"`
}

// The types without their methods, for encoding/json.
type (
	plainRun     Run
	plainHeld    Held
	plainSummary Summary
	plainFailure Failure
)

type jsonRun struct {
	ID number `json:"id"`
	plainRun
	Parent         number `json:"parent,omitempty"`
	Duration       millis `json:"duration"`
	QueuedDuration millis `json:"queued_duration"`
}

// MarshalJSON writes ids that are numbers as numbers, durations in milliseconds, and an empty list, not null,
// without variables.
func (r Run) MarshalJSON() ([]byte, error) {
	r.Variables = orEmpty(r.Variables)
	return json.Marshal(jsonRun{number(r.ID), plainRun(r), number(r.Parent), millis(r.Duration),
		millis(r.QueuedDuration)})
}

// UnmarshalJSON reads the JSON of MarshalJSON.
func (r *Run) UnmarshalJSON(data []byte) error {
	var read jsonRun
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*r = Run(read.plainRun)
	r.ID, r.Parent = string(read.ID), string(read.Parent)
	r.Duration, r.QueuedDuration = time.Duration(read.Duration), time.Duration(read.QueuedDuration)
	return nil
}

type jsonHeld struct {
	JobID number `json:"job_id"`
	plainHeld
}

// MarshalJSON writes an id that is a number as a number.
func (h Held) MarshalJSON() ([]byte, error) {
	return json.Marshal(jsonHeld{number(h.JobID), plainHeld(h)})
}

// UnmarshalJSON reads the JSON of MarshalJSON.
func (h *Held) UnmarshalJSON(data []byte) error {
	var read jsonHeld
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*h = Held(read.plainHeld)
	h.JobID = string(read.JobID)
	return nil
}

// MarshalJSON writes an empty list, not null, without failures.
func (s Summary) MarshalJSON() ([]byte, error) {
	s.Failures = orEmpty(s.Failures)
	return json.Marshal(plainSummary(s))
}

type jsonFailure struct {
	plainFailure
	Run number `json:"run,omitempty"`
}

// MarshalJSON writes an id that is a number as a number.
func (f Failure) MarshalJSON() ([]byte, error) {
	return json.Marshal(jsonFailure{plainFailure(f), number(f.Run)})
}

// UnmarshalJSON reads the JSON of MarshalJSON.
func (f *Failure) UnmarshalJSON(data []byte) error {
	var read jsonFailure
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*f = Failure(read.plainFailure)
	f.Run = string(read.Run)
	return nil
}

// orEmpty returns a list that is not nil.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return slices.Clip(list)
}
