package millrace

import (
	"time"

	"github.com/millrace-go/millrace/risk"
)

// Event is something that happens during a run. The set of events is closed: [StepStarted], [StepProgress], [FileStaged],
// [StepFinished], [RiskJudged] and [CommitPhase].
//
// An executor's Observe is called from one goroutine at a time, and the run waits for it: it should return soon, and must
// not call the executor. When steps run in parallel, the events of several steps are mixed.
type Event interface {
	isEvent()
}

// StepStarted says that a step begins to run.
type StepStarted struct {
	Step   string
	Index  int // from 0
	Action string
}

// StepProgress says how far a step is. It comes with each file that is done, or, where it is not known how many there are,
// with every few dozens of them and at the end; and within large files with every 16 MiB. The numbers of a step only grow.
type StepProgress struct {
	Step  string
	Done  int // files
	Total int // files; 0 if not known
	// Bytes is how many bytes of files the step has read so far. It is 0 for steps that read none.
	Bytes int64
}

// FileStaged says that a step has changed a file on the stage. It comes when the step is done, a file at a time, in path
// order.
type FileStaged struct {
	Step string
	Path string
}

// StepFinished says that a step is over: done, failed or skipped.
type StepFinished struct {
	Step     string
	Index    int
	Result   StepResult
	Duration time.Duration
}

// RiskJudged says what the whole change was judged to be.
type RiskJudged struct {
	Level risk.Level
	Files int
	Edits int
	// Blocked is the reason why the change may not be committed, or "".
	Blocked string
}

// CommitPhase says that the commit goes into its next phase: "verify", "stage", "backup", "journal", "apply", "sync",
// "commit" or "clean", or "rollback".
type CommitPhase struct {
	Phase string
}

func (StepStarted) isEvent()  {}
func (StepProgress) isEvent() {}
func (FileStaged) isEvent()   {}
func (StepFinished) isEvent() {}
func (RiskJudged) isEvent()   {}
func (CommitPhase) isEvent()  {}
