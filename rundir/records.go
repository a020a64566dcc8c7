package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/recordlog"
	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/runs"
	"github.com/millrace-go/millrace/wording"
)

// kind is the kind of a record.
type kind string

// The kinds of records.
const (
	kindCreated kind = "created" // the run exists; the first record, and no other
	kindTake    kind = "take"    // from here on, a process works on the run
	kindState   kind = "state"   // the run, or a job, has another status
	kindStart   kind = "start"   // a job begins, or waits for something else
	kindAnswer  kind = "answer"  // a command, an agent or a pure tool has answered
	kindDone    kind = "done"    // a job has ended; a checkpoint
	kindHold    kind = "hold"    // the run waits for a decision
	kindPlay    kind = "play"    // the decision to continue
	kindRetry   kind = "retry"   // the decision to run again
	kindCancel  kind = "cancel"  // the decision to stop
	kindCommit  kind = "commit"  // from here on the tree decides the end of the run
	kindEnd     kind = "end"     // the run has ended
)

// record is a line of the file "run". The kind determines which pointers are set.
type record struct {
	Kind kind      `json:"kind"`
	Time time.Time `json:"time"`
	// Status is the status of the run from here on, "" for no change. Reason is its reason.
	Status runs.Status `json:"status,omitempty"`
	Reason string      `json:"reason,omitempty"`
	// Job is the ordinal of the record's job, 0 for the run. JobStatus is the status of the job from here on, "" if the
	// kind implies it.
	Job       int         `json:"job,omitempty"`
	JobStatus runs.Status `json:"job_status,omitempty"`

	Created *created `json:"created,omitempty"`
	Take    *take    `json:"take,omitempty"`
	At      *place   `json:"at,omitempty"` // of start, done, hold, commit
	Answer  *answer  `json:"answer,omitempty"`
	Done    *done    `json:"done,omitempty"`
	Hold    *hold    `json:"hold,omitempty"`
	Play    *play    `json:"play,omitempty"`
	Retry   *retry   `json:"retry,omitempty"`
	Cancel  *cancel  `json:"cancel,omitempty"`
	Commit  *commit  `json:"commit,omitempty"`
	End     *end     `json:"end,omitempty"`
	// Dropped, for a state, means that the data of the run was removed: the run can no longer be resumed.
	Dropped bool `json:"dropped,omitempty"`
	// Summary, for a state, is the summary of a fleet so far, in JSON.
	Summary json.RawMessage `json:"summary,omitempty"`
	// Appended refers to everything added to the file "data" since the record before, nil for nothing. A record with
	// incomplete bytes, and all records after it, count as not written.
	Appended *recordlog.Span `json:"appended,omitempty"`
}

// created has the fixed properties of a run: it never changes.
type created struct {
	Version int    `json:"version"`
	Number  int64  `json:"number"`
	ID      string `json:"id"`
	// Dev and Ino are the identity of the directory, 0 if the file system has none: a copy is not the run.
	Dev     uint64    `json:"dev,omitempty"`
	Ino     uint64    `json:"ino,omitempty"`
	Project string    `json:"project"`
	Name    string    `json:"name"`
	Ref     string    `json:"ref,omitempty"`
	SHA     string    `json:"sha,omitempty"`
	Source  string    `json:"source,omitempty"`
	User    string    `json:"user,omitempty"`
	Parent  int64     `json:"parent,omitempty"` // the number of the run that has started this one
	StartAt time.Time `json:"start_at,omitzero"`
	DryRun  bool      `json:"dry_run,omitempty"`
	// ApproveFrom is the level of risk from which the run is held, in addition to the host's level.
	ApproveFrom risk.Level `json:"approve_from,omitzero"`
	// YAMLErrors means that the text of the pipeline was invalid; then the run has failed immediately.
	YAMLErrors bool `json:"yaml_errors,omitempty"`
	// Pipeline is the pipeline as read, in JSON. Variables are []runs.Variable in JSON, with their values. Steps are
	// []stepName in JSON, in the order of the pipeline.
	Pipeline  value `json:"pipeline,omitzero"`
	Variables value `json:"variables,omitzero"`
	Steps     value `json:"steps,omitzero"`
	StepCount int   `json:"step_count"`
	// Keys are the names of the variables, which may be shown.
	Keys []string `json:"keys,omitempty"`
	// Fleet is set for the parent of a fleet, Child for a run that a fleet has started.
	Fleet *fleetTargets `json:"fleet,omitempty"`
	Child *childOf      `json:"child,omitempty"`
}

