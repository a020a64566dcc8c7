package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/millrace-go/millrace/internal/recordlog"
	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/runs"
)

// lockWait is the time that an owner tries to lock a run: processes that only check the lock hold it for a moment.
const lockWait = 200 * time.Millisecond

// maxReason is the largest size of the reason in a record, in bytes.
const maxReason = 4 << 10

// writer works on a run: it holds the lock of its file of records, so no other process writes into its directory. It
// comes from [Store.create] or [Store.own] and must be closed.
//
// append records an event, with the fields of its kind of record. [writer.value] and [writer.blob] store larger bytes,
// to which a later record can refer. spill is for the stage of the run, line for the log of a job, state for the state
// that results from the records, which append keeps up to date.
//
//	w, err := s.own(number)
//	...
//	defer w.close()
//	err = w.append(&record{Kind: kindTake, Status: runs.Pending, Take: w.me()})
//	ordinal, err := w.jobFor(index)
//	err = w.append(&record{Kind: kindStart, Status: runs.Running, Job: ordinal, At: placeOf(at)})
//	result, err := w.value(stepResult)
//	delta, err := w.blob(c.Delta)
//	ended := &done{Result: result, Delta: delta, Final: true}
//	err = w.append(&record{Kind: kindDone, Job: ordinal, At: placeOf(at), Done: ended})
//	err = w.append(&record{Kind: kindEnd, Status: runs.Success, End: &end{Result: whole}})
//
// All methods are safe for concurrent use.
type writer struct {
	s      *Store
	number int64
	lock   io.Closer

	mu      sync.Mutex
	run     *folded
	records *recordlog.Writer
	text    *recordlog.Text
	index   recordlog.File // nil: not opened yet, or it cannot be opened
	closed  bool

	data *recordlog.Data
	// fresh means that a file was created in the directory of the run, and its name is not durable yet.
	fresh atomic.Bool
}

func (s *Store) newWriter(number int64, lock io.Closer) *writer {
	w := &writer{s: s, number: number, lock: lock}
	w.text = recordlog.NewText(s.openFor(number, logFile, func() {}))
	return w
}

func (w *writer) made() { w.fresh.Store(true) }

// synced reports whether a record is durable when append returns. Durable records are acknowledged or paid work, holds,
// the beginning of outside actions and of the commit, and the end. All other records can be repeated.
func synced(r *record) bool {
	switch r.Kind {
	case kindCreated, kindAnswer, kindHold, kindCommit, kindEnd:
		return true
	case kindDone:
		return r.Done.Mark && r.At.Step != ""
	case kindTake, kindState, kindStart, kindPlay, kindRetry, kindCancel:
	}
	return false
}

