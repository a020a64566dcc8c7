package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// runKey signs the kept runs, so the benchmark does not need the user's key.
var runKey = []byte("0123456789abcdef0123456789abcdef")

// runTimes are the times of durable runs. A figure without a comparison has only One.
type runTimes struct {
	One   time.Duration `json:"one_ns"`
	Other time.Duration `json:"other_ns"`
	N     int           `json:"n"` // the number of measurements or of runs
}

// runsCommand is the hidden sub-command that measures durable runs within its own process.
func runsCommand(ctx context.Context, args []string, stdout io.Writer) error {
	kinds := map[string]func(ctx context.Context, dir string, n int) (runTimes, error){
		"kept":  keepRuns,
		"ended": listEnded, "queue": listQueue, "durable": timeDurable, "resume": timeResume, "local": timeLocal,
		"store": timeStore,
	}
	if len(args) != 3 || kinds[args[0]] == nil {
		return errors.New("usage: runs kept|ended|queue|durable|resume|local|store DIR N")
	}
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(args[1], "runs-")
	if err != nil {
		return err
	}
	got, err := kinds[args[0]](ctx, dir, n)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(got)
}

// oneTree is the tree of every project.
type oneTree struct{ fs afero.Fs }

func (o oneTree) Open(context.Context, fleet.Target) (fleet.Tree, error) {
	return fleet.Tree{FS: o.fs}, nil
}

// threeSteps edits a file, reads it, and edits it again.
func threeSteps() (millrace.Pipeline, error) {
	return millrace.Decode([]byte(encode(
		object{"id": "there", "action": "edit",
			"params": object{"files": []string{"a.txt"}, "old_text": "one", "new_text": "two"}},
		object{"id": "count", "action": "count_occurrences",
			"params": object{"files": []string{"a.txt"}, "pattern": "two"}},
		object{"id": "on", "action": "edit", "params": object{"files": []string{"a.txt"}, "old_text": "two",
			"new_text": "three"}},
	)))
}

// storeIn opens the store in a directory.
func storeIn(dir string, quick bool) (*rundir.Store, *fsutil.RootFs, error) {
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	s, err := rundir.Open(root, "runs", rundir.Options{Key: runKey, NoSync: quick,
		SharedDir: filepath.Join(dir, "shared")})
	return s, root, err
}

func listEnded(ctx context.Context, dir string, n int) (runTimes, error) {
	return timeList(ctx, dir, n, true, runs.Filter{User: "user3", OrderBy: runs.ByUpdatedAt,
		Paging: runs.Paging{PerPage: 50}})
}

func listQueue(ctx context.Context, dir string, n int) (runTimes, error) {
	return timeList(ctx, dir, n, false, runs.Filter{Paging: runs.Paging{PerPage: 50}})
}

// keepRuns makes n ended runs in a store that the command line can list, because it has the user's key.
func keepRuns(ctx context.Context, dir string, n int) (runTimes, error) {
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		return runTimes{}, err
	}
	defer root.Close()
	s, err := rundir.Open(root, ".", rundir.Options{NoSync: true, SharedDir: dir + "-shared"})
	if err != nil {
		return runTimes{}, err
	}
	p, err := threeSteps()
	if err != nil {
		return runTimes{}, err
	}
	return runTimes{N: n}, fill(ctx, s, ".", p, n, true)
}

// fill makes n runs for tomorrow, and cancels them if ended is set.
func fill(ctx context.Context, s *rundir.Store, project string, p millrace.Pipeline, n int, ended bool) error {
	m, err := s.Manage(rundir.Host{Executor: millrace.Executor{State: millrace.State{Key: runKey}},
		Trees: oneTree{afero.NewMemMapFs()}})
	if err != nil {
		return err
	}
	for i := range n {
		run, err := m.Create(ctx, runs.CreateParams{Project: project, Pipeline: p, User: fmt.Sprint("user", i%7),
			StartAt: time.Now().Add(24 * time.Hour)})
		if err == nil && ended {
			_, err = m.Cancel(ctx, run.Ref())
		}
		if err != nil {
			return err
		}
	}
	return m.Close(ctx)
}

// timeList makes n runs for tomorrow, and cancels them if ended is set. Then it reads a page repeatedly, each time with
// a newly opened store.
func timeList(ctx context.Context, dir string, n int, ended bool, f runs.Filter) (got runTimes, err error) {
	s, root, err := storeIn(dir, true)
	if err != nil {
		return got, err
	}
	defer root.Close()
	p, err := threeSteps()
	if err != nil {
		return got, err
	}
	if err := fill(ctx, s, "p", p, n, ended); err != nil {
		return got, err
	}
	var all []time.Duration
	for range 21 {
		start := time.Now()
		fresh, root, err := storeIn(dir, true)
		if err != nil {
			return got, err
		}
		page, err := fresh.List(ctx, f)
		all = append(all, time.Since(start))
		if err = errors.Join(err, root.Close()); err != nil {
			return got, err
		}
		if want := min(50, page.Total); page.Total == 0 || len(page.Items) != want {
			return got, wrong("a page has %d runs of %d", len(page.Items), page.Total)
		}
	}
	return runTimes{One: median(all, meanDuration), N: n}, nil
}

