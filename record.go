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

// Recorder keeps what was answered from outside, so that it is not asked for twice: a dry run and the run after it,
// with the same [Executor.Recorder], ask an agent, run a command, and call a pure tool once. It is asked from several
// goroutines.
//
// Files in the shared directory of the steps are not recorded.
//
// A key is 64 hexadecimal digits: a hash of what was asked, of the visit and the attempt, of what the step before has
// said, and of what was staged then. For a command, and for an agent with a workspace, the tree is in it too, with the
// names, sizes, times and identities of all files, so an answer is not taken for a tree that has changed. The host's
// policy is not in it, so a Recorder belongs to executors of the same policy: a recorded answer is taken without any
// check.
//
// The Recorder of a kept run, see [Executor.Checkpoints], should last as long as the run: then a process that resumes
// the run does not repeat calls that the process before had no time to keep. It should serve that run alone, and leave
// out the answers of visits that failed and ended the run, for a resume tries them again.
type Recorder interface {
	// Find returns what was kept under the key; ok is false for nothing. An error fails the step, which asks nothing
	// then.
	Find(key string) (r Recorded, ok bool, err error)
	// Keep keeps it. An error is a warning of the step.
	Keep(key string, r Recorded) error
}

// Recorded is what was answered once.
type Recorded struct {
	// Output and Data are what the step has of them, also beside an error. Data is what JSON has, with whole numbers as
	// int64, and must not be changed.
	Output string `json:"output,omitempty"`
	Data   any    `json:"data,omitempty"`
	// Cost is what it has cost. It is not spent again; in a run that is resumed it counts for the visit that was going
	// on.
	Cost budget.Cost `json:"cost_usd,omitempty"`
	// Error is the text of the error, "" for none, ErrorCode its code. Final means that another attempt is of no use.
	Error     string `json:"error,omitempty"`
	ErrorCode string `json:"error_code,omitempty"`
	Final     bool   `json:"final,omitempty"`
	// Changes are what the step has changed in its workspace, to be staged again.
	Changes []RecordedChange `json:"changes,omitempty"`
	// Recent are the files that were changed so shortly before the answer that their times do not tell all of their
	// contents apart, by path. The answer is taken only as long as they have these bytes.
	Recent map[string]change.Hash `json:"recent,omitempty"`
}

// RecordedChange is what a step has changed at one path of its workspace.
type RecordedChange struct {
	// Path is where it stands now; of what was removed, where it stood. From is where it stood before, if it was
	// renamed.
	Path string `json:"path"`
	From string `json:"from,omitempty"`
	// Kind is what it is now, change.Absent for what was removed; Mode are its permission bits, Target that of a link.
	Kind   change.Kind `json:"kind"`
	Mode   fs.FileMode `json:"mode,omitempty"`
	Target string      `json:"target,omitempty"`
	// Bytes are those of a file that was written, nil for all else.
	Bytes []byte `json:"bytes,omitzero"`
}

type plainRecorded Recorded

// UnmarshalJSON reads what encoding/json has written of one, and loses no digit of a number.
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

// NewMemoryRecorder returns a [Recorder] that keeps up to a thousand answers of 64 MiB together, the newest. It is safe
// for concurrent use. One answer alone that is longer is an error of Keep.
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

// Checkpointer keeps how far a run has come, so that another process can go on with it: see [Executor.Checkpoints] and
// [Executor.Resume]. An error of a method ends the run with that error, and nothing is committed; what was kept before
// stays good. The methods are called from several goroutines in a run in parallel, but Keep never at the same time as
// another Keep.
//
// A Checkpointer that has the method of an [Approver] is shown what is to be committed.
type Checkpointer interface {
	// Enter is called before each attempt, and before the commit of what was changed: the Step of the position is ""
	// then, and its Index the number of steps. An error that matches ErrHold ends the run in front of it, with a
	// *HeldError. Steps that are skipped are not entered.
	Enter(ctx context.Context, at Position) error
	// Keep is called after each attempt, one at a time, and once for each visit that was skipped. The run goes on when
	// it returns. The checkpoint must not be changed, and is not changed later. An attempt that the end of its
	// context has cut short is not kept, nor is an attempt that the process did not survive.
	Keep(ctx context.Context, c Checkpoint) error
	// Spill is where the run puts the bytes of files that it has written as a whole: those that a Delta names. They are
	// needed as long as the run is to be resumed. It is asked for once a run, and its bytes must still be there, at the
	// same offsets, when the run is resumed. Nil means a temporary file, for a run that is never going to be.
	Spill() fsutil.Spill
}

