package hostile_test

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
)

// A program that is started while the lock is held inherits no handle of the tree, and does not block the lock after
// the run is over.
func TestHostile_process_started_while_locked(t *testing.T) {
	t.Parallel()
	eachOfProcesses(t, func(t *testing.T, b *backend) {
		var inherited string
		var stdin io.Closer
		x := host()
		x.Observe = func(e millrace.Event) {
			if p, ok := e.(millrace.CommitPhase); !ok || p.Phase != "apply" {
				return
			}
			cmd := command(t, "handles")
			out, err := cmd.StdoutPipe()
			if err == nil {
				stdin, err = cmd.StdinPipe()
			}
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { stdin.Close(); _ = cmd.Wait() }) // the program lives until here
			if inherited, err = bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Error(err)
			}
		}
		if _, err := b.runOn(t, x, editFile("a.txt", "needle", "pin")); err != nil {
			t.Fatal(err)
		}
		if inherited == "" {
			t.Fatal("no process was started")
		}
		for _, name := range strings.Split(strings.TrimSpace(inherited), "\t") {
			if strings.HasPrefix(name, b.dir) {
				t.Errorf("the other program has a handle of %s", name)
			}
		}
		within(t, patience, func(ctx context.Context) {
			y := host()
			y.State.LockWait = 10 * time.Second
			if _, err := y.Run(ctx, b.fs, decoded(t, editFile("b.txt", "needle", "pin"))); err != nil {
				t.Errorf("with the other program alive: %v", err)
			}
		})
	})
}
