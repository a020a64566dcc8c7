package rundir_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// asFleet makes the test binary a process that works on a fleet: "DIR".
const asFleet = "MILLRACE_TEST_FLEET"

// fleetSize is the number of trees in the killed fleet.
const fleetSize = 100

// appendLine makes a difference between a tree that was changed once and a tree that was changed twice.
const appendLine = `{"name": "append", "steps": [{"id": "a", "action": "edit", "params": {"files": ["a.txt"], "old_text": "end\n", "new_text": "more\nend\n"}}]}`

func fleetStore(t *testing.T, dir string) (*rundir.Store, rundir.Host) {
	t.Helper()
	fstest.Must(t, os.MkdirAll(filepath.Join(dir, "store"), 0o755))
	store, err := rundir.Open(fstest.OpenRoot(t, filepath.Join(dir, "store")), "runs", rundir.Options{
		Key: key, NoSync: true, SharedDir: filepath.Join(dir, "shared"),
	})
	fstest.Must(t, err)
	return store, rundir.Host{
		Executor: millrace.Executor{State: millrace.State{NoSync: true, Key: key}}, Trees: fleet.Dirs{Within: filepath.Join(dir, "trees")}, MaxRunning: 4,
	}
}

// TestBeFleet is a process that works on the existing fleet, or creates a fleet.
func TestBeFleet(t *testing.T) {
	dir := os.Getenv(asFleet)
	if dir == "" {
		t.Skip("this is what TestFleet_killed starts")
	}
	store, h := fleetStore(t, dir)
	m := manage(t, store, h)
	var run runs.Run
	list, err := store.List(t.Context(), runs.Filter{})
	fstest.Must(t, err)
	if list.Total == 0 {
		run, err = m.CreateFleet(t.Context(), runs.CreateParams{Project: "all", Pipeline: pipeline(t, appendLine)},
			rundir.FleetOptions{
				Targets: func(yield func(fleet.Target, error) bool) {
					for i := range fleetSize {
						if !yield(fleet.Target{ID: name(i), Root: name(i)}, nil) {
							return
						}
					}
				},
			})
	} else if run = list.Items[0]; run.Status != runs.Success {
		_, err = m.Resume(t.Context(), run.ID)
	}
	fstest.Must(t, err)
	wait(t, m, run, runs.Success)
}

// A fleet whose processes are killed, any number of times, continues with the missing targets: each tree is changed
// once, by one run.
func TestFleet_killed(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(fstest.Seed(t), 1))
	all := 0
	for range fstest.Runs(1, 4, 60) {
		dir := fstest.TempDir(t)
		for i := range fleetSize {
			fstest.Must(t, os.MkdirAll(filepath.Join(dir, "trees", name(i)), 0o755))
			fstest.Must(t, os.WriteFile(filepath.Join(dir, "trees", name(i), "a.txt"), []byte("end\n"), 0o644))
		}
		kills := 0
		for over := false; !over; {
			var out strings.Builder
			cmd := exec.Command(os.Args[0], "-test.run=^TestBeFleet$", "-test.count=1")
			cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), asFleet+"="+dir), &out, &out
			fstest.Must(t, cmd.Start())
			done := make(chan error, 1)
			go func() { done <- cmd.Wait() }()
			life := time.Duration(random.IntN(120)) * time.Millisecond
			if kills == 8 {
				life = time.Minute
			}
			select {
			case err := <-done:
				if over = true; err != nil {
					t.Fatalf("after %d kills: %v\n%s", kills, err, out.String())
				}
			case <-time.After(life):
				if err := cmd.Process.Kill(); !errors.Is(err, os.ErrProcessDone) { // it may just have ended
					fstest.Must(t, err)
				}
				<-done
				kills++
			}
			checkDied(t, dir)
		}
		all += kills
		for i := range fleetSize {
			text, err := os.ReadFile(filepath.Join(dir, "trees", name(i), "a.txt"))
			if err != nil || string(text) != "more\nend\n" {
				t.Fatalf("after %d kills, tree %d: %q, %v", kills, i, text, err)
			}
		}
		store, _ := fleetStore(t, dir)
		h := &herd{place: &place{dir: filepath.Join(dir, "store"), store: store}}
		list, err := store.List(t.Context(), runs.Filter{})
		if err != nil || len(list.Items) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		run := list.Items[0]
		if run.Summary.Success != fleetSize {
			t.Fatalf("%+v", run)
		}
		h.checkChildren(t, run, fleetSize)
	}
	fstest.Countf(t, "%d kills", all)
}

// checkDied checks a fleet that no process works on.
func checkDied(t *testing.T, dir string) {
	t.Helper()
	store, _ := fleetStore(t, dir)
	list, err := store.List(t.Context(), runs.Filter{})
	fstest.Must(t, err)
	for _, run := range list.Items {
		switch told := fmt.Sprint(run.Status, " ", run.Reason, " ", run.Resumable); told {
		case "success  false", "created  false", "failed its process died true":
		default:
			text, _ := json.Marshal(run)
			t.Fatalf("a fleet without a process: %s", text)
		}
		for _, trigger := range triggers(t, store, run) {
			if trigger.Status.Active() {
				t.Fatalf("a child without a process: %+v", trigger)
			}
		}
	}
}

// Any working manager begins a fleet whose creator has died; only the fleet begins its children.
func TestFleet_work(t *testing.T) {
	t.Parallel()
	f := newHerd(t, 3)
	m := manage(t, f.store, f.host())
	run, err := m.CreateFleet(t.Context(), runs.CreateParams{Project: "all", Pipeline: pipeline(t, oneEdit),
		StartAt: time.Now().Add(20 * time.Millisecond)},
		rundir.FleetOptions{Targets: targets(3)})
	fstest.Must(t, err)
	fstest.Must(t, m.Close(t.Context()))
	m = manage(t, f.open(t), f.host())
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- m.Work(ctx) }()
	f.checkChildren(t, wait(t, m, run, runs.Success), 3)
	cancel()
	fstest.Must(t, <-done)
}
