package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/millrace-go/millrace"
)

// eventStream writes the events of a run, and its outcome as the last line. A nil *eventStream writes nothing.
type eventStream struct {
	w      io.Writer
	file   io.Closer // nil for stdout
	err    error     // the first error of w
	result *millrace.Result
}

// Write keeps the first error, because an observer cannot return one.
func (e *eventStream) Write(p []byte) (int, error) {
	_, err := e.w.Write(visibleJSON(p)) // one line at a time
	if e.err == nil {
		e.err = err
	}
	return len(p), err
}

// openEvents opens the target of --events, and returns the observer; nil without --events.
func (a *App) openEvents() (func(millrace.Event), error) {
	a.events = &eventStream{}
	switch name := a.flags.events; name {
	case "":
		return nil, nil
	case "-":
		if f := a.flags.format; f != "" && f != formatNone {
			return nil, &usageError{fmt.Errorf("--events - and --format %s both write to stdout", f)}
		}
		a.events.w = a.Stdout
	default:
		f, err := os.OpenFile(a.base(name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return nil, &usageError{fmt.Errorf("--events: %w", err)}
		}
		a.events.w, a.events.file = f, f
	}
	return millrace.JSONEvents(a.events), nil
}

// close writes the last line, and returns the error of the stream.
func (e *eventStream) close(failed error) error {
	if e == nil || e.w == nil {
		return nil
	}
	last := struct {
		V      int              `json:"v"`
		Event  string           `json:"event"`
		Time   time.Time        `json:"time"`
		Result *millrace.Result `json:"result,omitempty"`
		Error  *failure         `json:"error,omitempty"`
	}{V: 1, Event: "result", Time: time.Now().UTC(), Result: e.result}
	if failed != nil {
		last.Error = failureOf(failed)
	}
	_ = encodeJSON(e, last) // Write keeps the error
	err := e.err
	if e.file != nil {
		err = errors.Join(err, e.file.Close())
	}
	switch {
	case err == nil:
		return nil
	case e.result != nil && e.result.Commit.State == millrace.CommitApplied:
		return &outputError{fmt.Errorf("events: %w; the change was made", err)}
	}
	return &outputError{fmt.Errorf("events: %w", err)}
}