// Position is a place in a run: an attempt of a visit of a step, or the commit.
type Position struct {
	// Step is the id of the step, Index its place in the pipeline, from 0. The commit has "" and the number of steps.
	Step  string `json:"step"`
	Index int    `json:"index"`
	// Visit counts the arrivals at the step, and Attempt the attempts in that visit, both from 1. Attempt is 0 for a
	// visit that was skipped; of the commit both are 0.
	Visit   int `json:"visit,omitempty"`
	Attempt int `json:"attempt,omitempty"`
}

// Checkpoint is what came of an attempt, and what it takes to go on behind it. Its fields can be kept as JSON.
//
// One without a Result (its StepID is "") is a mark: that the run was held at the position, that an attempt which acts
// outside of the tree has begun there, or that the commit begins. It has neither a Delta nor a job of its own, but it
// has to be kept among the others and given back with them: it is what lets a run that is resumed go through where it
// was held. One at the commit is given back also where the run goes back to before a step: it has what the commit took
// away, which is how files that were put back after a crash are known.
type Checkpoint struct {
	Position
	// Result is what the step has done, as it stands in the Result of a run. Of an attempt that is followed by another
	// one it is that attempt's.
	Result StepResult `json:"result"`
	// Final means that the visit is over. A run goes on behind a Final checkpoint.
	Final bool `json:"final,omitempty"`
	// State is the interpreter's, and of no use to others.
	State json.RawMessage `json:"state,omitempty"`
	// Parent is the number of the checkpoint whose Delta this one's follows, 0 for none: checkpoints are numbered from
	// 1, those of [Saved] first, in the order in which they were kept.
	Parent int `json:"parent,omitempty"`
	// Delta is what has changed on the stage since Parent, nil if that cannot be anything. It is bytes, of any value.
	Delta []byte `json:"delta,omitempty"`
}

// Saved is what a [Checkpointer] has kept of a run.
type Saved struct {
	// Checkpoints are all that were given to Keep, in that order. To go back to before a step, leave out those behind
	// the one to go on from. An error ends Resume. Nil is none: the run begins anew.
	Checkpoints iter.Seq2[Checkpoint, error]
	// Began is when the run began first. Nothing of the tree was read before. The zero time has every file that was
	// read compared by its bytes before the commit.
	Began time.Time
	// Force lifts what [Options.Force] lifts, and the pipeline stays the same for its Digest and for [Executor.RunID].
	Force bool
}

// Drift is one path of the tree that is not what a run rests on any more.
type Drift struct {
	Path string
	// Reason is "content", "removed", "created", "kind", "mode", "target" (of a symbolic link) or "entries" (of a
	// directory that was moved or removed as a whole: other names in it, and where it is removed also files in it that
	// were changed).
	Reason string
	// Step is the id of the step that has read it first.
	Step string
}

// DriftError means that a run cannot be resumed, for another program has changed what its steps have read. Nothing was
// written. It matches fsutil.ErrDrift, and its code is "drift".
type DriftError struct {
	Drifts []Drift // at least one, by path
	// From is the id of the step to resume from instead: the first that rests on any of them.
	From string
	// Outside is the id of the first step behind it that has acted outside of the tree, and would do so once more then,
	// "" for none.
	Outside string
}

// Error gives "base has changed since step 'find' read it: src/a.go (content), src/b.go (removed); resume from 'find'",
// and which step would act outside of the tree once more.
func (e *DriftError) Error() string { return e.message().Error() }

// As gives a door of the project the message in its parts.
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
