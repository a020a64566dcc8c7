package millrace

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"sync"
	"time"

	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// Recorder keeps answers from outside, so that nothing is asked twice: a dry run and the run after it, with the same
// [Executor.Recorder], ask an agent, run a command, and call a pure tool once. It is called from several goroutines.
//
// Files in the shared directory of the steps are not recorded.
//
// A key is 64 hexadecimal digits: a hash of the question, the visit and the attempt, the answer of the step before, and
// the changes staged at that time. For a command, and for an agent with a workspace, it includes the tree, with the
// names, sizes, times and identities of all files, so an answer is not used for a tree that has changed. It does not
// include the host's policy, so a Recorder belongs to executors of the same policy: a recorded answer is used without
// any check.
//
// The Recorder of a kept run, see [Executor.Checkpoints], should last as long as the run: then a process that resumes
// the run does not repeat calls that the process before had no time to keep. It should serve only that run, and leave
// out the answers of failed visits that ended the run, because Resume runs them again.
type Recorder interface {
	// Find returns the answer under the key; ok is false without an answer. An error fails the step, which then asks
	// nothing.
	Find(key string) (r Recorded, ok bool, err error)
	// Keep stores an answer under the key. An error is a warning of the step.
	Keep(key string, r Recorded) error
}

// Recorded is a recorded answer.
type Recorded struct {
	// Output and Data are the output and the data of the step, also of a failed step. Data has the types of JSON, with
	// whole numbers as int64, and must not be changed.
	Output string `json:"output,omitempty"`
	Data   any    `json:"data,omitempty"`
	// Cost is the cost of the answer. It is not spent again; in a resumed run it counts for the visit that was
	// interrupted.
	Cost budget.Cost `json:"cost_usd,omitempty"`
	// Error is the text of the error, "" for none. ErrorCode is its code. Final means that another attempt is useless.
	Error     string `json:"error,omitempty"`
	ErrorCode string `json:"error_code,omitempty"`
	Final     bool   `json:"final,omitempty"`
	// Changes are the changes of the step in its workspace, to be staged again.
	Changes []RecordedChange `json:"changes,omitempty"`
	// Recent are the files that were changed shortly before the answer, by path, because their times cannot distinguish
	// all their contents. The answer is used only while they have these bytes.
	Recent map[string]change.Hash `json:"recent,omitempty"`
}

// RecordedChange is the change of a step at one path of its workspace.
type RecordedChange struct {
	// Path is the present path, or the former path of a removed file. From is the former path of a renamed file.
	Path string `json:"path"`
	From string `json:"from,omitempty"`
	// Kind is the present kind, change.Absent for a removed file. Mode has its permission bits. Target is the target of a
	// link.
	Kind   change.Kind `json:"kind"`
	Mode   fs.FileMode `json:"mode,omitempty"`
	Target string      `json:"target,omitempty"`
	// Bytes is the content of a written file, otherwise nil.
	Bytes []byte `json:"bytes,omitzero"`
}

type plainRecorded Recorded

