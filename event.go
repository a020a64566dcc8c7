package millrace

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/risk"
)

// Event is an event of a run. The set of events is closed: [RunStarted], [StepStarted], [StepProgress], [FileStaged],
// [StepOutput], [StepRetrying], [StepFinished], [StepJumped], [StepReplayed], [AgentReplied], [CostSpent],
// [RiskJudged], [CommitPhase] and [RunFinished]. As JSON an event has the names of its fields in snake case, see
// [JSONEvents].
//
// An executor's Observe is called from one goroutine at a time, each time a new goroutine, and the run waits for it: it
// should return soon, and must not call the executor. If steps run in parallel, the events of several steps are mixed.
//
// A panic of Observe, or of the Logger's handler, never changes the outcome for the tree, in any phase; nor does
// runtime.Goexit there, which t.FailNow calls. The run continues and calls them again for later events. The Result, and
// the Recovery of [Executor.Recover], has a warning that names the first panic, and the Logger gets each panic with its
// stack.
type Event interface {
	// Kind returns the name of the event in JSON, such as "step_started".
	Kind() string
	isEvent()
}

// RunStarted is the first event of [Executor.Run], [Executor.Plan], [Plan.Commit] and [Executor.Restore]. It is not
// sent if they refuse to begin: if the pipeline or a field of the executor is invalid, or with ErrNested.
type RunStarted struct {
	Pipeline string `json:"pipeline"`         // its name; for a restore, "restore " and the id of the backup
	RunID    string `json:"run_id,omitempty"` // of [Executor.RunID]
	Phase    string `json:"phase"`            // PhaseRun, PhasePlan or PhaseCommit
	// Classification is the classification of the pipeline, "" for none.
	Classification string `json:"classification,omitempty"`
	Steps          int    `json:"steps"`   // the number of the pipeline's steps
	DryRun         bool   `json:"dry_run"` // nothing will be written
}

// RunFinished is the last event after a RunStarted. It always follows: if the run has succeeded, failed, was blocked or
// canceled, and even if a file system has panicked.
type RunFinished struct {
	Phase string `json:"phase"` // the phase of RunStarted
	// Result is a copy of the returned result, without warnings about a failure of the observer at this very event. It is
	// nil without a result, for example if the host only reads.
	Result *Result `json:"result,omitempty"`
	// Err is the returned error. In JSON "error" is its text, and "error_code" its [ErrorCode].
	Err error `json:"-"`
}

// The phases of RunStarted and RunFinished.
const (
	PhaseRun    = "run"    // steps, and the commit
	PhasePlan   = "plan"   // steps only
	PhaseCommit = "commit" // the commit of a plan, or a restore
)

// StepStarted means that a step begins to run.
type StepStarted struct {
	Step   string `json:"step"`
	Index  int    `json:"index"` // from 0
	Visit  int    `json:"visit"` // of this step, from 1
	Action string `json:"action"`
}

// StepProgress is the progress of a step. It comes with each finished file, or, if the total is unknown, with every few
// dozen files and at the end; and within large files with every 16 MiB. The numbers of a step only grow.
type StepProgress struct {
	Step  string `json:"step"`
	Done  int    `json:"done"`  // files
	Total int    `json:"total"` // files; 0 if not known
	// Bytes is the number of bytes of files that the step has read so far. It is 0 for steps that read none.
	Bytes int64 `json:"bytes"`
}

// FileStaged means that a step has changed a file on the stage. It comes when the step is done, file by file, in path
// order.
type FileStaged struct {
	Step string `json:"step"`
	Path string `json:"path"`
}

// StepOutput is a piece of output of a step's command, sent while it runs. Secrets of the host are replaced by ***.
type StepOutput struct {
	Step   string `json:"step"`
	Visit  int    `json:"visit"`  // of this step, from 1
	Stream string `json:"stream"` // "stdout" or "stderr"
	Text   string `json:"text"`   // valid UTF-8, at most 32 KiB, not cut at lines
}

