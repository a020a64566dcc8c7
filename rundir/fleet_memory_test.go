package rundir_test

import (
	"context"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// forgetful creates each tree when it is opened, and checks the memory in use from time to time.
type forgetful struct {
	every int
	used  []uint64
}

func (f *forgetful) Open(_ context.Context, t fleet.Target) (fleet.Tree, error) {
	fsys := afero.NewMemMapFs()
	i, err := strconv.Atoi(strings.TrimPrefix(t.ID, "tree-"))
	if err == nil && i%f.every == 0 {
		runtime.GC()
		runtime.GC() // the memory that pools have released
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		f.used = append(f.used, m.HeapAlloc)
	}
	return fleet.Tree{FS: fsys}, afero.WriteFile(fsys, "a.txt", []byte("one\n"), 0o644)
}

// Memory does not grow with the targets. The test runs alone.
func TestFleet_memory(t *testing.T) {
	count := fstest.Runs(60, 400, 10_000)
	p := &place{dir: t.TempDir()}
	p.store = p.open(t)
	f := &forgetful{every: count / 5}
	m := manage(t, p.store, rundir.Host{Executor: millrace.Executor{State: millrace.State{NoSync: true, Key: key}}, Trees: f, MaxRunning: 2})
	long := strings.Repeat("x", 60_000)
	run := createFleet(t, m, oneEdit, rundir.FleetOptions{Targets: func(yield func(fleet.Target, error) bool) {
		for i := range count {
			if !yield(fleet.Target{ID: name(i), Labels: map[string]string{"long": long}}, nil) {
				return
			}
		}
	}, Parallel: 1})
	run = wait(t, m, run, runs.Success)
	if run.Summary.Success != count {
		t.Fatalf("%+v", run.Summary)
	}
	first, last := f.used[1], f.used[len(f.used)-1]
	fstest.Countf(t, "%d targets, %d KiB in use after a fifth of them, %d KiB after four", count, first>>10, last>>10)
	if grown := int64(last) - int64(first); grown > int64(count)*18_000 { // half of what these targets take
		t.Errorf("%d bytes more are in use for %d more targets", grown, count*3/5)
	}
}
