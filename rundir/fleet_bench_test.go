package rundir_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// BenchmarkFleet runs one pipeline on small trees on disk, 8 at a time: with a scheduler of goroutines, and as a fleet
// in a store. An operation is one tree.
func BenchmarkFleet(b *testing.B) {
	const at = 8
	p := pipeline(b, oneEdit)
	b.Run("local", func(b *testing.B) {
		dirs := benchTrees(b)
		w := fleet.Worker{Executor: millrace.Executor{State: millrace.State{Key: key}}, Trees: fleet.Dirs{}}
		f := fleet.Fleet{Scheduler: fleet.Local{Worker: w, Parallel: at}}
		b.ResetTimer()
		sum, err := f.Run(b.Context(), fleet.Campaign{ID: "c", Pipeline: p}, fleet.Paths(dirs...), nil)
		if err != nil || sum.Success != b.N {
			b.Errorf("%+v, %v", sum, err)
		}
	})
	b.Run("store", func(b *testing.B) {
		dirs := benchTrees(b)
		root, err := rootfs.Open(b.TempDir())
		fstest.Must(b, err)
		b.Cleanup(func() { fstest.Must(b, root.Close()) })
		store, err := rundir.Open(root, "runs", rundir.Options{Key: key, SharedDir: b.TempDir()})
		fstest.Must(b, err)
		m := manage(b, store, rundir.Host{Executor: millrace.Executor{State: millrace.State{Key: key}}, Trees: fleet.Dirs{}, MaxRunning: at})
		b.ResetTimer()
		run, err := m.CreateFleet(b.Context(), runs.CreateParams{Project: "all", Pipeline: p},
			rundir.FleetOptions{Targets: fleet.Paths(dirs...)})
		fstest.Must(b, err)
		if run, err = m.Wait(b.Context(), run.Ref()); err != nil || run.Status != runs.Success || run.Summary.Success != b.N {
			b.Errorf("%+v, %v", run, err)
		}
	})
}

// benchTrees creates a tree for each operation.
func benchTrees(b *testing.B) (dirs []string) {
	b.Helper()
	top := b.TempDir()
	for i := range b.N {
		dirs = append(dirs, filepath.Join(top, fmt.Sprint(i)))
		fstest.Must(b, os.Mkdir(dirs[i], 0o755))
		fstest.Must(b, os.WriteFile(filepath.Join(dirs[i], "a.txt"), []byte("one\n"), 0o644))
	}
	return dirs
}