// StepFinished means that a step is over: done, failed or skipped.
type StepFinished struct {
	Step     string        `json:"step"`
	Index    int           `json:"index"` // from 0
	Visit    int           `json:"visit"` // of this step, from 1
	Result   StepResult    `json:"result"`
	Duration time.Duration `json:"-"` // in JSON "duration", in milliseconds
}

// StepRetrying means that an attempt has failed and will be repeated, after a wait.
type StepRetrying struct {
	Step    string        `json:"step"`
	Visit   int           `json:"visit"`
	Attempt int           `json:"attempt"` // the next attempt, from 2
	Err     error         `json:"-"`       // of the last attempt; in JSON "error", its text
	Wait    time.Duration `json:"-"`       // in JSON "wait", in milliseconds
}

// StepJumped reports a jump from a step to a step that need not be the next in the list. It comes after StepFinished of
// From.
type StepJumped struct {
	From string `json:"from"`
	To   string `json:"to"`
	By   string `json:"by"` // "next", "on_fail" or "retry_if"
}

// CostSpent means that an attempt of a step has cost something. It comes at once, and counts even if the attempt fails.
type CostSpent struct {
	Step  string      `json:"step"`
	Cost  budget.Cost `json:"cost"`  // in JSON a number of dollars
	Total budget.Cost `json:"total"` // of the run so far
}

// StepReplayed means that the answer to a step was on record, so nothing outside was asked again.
type StepReplayed struct {
	Step  string `json:"step"`
	Visit int    `json:"visit"`
}

// RiskJudged has the risk of the whole change.
type RiskJudged struct {
	Level risk.Level `json:"level,omitzero"` // unset if no step can write
	Files int        `json:"files"`
	Edits int        `json:"edits"`
	// Blocked is the reason why the change may not be committed, or "".
	Blocked string `json:"blocked,omitempty"`
}

// CommitPhase means that the commit enters its next phase: "verify", "stage", "backup", "journal", "apply", "sync",
// "commit" or "clean", or "rollback".
type CommitPhase struct {
	Phase string `json:"phase"`
	// Done is the number of changes that have passed the phase, of Total changes. Both are 0 when it begins; in phases
	// with many changes, an event comes with every few dozen changes.
	Done  int `json:"done,omitempty"`
	Total int `json:"total,omitempty"`
	// Bytes is the number of bytes of files that the phase has hashed or copied. An event comes with every 16 MiB. The
	// phase "collect" has only these events: the files of a change are hashed before the change is judged.
	Bytes int64 `json:"bytes,omitempty"`
}

// Kind implements [Event].
func (RunStarted) Kind() string { return "run_started" }

// Kind implements [Event].
func (StepStarted) Kind() string { return "step_started" }

// Kind implements [Event].
func (StepProgress) Kind() string { return "step_progress" }

// Kind implements [Event].
func (FileStaged) Kind() string { return "file_staged" }

// Kind implements [Event].
func (StepOutput) Kind() string { return "step_output" }

// Kind implements [Event].
func (StepFinished) Kind() string { return "step_finished" }

// Kind implements [Event].
func (StepRetrying) Kind() string { return "step_retrying" }

// Kind implements [Event].
func (StepJumped) Kind() string { return "step_jumped" }

// Kind implements [Event].
func (CostSpent) Kind() string { return "cost_spent" }

// Kind implements [Event].
func (StepReplayed) Kind() string { return "step_replayed" }

// Kind implements [Event].
func (RiskJudged) Kind() string { return "risk_judged" }

// Kind implements [Event].
func (CommitPhase) Kind() string { return "commit_phase" }

// Kind implements [Event].
func (RunFinished) Kind() string { return "run_finished" }