// UnmarshalJSON reads the JSON of a Recorded, and keeps all digits of numbers.
func (r *Recorded) UnmarshalJSON(data []byte) error {
	var v struct {
		plainRecorded
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	*r = Recorded(v.plainRecorded)
	var err error
	r.Data, err = readData(v.Data)
	return err
}

// Limits of a recorder in memory.
const (
	mostRecorded      = 1_000
	mostRecordedBytes = 64 << 20
)

// NewMemoryRecorder returns a [Recorder] that keeps the newest answers, at most a thousand and at most 64 MiB together.
// It is safe for concurrent use. Keep returns an error for an answer that is longer alone.
func NewMemoryRecorder() Recorder {
	return &memoryRecorder{kept: make(map[string][]byte)}
}

// memoryRecorder keeps answers as JSON, so that nothing in them is shared.
type memoryRecorder struct {
	mu    sync.Mutex
	kept  map[string][]byte
	keys  []string // the oldest first
	bytes int
}

// Find implements [Recorder].
func (m *memoryRecorder) Find(key string) (r Recorded, ok bool, err error) {
	m.mu.Lock()
	data, ok := m.kept[key]
	m.mu.Unlock()
	if ok {
		err = json.Unmarshal(data, &r)
	}
	return r, ok, err
}

// Keep implements [Recorder].
func (m *memoryRecorder) Keep(key string, r Recorded) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if len(data) > mostRecordedBytes {
		return fmt.Errorf("it is too long (max %d bytes, got %d)", mostRecordedBytes, len(data))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.kept[key]; ok {
		m.bytes -= len(old)
	} else {
		m.keys = append(m.keys, key)
	}
	m.kept[key] = data
	m.bytes += len(data)
	for len(m.keys) > mostRecorded || m.bytes > mostRecordedBytes {
		oldest := m.keys[0]
		m.keys = m.keys[1:]
		m.bytes -= len(m.kept[oldest])
		delete(m.kept, oldest)
	}
	return nil
}

// Checkpointer keeps the progress of a run, so that another process can continue it: see [Executor.Checkpoints] and
// [Executor.Resume]. An error of a method ends the run with that error, and nothing is committed; earlier checkpoints
// stay valid. The methods are called from several goroutines in a parallel run, but Keep never concurrently with
// another Keep.
//
// A Checkpointer with the method of an [Approver] sees the plan before the commit.
type Checkpointer interface {
	// Enter is called before each attempt, and before the commit of changes: then the Step of the position is "", and its
	// Index the number of steps. An error that matches ErrHold ends the run before the attempt or the commit, with a
	// *HeldError. Skipped steps are not entered.
	Enter(ctx context.Context, at Position) error
	// Keep is called after each attempt, one at a time, and once for each skipped visit. The run continues when it
	// returns. The checkpoint must not be changed, and is not changed later. An attempt that was cut short by the end of
	// its context is not kept, nor is an attempt that the process did not survive.
	Keep(ctx context.Context, c Checkpoint) error
	// Spill returns the storage for the bytes of files that the run has written as a whole, to which a Delta refers. They
	// are needed as long as the run can be resumed. Spill is called once per run, and its bytes must still be there, at
	// the same offsets, when the run is resumed. Nil means a temporary file, for a run that will never be resumed.
	Spill() fsutil.Spill
}

// Position is a place in a run: an attempt of a visit of a step, or the commit.
type Position struct {
	// Step is the id of the step, Index its place in the pipeline, from 0. The commit has "" and the number of steps.
	Step  string `json:"step"`
	Index int    `json:"index"`
	// Visit counts the arrivals at the step, and Attempt the attempts in that visit, both from 1. Attempt is 0 for a
	// skipped visit; both are 0 for the commit.
	Visit   int `json:"visit,omitempty"`
	Attempt int `json:"attempt,omitempty"`
}

// Checkpoint is the result of an attempt, and the state that is needed to continue after it. Its fields can be kept as
// JSON.
//
// A checkpoint without a Result (its StepID is "") is a mark: the run was held at the position, or an attempt which
// acts outside of the tree has begun there, or the commit begins. It has no Delta, but it must be kept in order and
// returned with the others: it lets a resumed run pass the place where it was held. A mark of the commit is returned
// even if the run goes back to before a step: it lists the files that the commit removed, so that files restored after
// a crash are recognized.
type Checkpoint struct {
	Position
	// Result is the result of the step, as in the Result of a run. If another attempt follows, it is the result of this
	// attempt.
	Result StepResult `json:"result"`
	// Final means that the visit is over. A resumed run continues after a Final checkpoint.
	Final bool `json:"final,omitempty"`
	// State is the state of the interpreter, for internal use only.
	State json.RawMessage `json:"state,omitempty"`
	// Parent is the number of the checkpoint whose Delta precedes this Delta, 0 for none. Checkpoints are numbered from 1:
	// first the checkpoints of [Saved], then the new checkpoints, in the order in which they were kept.
	Parent int `json:"parent,omitempty"`
	// Delta has the changes of the stage since Parent, nil if there cannot be any. It may contain any bytes.
	Delta []byte `json:"delta,omitempty"`
}

// Saved is the state of a run kept by a [Checkpointer].
type Saved struct {
	// Checkpoints are all checkpoints passed to Keep, in that order. To go back to before a step, leave out the
	// checkpoints after the last one to keep. An error ends Resume. Nil means none: the run starts from the beginning.
	Checkpoints iter.Seq2[Checkpoint, error]
	// Began is the time when the run first began. The tree was not read before. With the zero time, every file that was
	// read is compared by its bytes before the commit.
	Began time.Time
	// Force lifts the same limits as [Options.Force], but the pipeline stays the same for its Digest and for
	// [Executor.RunID].
	Force bool
}

// Drift is a path of the tree that has changed since a run has read it.
type Drift struct {
	Path string
	// Reason is "content", "removed", "created", "kind", "mode", "target" (of a symbolic link) or "entries" (of a
	// directory that was moved or removed as a whole: its names have changed, or if it is removed also files in it).
	Reason string
	// Step is the id of the first step that has read it.
	Step string
}

// DriftError means that a run cannot be resumed, because another program has changed paths that its steps have read.
// Nothing was written. It matches fsutil.ErrDrift, and its code is "drift".
type DriftError struct {
	Drifts []Drift // at least one, by path
	// From is the id of the step to resume from instead: the first step that depends on any of the paths.
	From string
	// Outside is the id of the first step from there on that has acted outside of the tree, and would act once more, ""
	// for none.
	Outside string
}

// Error returns "base has changed since step 'find' read it: src/a.go (content), src/b.go (removed); resume from
// 'find'", and the step that would act outside of the tree once more.
func (e *DriftError) Error() string { return e.message().Error() }

// As sets target to the message in its parts, for a door of the project.
func (e *DriftError) As(target any) bool { return e.message().Give(target) }

func (e *DriftError) message() *worded.Error {
	paths := make([]string, len(e.Drifts))
	for i, d := range e.Drifts {
		paths[i] = fmt.Sprintf("%s (%s)", fsutil.Visible(d.Path), d.Reason)
	}
	outside := ""
	if e.Outside != "" {
		outside = fmt.Sprintf(", but step '%s' has acted outside of the tree, and does so again then", e.Outside)
	}
	from := wording.Part{Kind: kinds.ResumeFrom, Text: "resume from '" + e.From + "'", Value: e.From}
	return worded.Errorf("base has changed since step '%s' read it: %s; %v%s", e.From, names.Few(paths, ", "), from,
		outside)
}

// Paths returns the paths that have changed.
func (e *DriftError) Paths() []string {
	paths := make([]string, len(e.Drifts))
	for i, one := range e.Drifts {
		paths[i] = one.Path
	}
	return paths
}

// Unwrap returns fsutil.ErrDrift.
func (e *DriftError) Unwrap() error { return fsutil.ErrDrift }

// Code returns "drift".
func (e *DriftError) Code() string { return errorform.Drift }
