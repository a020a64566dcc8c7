package mcpserver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
)

// progressPause is the time between two notices: at most five a second.
const progressPause = 200 * time.Millisecond

// counter numbers the notices in increasing order.
type counter struct {
	mu   sync.Mutex
	last float64
}

func (c *counter) next() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	return c.last
}

// progress reports the progress of a call to the client, if it sent a progress token. The run never waits for the
// client: the next notice replaces an unsent one.
type progress struct {
	counter *counter
	steps   int
	notices chan string
	quit    chan struct{}
	done    chan struct{}
	once    sync.Once
	send    func(number float64, message string)
}

// newProgress starts to report. The result is never nil, and stop must be called.
func newProgress(ctx context.Context, req *mcp.CallToolRequest) *progress {
	p := &progress{counter: &counter{}}
	token := req.Params.GetProgressToken()
	if token == nil || req.Session == nil {
		return p
	}
	p.start(func(number float64, message string) {
		// The call itself notices a client that has disconnected.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: number,
			Message: message})
	})
	return p
}

func (p *progress) start(send func(number float64, message string)) {
	p.send, p.notices, p.quit, p.done = send, make(chan string, 1), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(p.done)
		for {
			select {
			case message := <-p.notices:
				p.send(p.counter.next(), message)
			case <-p.quit:
				return
			}
			select {
			case <-time.After(progressPause):
			case <-p.quit:
				return
			}
		}
	}()
}

// adopt continues the numbers of an earlier call.
func (p *progress) adopt(c *counter) {
	if c != nil {
		p.counter = c
	}
}

// stop ends the reports after the last notice was sent. A second call does nothing.
func (p *progress) stop() {
	p.once.Do(func() {
		if p.notices != nil {
			close(p.quit)
			<-p.done
		}
	})
}

// observe receives the events of a run.
func (p *progress) observe(e millrace.Event) {
	if p.notices == nil {
		return
	}
	message := p.message(e)
	if message == "" {
		return
	}
	select {
	case p.notices <- message:
	default: // the previous notice was not sent yet
		select {
		case <-p.notices:
		default:
		}
		select {
		case p.notices <- message:
		default:
		}
	}
}

// message returns the text for an event, "" for an event that is not reported.
func (p *progress) message(e millrace.Event) string {
	switch e := e.(type) {
	case millrace.RunStarted:
		p.steps = e.Steps
	case millrace.StepStarted:
		return fmt.Sprintf("step %d/%d %s [%s]", e.Index+1, p.steps, e.Step, fsutil.Visible(e.Action))
	case millrace.StepProgress:
		if e.Total > 0 {
			return fmt.Sprintf("%s: %d/%d files", e.Step, e.Done, e.Total)
		}
		return fmt.Sprintf("%s: %d files", e.Step, e.Done)
	case millrace.CommitPhase:
		switch {
		case e.Bytes > 0:
			return fmt.Sprintf("commit: %s, %d MiB", e.Phase, e.Bytes>>20)
		case e.Total > 0:
			return fmt.Sprintf("commit: %s %d/%d", e.Phase, e.Done, e.Total)
		}
		return "commit: " + e.Phase
	}
	return ""
}
