package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// errInterrupted is why a context was canceled by the user.
var errInterrupted = errors.New("interrupted")

// stoppingWait is how long the line that says so may take to be written, before the program stops without it.
const stoppingWait = 100 * time.Millisecond

// interruptible returns a context that the first SIGINT or SIGTERM cancels. The second ends the process at once; what a
// commit has left then is recovered by the next run.
func interruptible(ctx context.Context, stderr io.Writer) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for stopping := false; ; stopping = true {
			select {
			case <-done:
				return
			case <-signals:
				if stopping {
					os.Exit(exitInterrupted)
				}
				shieldPipe() // the user may have closed what reads this
				said := make(chan struct{})
				go func() {
					defer close(said)
					fmt.Fprintln(stderr, "millrace: stopping")
				}()
				select {
				case <-said:
				case <-time.After(stoppingWait): // it is not read, which must not keep the second one from being heard
				}
				cancel(errInterrupted)
			}
		}
	}()
	return ctx, func() {
		// Signals stay caught: one that came now would end the process as if nothing had been done.
		close(done)
		cancel(nil)
	}
}
