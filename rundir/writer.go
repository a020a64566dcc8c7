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

// lockWait is how long an owner tries to get the lock of a run: those that only look whether it is held have it for
// moments.
const lockWait = 200 * time.Millisecond

// maxReason is how long the reason of a record can be, in bytes.
const maxReason = 4 << 10

// writer works on a run: it holds the lock of its file of records, and no other writes into its
// directory. It comes from [Store.create] or [Store.own] and has to be closed.
//
// append records an event, with the fields of its kind of record. [writer.value] and [writer.blob] put
// larger bytes where a record can name them, before it is appended. spill is for the stage of the run, line for the log
// of a job, state for what the records come to, which append keeps up to date.
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
	index   recordlog.File // nil: not opened yet, or it cannot be
	closed  bool

	data *recordlog.Data
	// fresh means that a file was made in the directory of the run, and its name is not durable yet.
	fresh atomic.Bool
}

func (s *Store) newWriter(number int64, lock io.Closer) *writer {
	w := &writer{s: s, number: number, lock: lock}
	w.text = recordlog.NewText(s.openFor(number, logFile, func() {}))
	return w
}

func (w *writer) made() { w.fresh.Store(true) }

// synced reports whether a record is durable when append returns: what was acknowledged, what was paid for, what a
// person waits for, that a step acts outside of the tree or that the tree is written to from here on, and how it ended.
// All else can be done again.
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

// append writes a record, takes it into the state, and writes the slot of the index. It gives the record the time and
// the name of what was put into the data since the record before. After an error the record is not there, and the state
// is as it was; a record that was durable before stays so.
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

// prepare does what has to be done before a record is written.
func (w *writer) prepare(r *record) error {
	rests := w.run.created != nil && (w.run.status.Ended() || w.run.status == runs.Manual)
	if rests && r.Status != "" && r.Status != w.run.status {
		// A slot whose run has ended, or waits, is trusted. So it must not say so any more, however this
		// goes on.
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
		// A power cut must not bring back the slot of an ending before this one either.
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

// writeSlot tells the index of the run. The index is only there to be fast: what cannot be written to is gone without.
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

// replaceSlot is writeSlot for an index that has a slot of the run. It does not become longer for a number that came
// with the tree, and may be very high.
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

// state calls do with what the records come to. do must not keep it, and must not call the writer.
func (w *writer) state(do func(f *folded)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do(w.run)
}

// jobFor returns the ordinal of the job that an attempt of the step with that index is, or of the commit, which has the
// number of steps as index. It is the same until a record kindStart, kindDone, kindHold or kindCommit names it.
func (w *writer) jobFor(index int) (ordinal int, err error) {
	w.state(func(f *folded) { ordinal, err = f.jobFor(index) })
	return ordinal, err
}

// value returns a value as JSON, in itself if it is short, else in the run's data.
func (w *writer) value(v any) (value, error) {
	text, err := json.Marshal(v)
	if err != nil || len(text) <= maxInline {
		return value{JSON: text}, err
	}
	return w.put(text)
}

// blob returns a value of the bytes: few bytes inline, other bytes in the run's data. The value of no bytes is zero.
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

// spill is where the stage of the run puts its bytes, and where the bytes of values are.
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

// endLog tells the log that a job writes no more.
func (w *writer) endLog(ordinal int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return os.ErrClosed
	}
	return w.text.End(ordinal, w.s.now())
}

// me names this process for a record kindTake.
func (w *writer) me() *take {
	host, _ := os.Hostname() // it is only shown
	return &take{PID: os.Getpid(), Host: host}
}

// close gives the run back. It is not a record: of an active run it reports that the process has died.
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