func (RunStarted) isEvent()   {}
func (StepStarted) isEvent()  {}
func (StepProgress) isEvent() {}
func (FileStaged) isEvent()   {}
func (StepOutput) isEvent()   {}
func (StepFinished) isEvent() {}
func (StepRetrying) isEvent() {}
func (StepJumped) isEvent()   {}
func (CostSpent) isEvent()    {}
func (StepReplayed) isEvent() {}
func (RiskJudged) isEvent()   {}
func (CommitPhase) isEvent()  {}
func (RunFinished) isEvent()  {}

// eventVersion is the version of the lines that JSONEvents writes. Fields may be added to it.
const eventVersion = 1

// JSONEvents returns a function for [Executor.Observe] that writes each event as a line of JSON:
//
//	{"v":1,"event":"step_started","time":"2026-01-02T15:04:05.678Z","step":"find","index":0,"visit":1,"action":"search"}
//
// After the first error of w nothing more is written. The function may serve several runs at a time.
func JSONEvents(w io.Writer) func(Event) {
	var mu sync.Mutex
	failed := false
	return func(e Event) {
		line, err := eventLine(e, time.Now())
		mu.Lock()
		defer mu.Unlock()
		if failed || err != nil {
			return
		}
		_, err = w.Write(line)
		failed = err != nil
	}
}

// eventLine returns the common beginning of all lines followed by the fields of the event.
func eventLine(e Event, now time.Time) ([]byte, error) {
	fields, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	head := fmt.Appendf(nil, `{"v":%d,"event":%q,"time":%q,`, eventVersion, e.Kind(), eventTime(now))
	return append(append(head, fields[1:]...), '\n'), nil
}

// eventTime formats a time for a line: UTC, to the millisecond.
func eventTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

type plainRunFinished RunFinished

// MarshalJSON writes the error as text, with its code.
func (e RunFinished) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		plainRunFinished
		Err  string `json:"error,omitempty"`
		Code string `json:"error_code,omitempty"`
	}{plainRunFinished(e), errorText(e.Err), ErrorCode(e.Err)})
}

type plainStepFinished StepFinished

// MarshalJSON writes the duration in milliseconds.
func (e StepFinished) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		plainStepFinished
		Duration millis `json:"duration"`
	}{plainStepFinished(e), millis(e.Duration)})
}

type plainStepRetrying StepRetrying

// MarshalJSON writes the error as text and the wait in milliseconds.
func (e StepRetrying) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		plainStepRetrying
		Err  string `json:"error"`
		Wait millis `json:"wait"`
	}{plainStepRetrying(e), errorText(e.Err), millis(e.Wait)})
}

// progressBytes is the number of bytes after which a step reports its progress, even if it has finished no file.
const progressBytes = 16 << 20

// stepProgress turns the progress of an action into events. It is safe for concurrent use.
type stepProgress struct {
	notify func(Event)

	mu   sync.Mutex
	now  StepProgress
	said int64 // bytes
	over bool
}

func (p *stepProgress) files(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done < p.now.Done {
		return // another goroutine has already reported it
	}
	p.now.Done, p.now.Total = done, total
	p.say()
}

func (p *stepProgress) bytes(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now.Bytes += n; p.now.Bytes-p.said >= progressBytes {
		p.say()
	}
}

func (p *stepProgress) say() {
	if !p.over {
		p.said = p.now.Bytes
		p.notify(p.now)
	}
}

// end makes later reports have no effect.
func (p *stepProgress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}

// AgentReplied means that an agent has answered, possibly with an error. An answer on record has [StepReplayed]
// instead.
type AgentReplied struct {
	Step    string `json:"step"`
	Visit   int    `json:"visit"`
	Attempt int    `json:"attempt"`
	Agent   string `json:"agent"` // its name, "" for the default agent
	// Model is the name of the model that has answered, "" if unknown. InputTokens and OutputTokens count the tokens that
	// it has read and written.
	Model        string `json:"model,omitempty"`
	InputTokens  int64  `json:"input_tokens"`
	OutputTokens int64  `json:"output_tokens"`
}

// Kind implements [Event].
func (AgentReplied) Kind() string { return "agent_replied" }

func (AgentReplied) isEvent() {}
