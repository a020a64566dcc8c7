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

// stoppingWait is how long the line that says so may take to be written, before the program stops without it.
const stoppingWait = 100 * time.Millisecond

// written is what a run of the process has made of the tree so far.
type written int

const (
	notWritten    written = iota // as it was, or as it was again
	partlyWritten                // between the first and the last file of a commit
	allWritten                   // the change was made
)

// interrupts are the signals that stop the process, and what becomes of the tree where a second one ends it at once.
type interrupts struct {
	stderr io.Writer
	mu     sync.Mutex // it is held while the process ends, so that no commit begins then
	tree   written
}

// observe notes what a run makes of the tree. An observer is called before a phase begins, and the run waits for it.
func (i *interrupts) observe(e millrace.Event) {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	switch e := e.(type) {
	case millrace.RunStarted:
		if i.tree == allWritten { // a server goes on to the next call
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

// stopSignals are the signals that ask a process to stop. Signals that it was started to ignore, as by nohup, stay
// ignored.
func stopSignals() []os.Signal {
	return slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
}

// context returns a context that the first of the signals cancels. The second ends the process at once. The exit status
// reports what the tree is then; what a commit has left is recovered by the next run.
func (i *interrupts) context(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	if list := stopSignals(); len(list) > 0 { // an empty list would be all signals
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
		// Signals stay caught: a signal now would end the process as if nothing had been done.
		close(done)
		cancel(nil)
	}
}

// end ends the process, and reports what the tree is if it is not what it was.
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

// say writes a line to stderr. A stderr that is not read does not keep the next signal from being heard.
func (i *interrupts) say(text string) {
	shieldPipe() // the user may have closed what reads this
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
