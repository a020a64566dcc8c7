package command

import (
	"context"
	"os"
	"time"
)

// guard looks after a command while it runs.
type guard struct {
	group *group
	out   *printer
	ended chan struct{} // closed when the program has ended
	left  chan struct{} // closed when nothing looks after it any more
	begun bool
	err   error // of the context, if it has ended before the command, or of the group
}

// begin looks after a process from now on.
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

// end waits until nothing is done to the process any more.
func (g *guard) end() {
	close(g.ended)
	if g.begun {
		<-g.left
	}
}
