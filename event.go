package millrace

import (
	"time"

	"github.com/millrace-go/millrace/risk"
)

// Event is something that happens during a run. The set of events is closed: [StepStarted], [StepProgress], [FileStaged],
// [StepFinished], [RiskJudged] and [CommitPhase]. As JSON an event has the names of its fields in snake case, see [JSONEvents].
//
// An executor's Observe is called from one goroutine at a time, each time a new one, and the run waits for it: it should return
// soon, and must not call the executor. When steps run in parallel, the events of several steps are mixed.
//
// A panic of Observe, or of the Logger's handler, never changes what becomes of the tree, in whichever phase it comes; nor
// does runtime.Goexit there, which t.FailNow calls. The run goes on and calls them again for what comes next. The Result, and
// that of [Executor.Recover], has a warning that names the first panic, and the Logger gets each with its stack.
type Event interface {
	// Kind is the name of the event in JSON: "step_started", "step_progress", "file_staged", "step_finished", "risk_judged" or
	// "commit_phase".
	Kind() string
	isEvent()
}

// StepStarted says that a step begins to run.
type StepStarted struct {
	Step   string `json:"step"`
	Index  int    `json:"index"` // from 0
	Action string `json:"action"`
}

// StepProgress says how far a step is. It comes with each file that is done, or, where it is not known how many there are,
// with every few dozens of them and at the end; and within large files with every 16 MiB. The numbers of a step only grow.
type StepProgress struct {
	Step  string `json:"step"`
	Done  int    `json:"done"`  // files
	Total int    `json:"total"` // files; 0 if not known
	// Bytes is how many bytes of files the step has read so far. It is 0 for steps that read none.
	Bytes int64 `json:"bytes"`
}

// FileStaged says that a step has changed a file on the stage. It comes when the step is done, a file at a time, in path
// order.
type FileStaged struct {
	Step string `json:"step"`
	Path string `json:"path"`
}

// StepFinished says that a step is over: done, failed or skipped.
type StepFinished struct {
	Step     string        `json:"step"`
	Index    int           `json:"index"` // from 0
	Result   StepResult    `json:"result"`
	Duration time.Duration `json:"-"` // in JSON "duration", in milliseconds
}

// RiskJudged says what the whole change was judged to be.
type RiskJudged struct {
	Level risk.Level `json:"level,omitzero"` // unset if no step can write
	Files int        `json:"files"`
	Edits int        `json:"edits"`
	// Blocked is the reason why the change may not be committed, or "".
	Blocked string `json:"blocked,omitempty"`
}

// CommitPhase says that the commit goes into its next phase: "verify", "stage", "backup", "journal", "apply", "sync",
// "commit" or "clean", or "rollback".
type CommitPhase struct {
	Phase string `json:"phase"`
	// Done of Total changes are through the phase. Both are 0 when it begins; in phases that go through many changes, an event
	// comes with every few dozens of them.
	Done  int `json:"done,omitempty"`
	Total int `json:"total,omitempty"`
}

// The kinds of events.
const (
	kindStepStarted  = "step_started"
	kindStepProgress = "step_progress"
	kindFileStaged   = "file_staged"
	kindStepFinished = "step_finished"
	kindRiskJudged   = "risk_judged"
	kindCommitPhase  = "commit_phase"
)

// Kind implements [Event].
func (StepStarted) Kind() string { return kindStepStarted }

// Kind implements [Event].
func (StepProgress) Kind() string { return kindStepProgress }

// Kind implements [Event].
func (FileStaged) Kind() string { return kindFileStaged }

// Kind implements [Event].
func (StepFinished) Kind() string { return kindStepFinished }

// Kind implements [Event].
func (RiskJudged) Kind() string { return kindRiskJudged }

// Kind implements [Event].
func (CommitPhase) Kind() string { return kindCommitPhase }

func (StepStarted) isEvent()  {}
func (StepProgress) isEvent() {}
func (FileStaged) isEvent()   {}
func (StepFinished) isEvent() {}
func (RiskJudged) isEvent()   {}
func (CommitPhase) isEvent()  {}