// append writes a record, adds it to the state, and writes the slot of the index. It sets the record's time and its
// reference to the data added since the record before. After an error the record does not exist, and the state is
// unchanged; a record that was durable before stays durable.
func (w *writer) append(r *record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return os.ErrClosed
	}
	if r.Time.IsZero() {
		r.Time = w.s.now().UTC()
	}
	r.Reason = show.Within(r.Reason, maxReason)
	if span := w.data.Since(); span.Length > 0 {
		r.Appended = &span
	}
	if err := r.parts(); err != nil {
		return err
	}
	if err := w.run.check(r); err != nil {
		return fmt.Errorf("record %q of run %d: %w", r.Kind, w.number, err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := w.prepare(r); err != nil {
		return err
	}
	if lastly := r.Kind == kindEnd || r.Kind == kindCancel || r.Kind == kindState; lastly {
		err = w.records.AppendLast(text)
	} else {
		err = w.records.Append(text)
	}
	if err != nil {
		return err
	}
	if synced(r) && w.s.d.Sync {
		err = w.records.Sync()
	}
	if err = errors.Join(err, w.run.add(r)); err != nil {
		return err
	}
	if r.Status != "" || !w.run.status.Active() {
		e := w.entry()
		if synced(r) && !e.status.Ended() {
			e.size = w.records.End().Offset
		}
		w.writeSlot(e)
	}
	return nil
}

// prepare prepares the files for a record.
func (w *writer) prepare(r *record) error {
	rests := w.run.created != nil && (w.run.status.Ended() || w.run.status == runs.Manual)
	if rests && r.Status != "" && r.Status != w.run.status {
		// The slot of a run that has ended, or waits, is trusted. So it must be changed before the status changes.
		e := w.entry()
		if e.status = r.Status; e.status.Ended() {
			e.status = runs.Running
		}
		w.writeSlot(e)
	}
	if !w.s.d.Sync || !synced(r) {
		return nil
	}
	if w.index != nil && r.Kind == kindEnd && w.run.endings > 0 {
		// After a power cut, the slot of the earlier end must not come back either.
		if err := w.index.Sync(); err != nil {
			w.dropIndex()
		}
	}
	if err := w.data.Sync(); err != nil {
		return err
	}
	if r.Kind == kindEnd && w.run.created.Fleet != nil {
		if err := w.syncChildren(); err != nil {
			return err
		}
	}
	if w.fresh.Swap(false) {
		if err := w.s.d.SyncAnyDir(w.s.layout.run(w.number)); err != nil {
			w.fresh.Store(true)
			return err
		}
	}
	return nil
}

func (w *writer) entry() entry {
	e := entryOf(shownRun{folded: w.run, number: w.number})
	e.signer = w.s.signer()
	return e
}

// writeSlot writes the slot of the run. The index is only for speed: if it cannot be written, it is dropped.
func (w *writer) writeSlot(e entry) {
	if !w.hasIndex() {
		return
	}
	if _, err := w.index.WriteAt(e.encode(), w.number*slotSize); err != nil {
		w.dropIndex()
	}
}

func (w *writer) hasIndex() bool {
	if w.index == nil {
		f, err := w.s.openIndex()
		if err != nil {
			return false
		}
		w.index = f
	}
	return true
}

// replaceSlot is writeSlot for an index that already has a slot of the run. It does not extend the index, because a
// number that came with the tree may be very high.
func (w *writer) replaceSlot(e entry) {
	if !w.hasIndex() {
		return
	}
	if info, err := w.index.Stat(); err == nil && info.Size() > w.number*slotSize {
		w.writeSlot(e)
	}
}

func (w *writer) dropIndex() {
	_ = w.index.Close() // nothing depends on it
	w.index = nil
}

// state calls do with the state that results from the records. do must not keep it, and must not call the writer.
func (w *writer) state(do func(f *folded)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do(w.run)
}

// jobFor returns the ordinal of the job for an attempt of the step with that index, or of the commit, whose index is
// the number of steps. It stays the same until a record kindStart, kindDone, kindHold or kindCommit uses it.
func (w *writer) jobFor(index int) (ordinal int, err error) {
	w.state(func(f *folded) { ordinal, err = f.jobFor(index) })
	return ordinal, err
}

// value returns a value as JSON, inline if it is short, else in the run's data.
func (w *writer) value(v any) (value, error) {
	text, err := json.Marshal(v)
	if err != nil || len(text) <= maxInline {
		return value{JSON: text}, err
	}
	return w.put(text)
}

// blob returns a value of the bytes: few bytes inline, more bytes in the run's data. The value of no bytes is zero.
func (w *writer) blob(p []byte) (value, error) {
	if len(p) <= maxInline {
		return value{Bytes: p}, nil
	}
	return w.put(p)
}

func (w *writer) put(p []byte) (value, error) {
	span, err := w.data.Put(p)
	return value{Span: &span}, err
}

// spill returns the storage for the bytes of the run's stage and of values.
func (w *writer) spill() *recordlog.Data { return w.data }

// line writes the lines of a text into the log of a job. endLog is called when the job has ended.
func (w *writer) line(ordinal int, text string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return os.ErrClosed
	}
	return w.text.Write(ordinal, w.s.now(), text)
}

// endLog marks the log of a job as complete.
func (w *writer) endLog(ordinal int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return os.ErrClosed
	}
	return w.text.End(ordinal, w.s.now())
}

// me returns this process for a record kindTake.
func (w *writer) me() *take {
	host, _ := os.Hostname() // the name is only for display
	return &take{PID: os.Getpid(), Host: host}
}

// close releases the run. It writes no record: an active run then looks like a run whose process has died.
func (w *writer) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closeAll()
}

func (w *writer) closeAll() error {
	if w.closed {
		return nil
	}
	w.closed = true
	if w.index != nil {
		w.dropIndex()
	}
	return errors.Join(w.text.Close(), w.data.Close(), w.records.Close(), w.lock.Close())
}
