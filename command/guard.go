package command

import (
	"context"
	"os"
	"time"
)

// guard watches a command while it runs.
type guard struct {
	group *group
	out   *printer
	ended chan struct{} // closed when the program has ended
	left  chan struct{} // closed when nothing watches it any more
	begun bool
	err   error // of the context, if it has ended before the command, or of the group
}

// begin starts to watch a process.
func (g *guard) begin(ctx context.Context, process *os.Process) {
	g.begun = true
	if g.err = g.group.started(process); g.err != nil {
		_ = process.Kill()
		close(g.left)
		return
	}
	go func() {
		defer close(g.left)
		select {
		case <-g.ended:
			return
		case <-g.out.stopped:
		case <-ctx.Done():
			g.err = ctx.Err()
			g.group.terminate()
			timer := time.NewTimer(grace)
			defer timer.Stop()
			select {
			case <-g.ended:
				return
			case <-g.out.stopped:
			case <-timer.C:
			}
		}
		g.group.kill()
	}()
}

// end stops watching the process, and returns when the goroutine that watches has ended.
func (g *guard) end() {
	close(g.ended)
	if g.begun {
		<-g.left
	}
}
