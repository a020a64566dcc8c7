package web

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"github.com/millrace-go/millrace/internal/page"
)

// pollWait is the time between two reads of a run for a page.
const pollWait = 300 * time.Millisecond

// events sends the changing part of the page of a run, after each change, until the run ends or waits.
func (s *store) events(w http.ResponseWriter, r *http.Request, run *shownRun) {
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	tick := time.NewTicker(pollWait)
	defer tick.Stop()
	var sent []byte
	for {
		var p page.Page
		s.jobs(&p, run)
		over := run.Status.Ended() || run.waits()
		if !bytes.Equal(sent, p.Bytes()) || over {
			sent = p.Bytes()
			if _, err := w.Write(event(over, p.String())); err != nil || control.Flush() != nil || over {
				return
			}
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
		now, jobs, err := s.runs.Get(r.Context(), run.ID)
		if err != nil {
			return
		}
		run = &shownRun{now, jobs}
	}
}

// event returns an event. An event with the name over makes the page load again.
func event(over bool, data string) []byte {
	name := "change"
	if over {
		name = "over"
	}
	return []byte("event: " + name + "\ndata: " + strings.ReplaceAll(data, "\n", "\ndata: ") + "\n\n")
}