// timeDurable runs three steps in a store and without one, in turn.
func timeDurable(ctx context.Context, dir string, n int) (got runTimes, err error) {
	s, root, err := storeIn(dir, false)
	if err != nil {
		return got, err
	}
	defer root.Close()
	if err := root.Mkdir("tree", 0o755); err != nil {
		return got, err
	}
	tree, err := fsutil.OpenRoot(filepath.Join(dir, "tree"))
	if err != nil {
		return got, err
	}
	defer tree.Close()
	p, err := threeSteps()
	if err != nil {
		return got, err
	}
	x := millrace.Executor{State: millrace.State{Key: runKey}}
	m, err := s.Manage(rundir.Host{Executor: x, Trees: oneTree{tree}})
	if err != nil {
		return got, err
	}
	took := func(do func() error) (time.Duration, error) {
		if err := afero.WriteFile(tree, "a.txt", []byte("one\n"), 0o644); err != nil {
			return 0, err
		}
		start := time.Now()
		err := do()
		d := time.Since(start)
		if text, rerr := afero.ReadFile(tree, "a.txt"); err == nil && (rerr != nil || string(text) != "three\n") {
			err = wrong("the file is %q, %v", text, rerr)
		}
		return d, err
	}
	var durable, plain []time.Duration
	for range n {
		d, err := took(func() error {
			run, err := m.Create(ctx, runs.CreateParams{Project: "p", Pipeline: p})
			if err == nil {
				_, err = m.Wait(ctx, run.Ref())
			}
			return err
		})
		if err != nil {
			return got, err
		}
		durable = append(durable, d)
		if d, err = took(func() error { _, err := x.Run(ctx, tree, p); return err }); err != nil {
			return got, err
		}
		plain = append(plain, d)
	}
	return runTimes{One: median(durable, meanDuration), Other: median(plain, meanDuration), N: n}, m.Close(ctx)
}

// kept is a Checkpointer in memory. It can stop a resumed run at its first step.
type kept struct {
	all     []millrace.Checkpoint
	resumed bool
	entered time.Time
}

func (k *kept) Enter(_ context.Context, at millrace.Position) error {
	if k.resumed {
		k.entered = time.Now()
		return millrace.ErrHold
	}
	return nil
}

func (k *kept) Keep(_ context.Context, c millrace.Checkpoint) error {
	k.all = append(k.all, c)
	return nil
}

func (k *kept) Spill() fsutil.Spill { return nil }

// timeResume stages edits of n files, waits, and goes on up to the first step.
func timeResume(ctx context.Context, dir string, n int) (got runTimes, err error) {
	if err := generateTree(dir, n, 4<<10, 1, true, 11); err != nil {
		return got, err
	}
	p, err := millrace.Decode([]byte(encode(
		searching(needle, "literal", false, true),
		object{"id": "fix", "action": "edit", "input_from": "find",
			"params": object{"old_text": needle, "new_text": thread}},
		object{"id": "stop", "manual": true, "action": "count_occurrences", "input_from": "find",
			"params": object{"pattern": thread}},
	)))
	if err != nil {
		return got, err
	}
	var all []time.Duration
	for range 11 {
		root, err := fsutil.OpenRoot(dir)
		if err != nil {
			return got, err
		}
		k := new(kept)
		x := millrace.Executor{State: millrace.State{Key: runKey}, Checkpoints: k, MaxFiles: -1}
		began := time.Now()
		held := func(err error) error {
			h, ok := errors.AsType[*millrace.HeldError](err)
			if !ok {
				return wrong("the run is not held: %v", err)
			}
			return h.Plan.Close()
		}
		_, err = x.Run(ctx, root, p)
		if err = held(err); err != nil {
			return got, err
		}
		k.resumed = true
		start := time.Now()
		_, err = x.Resume(ctx, root, p,
			millrace.Saved{Began: began, Checkpoints: func(yield func(millrace.Checkpoint, error) bool) {
				for _, c := range slices.Clone(k.all) {
					if !yield(c, nil) {
						return
					}
				}
			}})
		if err = errors.Join(held(err), root.Close()); err != nil {
			return got, err
		}
		all = append(all, k.entered.Sub(start))
	}
	return runTimes{One: median(all, meanDuration), N: n}, nil
}
