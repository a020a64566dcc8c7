//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/server/temporaltest"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fleet"
	millracetemporal "github.com/millrace-go/millrace/temporal"
)

// A worker is suspended until the server has assigned its targets to another worker, which has opened each of these
// trees. Then the worker continues without noticing. It may or may not have locked the trees before. Each tree is
// changed exactly once.
func TestZombie(t *testing.T) {
	for name, test := range map[string]struct {
		locked bool
		env    []string
	}{
		"before the lock":        {false, []string{openVariable + "=1s", stepVariable + "=0s"}},
		"in a step":              {true, []string{stepVariable + "=1s"}},
		"in a step, with stores": {true, []string{stepVariable + "=1s", storeVariable + "=yes"}},
	} {
		t.Run(name, func(t *testing.T) {
			server := temporaltest.NewServer(temporaltest.WithT(t))
			dir := t.TempDir()
			targets := plant(t, dir, 60)
			zombie, other := start(t, server, dir, test.env...), start(t, server, dir, test.env...)
			c := millracetemporal.Client{Temporal: server.GetDefaultClient(), Blobs: blobsOf(dir), Heartbeat: 2 * time.Second}
			ctx := within(t, 2*time.Minute)
			if err := c.Start(ctx, fleet.Campaign{ID: "zombie", Pipeline: twice()}, fleet.Targets(targets...)); err != nil {
				t.Fatal(err)
			}
			until(t, c, "zombie", func(p millracetemporal.Progress) bool { return p.Sum.Success > 10 })
			time.Sleep(400 * time.Millisecond) // let the next targets start
			if err := zombie.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			held := unchanged(t, dir, openedBy(t, dir, zombie.Process.Pid))
			// The zombie may also have the campaign itself, which then does not answer.
			for given := false; !given; time.Sleep(50 * time.Millisecond) {
				if ctx.Err() != nil {
					t.Fatal(ctx.Err())
				}
				by := openedBy(t, dir, other.Process.Pid)
				given = true
				for id := range held {
					given = given && by[id]
				}
			}
			time.Sleep(2 * time.Second) // enough for the other worker to change each tree that is not locked
			locked := unchanged(t, dir, held)
			t.Logf("the suspended worker has %d trees, %d of them locked by it", len(held), len(locked))
			if test.locked != (len(locked) > 0) || len(held) == 0 {
				t.Error("the worker was not stopped at the right place")
			}
			if err := zombie.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			p, err := c.Wait(ctx, "zombie")
			if err != nil || p.Sum.Success != len(targets) {
				t.Errorf("%+v, %v", p, err)
			}
			if err := zombie.Process.Signal(os.Interrupt); err != nil { // the worker ends after its current targets
				t.Fatal(err)
			}
			if err := zombie.Wait(); err != nil {
				t.Error(err)
			}
			once(t, dir, targets)
		})
	}
}

// unchanged returns the targets whose trees have not changed.
func unchanged(t *testing.T, dir string, ids map[string]bool) map[string]bool {
	t.Helper()
	still := make(map[string]bool)
	for id := range ids {
		data, err := os.ReadFile(filepath.Join(dir, "trees", id, "a.txt"))
		if err != nil {
			t.Fatal(err)
		}
		if string(data) == "x\n" {
			still[id] = true
		}
	}
	return still
}

// A worker with a store is killed by the third step of a target. The next worker with that store repeats no finished
// step.
func TestKilledWithStore(t *testing.T) {
	server := temporaltest.NewServer(temporaltest.WithT(t))
	dir := t.TempDir()
	targets := plant(t, dir, 1)
	ran := filepath.Join(dir, "ran")
	p := millrace.New("killed").
		Step("count", actions.Exec{Shell: "echo count >> " + ran}).
		Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "xx"}).
		Step("die", actions.Exec{Shell: "echo die >> " + ran + "; test -e " + ran + "-died || { touch " + ran + "-died; kill -9 $PPID; sleep 9; }"}).
		MustBuild()
	victim := start(t, server, dir, storeVariable+"=yes")
	c := millracetemporal.Client{Temporal: server.GetDefaultClient(), Blobs: blobsOf(dir), Heartbeat: 2 * time.Second}
	ctx := within(t, time.Minute)
	if err := c.Start(ctx, fleet.Campaign{ID: "store", Pipeline: p}, fleet.Targets(targets...)); err != nil {
		t.Fatal(err)
	}
	if err := victim.Wait(); err == nil {
		t.Fatal("the worker was not killed")
	}
	start(t, server, dir, storeVariable+"=yes")
	if p, err := c.Wait(ctx, "store"); err != nil || p.Sum.Success != 1 || p.Sum.Replayed != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	if data, err := os.ReadFile(ran); err != nil || string(data) != "count\ndie\ndie\n" {
		t.Errorf("the workers ran %q, %v", data, err)
	}
	once(t, dir, targets)
}