// stepName is a step in the form for jobs.
type stepName struct {
	ID     string `json:"id"`
	Action string `json:"action,omitempty"`
}

// fleetTargets describes the file "targets": a line of JSON for each target.
type fleetTargets struct {
	Count    int    `json:"count"`
	Length   int64  `json:"length"`
	SHA256   string `json:"sha256"`
	Parallel int    `json:"parallel,omitempty"`
	// StopAfter is the number of targets that may fail, 0 for any number.
	StopAfter int `json:"stop_after,omitempty"`
	// Deadline, Budget and PerSecond are the fields of FleetOptions.
	Deadline  time.Duration `json:"deadline_ns,omitempty"`
	Budget    budget.Limit  `json:"budget,omitzero"`
	PerSecond float64       `json:"per_second,omitempty"`
}

// childOf is the target of a child in its parent.
type childOf struct {
	Index  int   `json:"index"`
	Target value `json:"target"` // a fleet.Target in JSON
}

// take names the process that works on the run.
type take struct {
	PID  int    `json:"pid"`
	Host string `json:"host"`
}

// place is the place of a job in the pipeline. The commit has the number of steps as its index.
type place struct {
	Step    string `json:"step,omitempty"`
	Index   int    `json:"index"`
	Visit   int    `json:"visit,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
}

func placeOf(p millrace.Position) *place { return &place{p.Step, p.Index, p.Visit, p.Attempt} }

func (p place) position() millrace.Position {
	return millrace.Position{Step: p.Step, Index: p.Index, Visit: p.Visit, Attempt: p.Attempt}
}

// answer is a millrace.Recorded under its key.
type answer struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
	// Cost is the cost of the answer.
	Cost budget.Cost `json:"cost_usd,omitzero"`
}

// done is a millrace.Checkpoint without its position.
type done struct {
	Result value `json:"result,omitzero"` // a millrace.StepResult in JSON
	State  value `json:"state,omitzero"`  // JSON
	Delta  value `json:"delta,omitzero"`
	Final  bool  `json:"final,omitempty"`
	Parent int   `json:"parent,omitempty"`
	// Spent is the spending of the run so far.
	Spent budget.Cost `json:"spent_usd,omitzero"`
	// Mark means that the checkpoint has no result, and so no own job.
	Mark bool `json:"mark,omitempty"`
}

// hold is the state with which a run waits. The reason of the record names the awaited decision. The hold of a mark has
// only Why and Advice.
type hold struct {
	// PlanDigest is the digest of the changes staged so far; Commit means that these will be committed.
	PlanDigest string     `json:"plan_digest,omitempty"`
	Commit     bool       `json:"commit,omitempty"`
	Files      int        `json:"files,omitempty"`
	Edits      int        `json:"edits,omitempty"`
	Risk       risk.Level `json:"risk,omitzero"`
	// Why is the reason of the record without the advice at its end, and Advice the kind of that. Both are "" if the
	// reason has no such advice, and in records of earlier versions.
	Why    string       `json:"why,omitempty"`
	Advice wording.Kind `json:"advice,omitempty"`
}

// play is the decision to continue.
type play struct {
	User string `json:"user,omitempty"`
	// Variables are []runs.Variable in JSON, Keys their names.
	Variables  value    `json:"variables,omitzero"`
	Keys       []string `json:"keys,omitempty"`
	Force      bool     `json:"force,omitempty"`
	PlanDigest string   `json:"plan_digest,omitempty"`
	// Leave has the rejected parts of the plan, as in runs.PlayParams, with escaped paths.
	Leave value `json:"leave,omitzero"`
}

// retry is the decision to run again.
type retry struct {
	User string `json:"user,omitempty"`
	// From is the number of checkpoints that stay: later ones are no longer part of the run.
	From int `json:"from"`
	// ByItself means that the manager has gone back, not a user: earlier answers stay valid for the steps that run again.
	ByItself bool `json:"by_itself,omitempty"`
	// Anew means that the user has named the step to go back to: it asks again, even if only its answers were kept.
	Anew bool `json:"anew,omitempty"`
	// Jobs are the new jobs of the steps that run again, or for the first time.
	Jobs []newJob `json:"jobs,omitempty"`
}

// newJob is a future job.
type newJob struct {
	Ordinal int `json:"ordinal"`
	Index   int `json:"index"` // of the step; the number of steps for the commit
}

// cancel is the decision to stop.
type cancel struct {
	User string `json:"user,omitempty"`
}

// commit describes the plan that is being committed.
type commit struct {
	PlanDigest string `json:"plan_digest,omitempty"`
}

// end describes the latest end of the run.
type end struct {
	// Result is the millrace.Result in JSON, empty without a result.
	Result value `json:"result,omitzero"`
	// Final means that the run cannot be resumed although it has not succeeded.
	Final bool `json:"final,omitempty"`
	// Summary is the summary of a fleet, in JSON.
	Summary json.RawMessage `json:"summary,omitempty"`
	// Child has the values that the parent of the run counts, nil if it has no parent.
	Child *childEnd `json:"child,omitempty"`
	// From is the id of the step to resume from, "" for none.
	From string `json:"from,omitempty"`
}

// childEnd is the result of a target.
type childEnd struct {
	Code  string      `json:"code,omitempty"`
	Files int         `json:"files,omitempty"`
	Edits int         `json:"edits,omitempty"`
	Risk  risk.Level  `json:"risk,omitzero"`
	Cost  budget.Cost `json:"cost_usd,omitzero"`
}

// use returns the use that the budget of a fleet counts for a child.
func (c childEnd) use() budget.Use { return budget.Use{USD: c.Cost, Files: c.Files, Edits: c.Edits} }

// maxInline is the largest size of a value within its record, in bytes.
const maxInline = 4 << 10

// value is bytes that a record contains, or refers to in the file "data". The zero value has no bytes.
type value struct {
	JSON  json.RawMessage `json:"json,omitempty"`
	Bytes []byte          `json:"bytes,omitempty"`
	Span  *recordlog.Span `json:"span,omitempty"`
}

// IsZero reports whether the value has no bytes.
func (v value) IsZero() bool { return v.JSON == nil && v.Bytes == nil && v.Span == nil }

// parts returns an error if a record lacks a required part of its kind.
func (r *record) parts() error {
	need := map[kind]bool{
		kindCreated: r.Created != nil, kindTake: r.Take != nil, kindState: true, kindStart: r.At != nil && r.Job > 0,
		kindAnswer: r.Answer != nil, kindDone: r.Done != nil && r.At != nil, kindHold: r.Hold != nil,
		kindPlay: r.Play != nil, kindRetry: r.Retry != nil, kindCancel: r.Cancel != nil, kindCommit: true,
		kindEnd: r.End != nil,
	}
	whole, known := need[r.Kind]
	switch {
	case !known:
		return fmt.Errorf("unknown kind of record %q", r.Kind)
	case !whole:
		return fmt.Errorf("a record %q without what it tells", r.Kind)
	case r.Time.IsZero():
		return errors.New("a record without a time")
	}
	return nil
}

// decodeRecord reads a record. Unknown fields are ignored: a later version, or a stranger, has written them.
func decodeRecord(data []byte) (*record, error) {
	r := new(record)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, err
	}
	return r, r.parts()
}
