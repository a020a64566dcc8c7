package millrace

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// eventVersion is the version of the lines that JSONEvents writes. Fields may be added to it.
const eventVersion = 1

// JSONEvents returns a function for [Executor.Observe] that writes each event as a line of JSON:
//
//	{"v":1,"event":"step_started","time":"2026-01-02T15:04:05.678Z","step":"find","index":0,"action":"search"}
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

// eventLine puts what all lines have in common before the fields of the event.
func eventLine(e Event, now time.Time) ([]byte, error) {
	fields, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	const millis = "2006-01-02T15:04:05.000Z07:00"
	head := fmt.Appendf(nil, `{"v":%d,"event":%q,"time":%q,`, eventVersion, e.Kind(), now.UTC().Format(millis))
	return append(append(head, fields[1:]...), '\n'), nil
}

type plainStepFinished StepFinished

// MarshalJSON writes the duration in milliseconds.
func (e StepFinished) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		plainStepFinished
		Duration millis `json:"duration"`
	}{plainStepFinished(e), millis(e.Duration)})
}
