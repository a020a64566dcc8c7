package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// sideBySide is the number of trees that are changed at once.
const sideBySide = 8

// smallTrees makes n trees of one file.
func smallTrees(dir, name string, n int) (dirs []string, err error) {
	for i := range n {
		tree := filepath.Join(dir, name, fmt.Sprint(i))
		if err := os.MkdirAll(tree, 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(tree, "a.txt"), []byte("one\n"), 0o644); err != nil {
			return nil, err
		}
		dirs = append(dirs, tree)
	}
	return dirs, nil
}

// timeLocal runs a pipeline on n trees, by a fleet and by as many goroutines that call Run.
func timeLocal(ctx context.Context, dir string, n int) (got runTimes, err error) {
	p, err := threeSteps()
	if err != nil {
		return got, err
	}
	got.N = n
	if got.One, err = byFleet(ctx, dir, n, p); err != nil {
		return got, err
	}
	dirs, err := smallTrees(dir, "loop", n)
	if err != nil {
		return got, err
	}
	var next atomic.Int64
	var work sync.WaitGroup
	errs := make([]error, sideBySide)
	start := time.Now()
	for w := range sideBySide {
		work.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && errs[w] == nil; i = next.Add(1) - 1 {
				root, err := fsutil.OpenRoot(dirs[i])
				if err == nil {
					_, err = millrace.Executor{State: millrace.State{Key: runKey}, RunID: "loop"}.Run(ctx, root, p)
					err = errors.Join(err, root.Close())
				}
				errs[w] = err
			}
		})
	}
	work.Wait()
	got.Other = time.Since(start)
	return got, errors.Join(errs...)
}

// byFleet returns the time of a fleet without a store.
func byFleet(ctx context.Context, dir string, n int, p millrace.Pipeline) (time.Duration, error) {
	dirs, err := smallTrees(dir, "fleet", n)
	if err != nil {
		return 0, err
	}
	f := fleet.Fleet{Scheduler: fleet.Local{Worker: fleet.Worker{Executor: millrace.Executor{State: millrace.State{Key: runKey}},
		Trees: fleet.Dirs{}}, Parallel: sideBySide}}
	sum, err := f.Run(ctx, fleet.Campaign{ID: "c", Pipeline: p}, fleet.Paths(dirs...), nil)
	if err == nil && sum.Success != n {
		err = wrong("a fleet: %+v", sum)
	}
	return sum.Duration, err
}

// timeStore runs a pipeline on n trees, by a fleet in a store and by one without.
func timeStore(ctx context.Context, dir string, n int) (got runTimes, err error) {
	p, err := threeSteps()
	if err != nil {
		return got, err
	}
	got.N = n
	if got.Other, err = byFleet(ctx, dir, n, p); err != nil {
		return got, err
	}
	dirs, err := smallTrees(dir, "stored", n)
	if err != nil {
		return got, err
	}
	s, root, err := storeIn(dir, false)
	if err != nil {
		return got, err
	}
	defer root.Close()
	m, err := s.Manage(rundir.Host{Executor: millrace.Executor{State: millrace.State{Key: runKey}}, Trees: fleet.Dirs{},
		MaxRunning: sideBySide})
	if err != nil {
		return got, err
	}
	start := time.Now()
	run, err := m.CreateFleet(ctx, runs.CreateParams{Project: "all", Pipeline: p},
		rundir.FleetOptions{Targets: fleet.Paths(dirs...)})
	if err == nil {
		run, err = m.Wait(ctx, run.Ref())
	}
	got.One = time.Since(start)
	if err == nil && (run.Summary == nil || run.Summary.Success != n) {
		err = wrong("a fleet in a store: %+v", run.Summary)
	}
	return got, errors.Join(err, m.Close(ctx))
}
