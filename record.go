package millrace

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"sync"

	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/change"
)

// Recorder keeps what was answered from outside, so that it is not asked for twice: a dry run and the run after it, with
// the same [Executor.Recorder], ask an agent, run a command, and call a pure tool once. It is asked from several goroutines.
//
// What a step has put into the directory that the steps share is not on record.
//
// A key is 64 hexadecimal digits: a hash of what was asked, of the visit and the attempt, of what the step before has
// said, and of what was staged then. For a command, and for an agent with a workspace, the tree is in it too, with the
// names, sizes, times and identities of all files, so an answer is not taken for a tree that has changed. What the host
// allows is not in it, so a Recorder belongs to executors that allow the same: an answer that is on record is taken without
// asking anything.
//
// That of a run which is kept, see [Executor.Checkpoints], should last as long as that: then a process that goes on with the
// run does not ask again what the one before had not come to keep. It should be of that run alone, and leave out the
// answers of visits that have failed and ended the run, for to resume it is to try them again.
type Recorder interface {
	// Find returns what was kept under the key; ok is false for nothing. An error fails the step, which asks nothing then.
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
	// Cost is what it has cost. It is not spent again; in a run that is resumed it counts for the visit that was going on.
	Cost budget.Cost `json:"cost_usd,omitempty"`
	// Error is the text of the error, "" for none, ErrorCode its code. Final says that another attempt is of no use.
	Error     string `json:"error,omitempty"`
	ErrorCode string `json:"error_code,omitempty"`
	Final     bool   `json:"final,omitempty"`
	// Changes are what the step has changed in its workspace, to be staged again.
	Changes []RecordedChange `json:"changes,omitempty"`
	// Recent are the files that were changed so shortly before the answer that their times do not tell all of their contents
	// apart, by path. The answer is taken only as long as they have these bytes.
	Recent map[string]change.Hash `json:"recent,omitempty"`
}

// RecordedChange is what a step has changed at one path of its workspace.
type RecordedChange struct {
	// Path is where it stands now; of what was removed, where it stood. From is where it stood before, if it was renamed.
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

// What a recorder in memory keeps at most.
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
