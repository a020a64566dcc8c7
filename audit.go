package millrace

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/progress"
)

// Observers joins functions for [Executor.Observe] into a function that calls each of them, in this order, even if an
// earlier one panics. Nil functions are left out; without any function the result is nil.
func Observers(f ...func(Event)) func(Event) {
	var joined func(Event)
	for _, next := range f {
		before := joined
		switch {
		case next == nil:
		case before == nil:
			joined = next
		default:
			joined = func(e Event) {
				defer next(e) // even if the function before panics
				before(e)
			}
		}
	}
	return joined
}

// Audit returns a function for [Executor.Observe] that writes a line of JSON at the end of each visit of a step,
// without parameters and without texts of files:
//
//	{"time":"2026-01-02T15:04:05.678Z","run":"a3f9c2d1","step":"fix","visit":1,"action":"edit","ok":true,"code":"","duration":3.2,"cost":0,"files":2,"edits":5}
//
// The duration is in milliseconds, the cost in dollars, and code is the code of the error, as listed at [ErrorCode].
// Files is the number of matched files. A step that calls a tool has the name of the tool as "tool". A skipped visit is
// ok, and has "skipped": true; a handled failure is not ok, and has "handled": true. All other fields are always
// present. If the run had to end before a step began, for example because of its budget, the step has a line with that
// code.
//
// The run is [Executor.RunID], so concurrent runs may share a function only if they have the same id. After the first
// error of w nothing more is written; to see that error, pass a w that keeps it.
func Audit(w io.Writer) func(Event) {
	var mu sync.Mutex
	run, failed := "", false
	return func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		switch e := e.(type) {
		case RunStarted:
			run = e.RunID
		case StepFinished:
			line, err := json.Marshal(auditOf(run, e, time.Now()))
			if failed || err != nil {
				return
			}
			_, err = w.Write(append(line, '\n'))
			failed = err != nil
		}
	}
}

// audited is a line of Audit.
type audited struct {
	Time     string      `json:"time"`
	Run      string      `json:"run"`
	Step     string      `json:"step"`
	Visit    int         `json:"visit"`
	Action   string      `json:"action"`
	Tool     string      `json:"tool,omitempty"`
	OK       bool        `json:"ok"`
	Skipped  bool        `json:"skipped,omitempty"`
	Handled  bool        `json:"handled,omitempty"`
	Code     string      `json:"code"`
	Duration millis      `json:"duration"`
	Cost     budget.Cost `json:"cost"`
	Files    int         `json:"files"`
	Edits    int         `json:"edits"`
}

func auditOf(run string, e StepFinished, now time.Time) audited {
	s := e.Result
	return audited{
		Time: eventTime(now), Run: run, Step: e.Step, Visit: e.Visit, Action: s.Action, Tool: s.Tool, OK: s.Success,
		Skipped: s.Skipped, Handled: s.Handled, Code: s.ErrorCode, Duration: millis(e.Duration), Cost: s.Cost,
		Files: len(s.FilesMatched), Edits: s.EditsApplied,
	}
}

// collected returns a function that counts bytes read, for events of the phase "collect".
func collected(notify func(Event)) func(n int) {
	var mu sync.Mutex
	var read, said int64
	return func(n int) {
		mu.Lock()
		defer mu.Unlock()
		if read += int64(n); read-said >= progressBytes {
			said = read
			notify(CommitPhase{Phase: "collect", Bytes: read})
		}
	}
}

// ProgressLine shows the events of runs on one line of a terminal. Its methods are safe for concurrent use. A nil
// *ProgressLine shows nothing.
type ProgressLine struct{ line *progress.Line }

// Progress returns a line on w, which must be a terminal, for [Executor.Observe]:
//
//	x.Observe = millrace.Progress(os.Stderr).Observe
//
// It shows the running step and the number of finished files, or the phase of the commit. It appears after 300 ms,
// changes at most ten times a second, never wraps, and is removed when the run is over. The time counts from this call.
func Progress(w io.Writer) *ProgressLine { return &ProgressLine{progress.New(w)} }

// Observe shows an event. The last event of a run removes the line.
func (p *ProgressLine) Observe(e Event) {
	if p == nil {
		return
	}
	switch e := e.(type) {
	case StepStarted:
		p.line.Show(fmt.Sprintf("step %s: %s", e.Step, e.Action))
	case StepProgress:
		of := ""
		if e.Total > 0 {
			of = fmt.Sprintf(" of %d", e.Total)
		}
		p.line.Show(fmt.Sprintf("step %s: %d%s files", e.Step, e.Done, of))
	case CommitPhase:
		done := ""
		if e.Total > 0 {
			done = fmt.Sprintf(": %d of %d", e.Done, e.Total)
		}
		if e.Bytes > 0 {
			done += fmt.Sprintf(", %d MiB", e.Bytes>>20)
		}
		p.line.Show("commit, " + e.Phase + done)
	case RunFinished:
		p.line.Clear()
	}
}

// Clear removes the line, to make room for other output. The next event brings it back.
func (p *ProgressLine) Clear() {
	if p != nil {
		p.line.Clear()
	}
}

// Done removes the line for good. It may be called more than once.
func (p *ProgressLine) Done() {
	if p != nil {
		p.line.Done()
	}
}
