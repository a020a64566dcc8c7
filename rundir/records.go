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

// kind describes what a record tells.
type kind string

// The kinds of records.
const (
	kindCreated kind = "created" // the run is there; the first record, and no other
	kindTake    kind = "take"    // a process works on the run from here on
	kindState   kind = "state"   // the run, or a job, has another status
	kindStart   kind = "start"   // a job begins, or what it waits for is another
	kindAnswer  kind = "answer"  // a command, an agent or a pure tool has answered
	kindDone    kind = "done"    // a job is over; a checkpoint
	kindHold    kind = "hold"    // the run waits for a decision
	kindPlay    kind = "play"    // the decision to go on
	kindRetry   kind = "retry"   // the decision to run again
	kindCancel  kind = "cancel"  // the decision to stop
	kindCommit  kind = "commit"  // from here on the tree decides the end of the run
	kindEnd     kind = "end"     // the run has ended
)

// record is one line of the file "run". Which of the pointers are set depends on the kind.
type record struct {
	Kind kind      `json:"kind"`
	Time time.Time `json:"time"`
	// Status is that of the run from here on, "" where the record says nothing of it; Reason says why.
	Status runs.Status `json:"status,omitempty"`
	Reason string      `json:"reason,omitempty"`
	// Job is the ordinal of the job that the record is about, 0 for the run. JobStatus is what the job is from here on,
	// "" where the kind says it.
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
	// Dropped, of a state, means that the data of the run was removed: nothing can be resumed from here on.
	Dropped bool `json:"dropped,omitempty"`
	// Summary, of a state, is that of a fleet so far, in JSON.
	Summary json.RawMessage `json:"summary,omitempty"`
	// Appended names all that was put into the file "data" since the record before, nil for nothing. A record whose
	// bytes are not whole counts as not written, and all behind it.
	Appended *recordlog.Span `json:"appended,omitempty"`
}

// created is what a run is: it never changes.
type created struct {
	Version int    `json:"version"`
	Number  int64  `json:"number"`
	ID      string `json:"id"`
	// Dev and Ino are the identity of the directory, 0 where the file system tells none: a copy is not the run.
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
	// ApproveFrom is the level of risk from which the run is held, beside that of the host.
	ApproveFrom risk.Level `json:"approve_from,omitzero"`
	// YAMLErrors means that the text of the pipeline was not valid; the run has failed at once then.
	YAMLErrors bool `json:"yaml_errors,omitempty"`
	// Pipeline is the pipeline as found, in JSON. Variables are []runs.Variable in JSON, with their values. Steps are
	// []stepName in JSON, in the order of the pipeline.
	Pipeline  value `json:"pipeline,omitzero"`
	Variables value `json:"variables,omitzero"`
	Steps     value `json:"steps,omitzero"`
	StepCount int   `json:"step_count"`
	// Keys are the names of the variables, which may be shown.
	Keys []string `json:"keys,omitempty"`
	// Fleet is set for the parent of a fleet, and Child for a run that one has started.
	Fleet *fleetTargets `json:"fleet,omitempty"`
	Child *childOf      `json:"child,omitempty"`
}

// stepName is a step as jobs show it.
type stepName struct {
	ID     string `json:"id"`
	Action string `json:"action,omitempty"`
}

// fleetTargets names what is in the file "targets": a line of JSON for each target.
type fleetTargets struct {
	Count    int    `json:"count"`
	Length   int64  `json:"length"`
	SHA256   string `json:"sha256"`
	Parallel int    `json:"parallel,omitempty"`
	// StopAfter is how many targets may fail, 0 for any number.
	StopAfter int `json:"stop_after,omitempty"`
	// Deadline, Budget and PerSecond are those of FleetOptions.
	Deadline  time.Duration `json:"deadline_ns,omitempty"`
	Budget    budget.Limit  `json:"budget,omitzero"`
	PerSecond float64       `json:"per_second,omitempty"`
}

// childOf says which target of its parent a run is.
type childOf struct {
	Index  int   `json:"index"`
	Target value `json:"target"` // a fleet.Target in JSON
}

// take names the process that works on the run.
type take struct {
	PID  int    `json:"pid"`
	Host string `json:"host"`
}

