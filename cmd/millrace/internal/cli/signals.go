package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/millrace-go/millrace"
)

// stoppingWait is the maximum time for writing the message about stopping, before the program stops without it.
const stoppingWait = 100 * time.Millisecond

// written is the state of the tree after the writes of a run so far.
type written int

const (
	notWritten    written = iota // unchanged, or restored
	partlyWritten                // between the first and the last file of a commit
	allWritten                   // the change is complete
)

// interrupts handles the signals that stop the process, and records the state of the tree, because a second signal ends
// the process immediately.
type interrupts struct {
	stderr io.Writer
	mu     sync.Mutex // held while the process ends, so that no commit begins then
	tree   written
}

// observe records the state of the tree. An observer is called before a phase begins, and the run waits for it.
func (i *interrupts) observe(e millrace.Event) {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	switch e := e.(type) {
	case millrace.RunStarted:
		if i.tree == allWritten { // a server continues with the next call
			i.tree = notWritten
		}
	case millrace.CommitPhase:
		if e.Phase == "apply" || e.Phase == "rollback" {
			i.tree = partlyWritten
		}
	case millrace.RunFinished:
		if e.Result == nil {
			return
		}
		switch e.Result.Commit.State {
		case millrace.CommitApplied:
			i.tree = allWritten
		case millrace.CommitRolledBack:
			i.tree = notWritten
		}
	}
}

// stopSignals returns the signals that ask a process to stop. Signals that were ignored when it was started, as with
// nohup, stay ignored.
func stopSignals() []os.Signal {
	return slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
}

// context returns a context that the first of the signals cancels. The second signal ends the process immediately. The
// exit status reports the state of the tree; the next run recovers an unfinished commit.
func (i *interrupts) context(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	if list := stopSignals(); len(list) > 0 { // an empty list would mean all signals
		signal.Notify(signals, list...)
	}
	done := make(chan struct{})
	go func() {
		for stopping := false; ; stopping = true {
			select {
			case <-done:
				return
			case <-signals:
				if stopping {
					i.end()
				}
				i.say("stopping")
				cancel(errInterrupted)
			}
		}
	}()
	return ctx, func() {
		// Signals stay caught: otherwise a signal now would end the process as if nothing had been done.
		close(done)
		cancel(nil)
	}
}

// end ends the process, and reports the state of the tree if it has changed.
func (i *interrupts) end() {
	i.mu.Lock()
	switch i.tree {
	case partlyWritten:
		i.say("stopped in the middle of a commit; run: millrace recover")
		os.Exit(exitRecovery)
	case allWritten:
		i.say("stopped; the change was made")
		os.Exit(exitFailed)
	}
	os.Exit(exitInterrupted)
}

// say writes a line to stderr. If nobody reads stderr, the next signal is still handled.
func (i *interrupts) say(text string) {
	shieldPipe() // the user may have closed the reader of stderr
	said := make(chan struct{})
	go func() {
		defer close(said)
		fmt.Fprintln(i.stderr, "millrace: "+text)
	}()
	select {
	case <-said:
	case <-time.After(stoppingWait):
	}
}