// place is where in the pipeline a job stands. The commit has the number of steps as its index.
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
	// Cost is what was paid for it.
	Cost budget.Cost `json:"cost_usd,omitzero"`
}

// done is a millrace.Checkpoint but for its position.
type done struct {
	Result value `json:"result,omitzero"` // a millrace.StepResult in JSON
	State  value `json:"state,omitzero"`  // JSON
	Delta  value `json:"delta,omitzero"`
	Final  bool  `json:"final,omitempty"`
	Parent int   `json:"parent,omitempty"`
	// Spent is what the run has spent so far.
	Spent budget.Cost `json:"spent_usd,omitzero"`
	// Mark means that the checkpoint has no result, and so no job of its own.
	Mark bool `json:"mark,omitempty"`
}

// hold is the state with which a run waits. The reason of the record names the awaited decision.
type hold struct {
	// PlanDigest is that of what is staged so far; Commit means that this is what will be committed.
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

// play is the decision to go on.
type play struct {
	User string `json:"user,omitempty"`
	// Variables are []runs.Variable in JSON, Keys their names.
	Variables  value    `json:"variables,omitzero"`
	Keys       []string `json:"keys,omitempty"`
	Force      bool     `json:"force,omitempty"`
	PlanDigest string   `json:"plan_digest,omitempty"`
	// Leave is what is not written of the plan, as in runs.PlayParams, with escaped paths.
	Leave value `json:"leave,omitzero"`
}

// retry is the decision to run again.
type retry struct {
	User string `json:"user,omitempty"`
	// From is how many checkpoints stay: those behind it are not part of the run any more.
	From int `json:"from"`
	// ByItself means that the manager has gone back, and no user: what was answered before stands for the steps that run
	// again.
	ByItself bool `json:"by_itself,omitempty"`
	// Anew reports that the user has named the step to go back to: it asks again, also if nothing was kept of it but
	// what it was answered.
	Anew bool `json:"anew,omitempty"`
	// Jobs are the new jobs of the steps that run again, or for the first time.
	Jobs []newJob `json:"jobs,omitempty"`
}

// newJob is a job to come.
type newJob struct {
	Ordinal int `json:"ordinal"`
	Index   int `json:"index"` // of the step; the number of steps for the commit
}

// cancel is the decision to stop.
type cancel struct {
	User string `json:"user,omitempty"`
}

// commit describes what is going to be in the tree.
type commit struct {
	PlanDigest string `json:"plan_digest,omitempty"`
}

// end describes how the run has ended, this time.
type end struct {
	// Result is the millrace.Result in JSON, nothing if there is none.
	Result value `json:"result,omitzero"`
	// Final means that the run cannot be resumed although it has not succeeded.
	Final bool `json:"final,omitempty"`
	// Summary is that of a fleet, in JSON.
	Summary json.RawMessage `json:"summary,omitempty"`
	// Child is what the parent of the run counts, nil if it has none.
	Child *childEnd `json:"child,omitempty"`
	// From is the id of the step to resume from, "" for none.
	From string `json:"from,omitempty"`
}

// childEnd is what became of a target.
type childEnd struct {
	Code  string      `json:"code,omitempty"`
	Files int         `json:"files,omitempty"`
	Edits int         `json:"edits,omitempty"`
	Risk  risk.Level  `json:"risk,omitzero"`
	Cost  budget.Cost `json:"cost_usd,omitzero"`
}

// use is what the budget of a fleet counts of a child.
func (c childEnd) use() budget.Use { return budget.Use{USD: c.Cost, Files: c.Files, Edits: c.Edits} }

// maxInline is how long a value can be that stands in its record, in bytes.
const maxInline = 4 << 10

// value is bytes that a record has inline, or names in the file "data". The zero value has no bytes.
type value struct {
	JSON  json.RawMessage `json:"json,omitempty"`
	Bytes []byte          `json:"bytes,omitempty"`
	Span  *recordlog.Span `json:"span,omitempty"`
}

// IsZero reports whether there are no bytes.
func (v value) IsZero() bool { return v.JSON == nil && v.Bytes == nil && v.Span == nil }

// parts is what a record of a kind has to have.
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

// decodeRecord reads a record. Unknown fields were written by a later version, or by a stranger.
func decodeRecord(data []byte) (*record, error) {
	r := new(record)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, err
	}
	return r, r.parts()
}
