package rundir_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// cutTargets is the number of trees in the interrupted fleet.
const cutTargets = 3

// farm is the disks of a store and of trees on one machine.
type farm struct {
	store *crashfs.Fs
	trees [cutTargets]*crashfs.Fs
}

func newFarm(t *testing.T) *farm {
	f := &farm{store: crashfs.New()}
	f.store.Settle()
	for i := range f.trees {
		f.trees[i] = crashfs.New()
		fstest.Must(t, afero.WriteFile(f.trees[i], "a.txt", []byte("end\n"), 0o644))
		f.trees[i].Settle()
	}
	return f
}

// as returns the farm with each disk changed by do.
func (f *farm) as(do func(*crashfs.Fs) *crashfs.Fs) *farm {
	other := &farm{store: do(f.store)}
	for i, tree := range f.trees {
		other.trees[i] = do(tree)
	}
	return other
}

func (f *farm) before(do func(crashfs.Op) error) {
	f.as(func(disk *crashfs.Fs) *crashfs.Fs {
		disk.Before(do)
		return disk
	})
}

func (f *farm) Open(_ context.Context, t fleet.Target) (fleet.Tree, error) {
	for i, tree := range f.trees {
		if t.ID == name(i) {
			return fleet.Tree{FS: tree}, nil
		}
	}
	return fleet.Tree{}, fmt.Errorf("there is no tree %q", t.ID)
}

func (f *farm) manage(t *testing.T, shared string) (*rundir.Store, *rundir.Manager) {
	t.Helper()
	s, err := rundir.Open(f.store, "runs", rundir.Options{Key: key, SharedDir: shared})
	fstest.Must(t, err)
	h := rundir.Host{Trees: f, User: "ann"}
	h.Executor.State.Key = key
	m, err := s.Manage(h)
	fstest.Must(t, err)
	return s, m
}

// list returns the runs of one source.
func (f *farm) list(t *testing.T, s *rundir.Store, source string) []runs.Run {
	t.Helper()
	page, err := s.List(t.Context(), runs.Filter{Source: source, Paging: runs.Paging{PerPage: 100}})
	fstest.Must(t, err)
	return page.Items
}

// check continues the fleet from the state that a restarted machine finds.
func (f *farm) check(t *testing.T, shared string, acknowledged bool) {
	t.Helper()
	s, m := f.manage(t, shared)
	defer m.Close(context.Background())
	all := f.list(t, s, "")
	switch {
	case len(all) == 0 && !acknowledged:
		for _, child := range f.list(t, s, runs.SourceParent) {
			t.Errorf("a child without a parent: %+v", child)
		}
		f.changed(t, 0)
		return
	case len(all) != 1:
		t.Fatalf("%d fleets", len(all))
	case all[0].Summary == nil || all[0].Summary.Targets != cutTargets:
		t.Fatalf("it is not whole: %+v", all[0])
	}
	if run := through(t, m, all[0].ID); run.Status != runs.Success {
		t.Errorf("it is %s: %s", run.Status, run.Reason)
	}
	f.changed(t, 1)
	children, err := s.Triggers(t.Context(), all[0].Ref(), runs.Paging{})
	fstest.Must(t, err)
	seen := make(map[string]bool)
	for i, c := range children.Items {
		if c.Name != name(i) || c.Run == nil || c.Run.Status != runs.Success || seen[c.Run.ID] {
			t.Errorf("target %d: %+v", i, c)
			continue
		}
		seen[c.Run.ID] = true
	}
	for _, child := range f.list(t, s, runs.SourceParent) {
		if !seen[child.ID] {
			t.Errorf("run %s of %s is a child more, and is %s", child.ID, child.Project, child.Status)
		}
	}
	if again, err := m.CreateFleet(t.Context(), runs.CreateParams{Project: "all", Pipeline: pipeline(t, appendLine)},
		rundir.FleetOptions{Targets: f.targets()}); err != nil {
		t.Errorf("another one: %v", err)
	} else {
		wait(t, m, again, runs.Success)
	}
	f.changed(t, 2)
}

// changed checks that each tree was changed that many times.
func (f *farm) changed(t *testing.T, times int) {
	t.Helper()
	for i, tree := range f.trees {
		if got, want := fstest.Read(t, tree, "a.txt"), strings.Repeat("more\n", times)+"end\n"; got != want {
			t.Errorf("tree %d is %q, want %q", i, got, want)
		}
	}
}

func (f *farm) targets() func(func(fleet.Target, error) bool) {
	return func(yield func(fleet.Target, error) bool) {
		for i := range cutTargets {
			if !yield(fleet.Target{ID: name(i)}, nil) {
				return
			}
		}
	}
}

// The process is killed, or the power fails, before each operation of a fleet that is created and worked on: an
// acknowledged fleet exists, another fleet is complete or missing, and each tree is changed once.
func TestFleet_cut(t *testing.T) {
	t.Parallel()
	f, shared := newFarm(t), filepath.Join(t.TempDir(), "shared")
	type moment struct {
		*farm
		op           string
		acknowledged bool
	}
	var mu sync.Mutex
	var moments []moment
	acknowledged := false
	f.before(func(op crashfs.Op) error {
		if op.Writes {
			mu.Lock()
			defer mu.Unlock()
			moments = append(moments, moment{f.as((*crashfs.Fs).Kill), fmt.Sprint(op), acknowledged})
		}
		return nil
	})
	_, m := f.manage(t, shared)
	run, err := m.CreateFleet(t.Context(), runs.CreateParams{Project: "all", Pipeline: pipeline(t, appendLine)},
		rundir.FleetOptions{Targets: f.targets(), Parallel: 2})
	fstest.Must(t, err)
	mu.Lock()
	acknowledged = true
	mu.Unlock()
	wait(t, m, run, runs.Success)
	fstest.Must(t, m.Close(t.Context()))
	f.before(nil)
	f.changed(t, 1)
	moments = append(moments, moment{f, "the end", true})
	random := rand.New(rand.NewPCG(fstest.Seed(t), 0))
	step, cuts := fstest.Runs(29, 3, 1), fstest.Runs(1, 2, 20)
	offset, start := random.IntN(step), time.Now()
	for i, at := range moments {
		if (i+offset)%step != 0 && i != len(moments)-1 {
			continue
		}
		ok := t.Run(fmt.Sprintf("%d %s", i, at.op), func(t *testing.T) {
			at.as((*crashfs.Fs).Kill).check(t, shared, at.acknowledged)
			for range cuts {
				loss := random.Float64()
				if i == len(moments)-1 {
					loss = 1
				}
				at.as(func(disk *crashfs.Fs) *crashfs.Fs { return disk.PowerCut(random, loss) }).check(t, shared, at.acknowledged)
			}
		})
		if !ok {
			return
		}
	}
	fstest.Countf(t, "%d moments, %d power cuts each, %v", (len(moments)+step-1)/step, cuts, time.Since(start))
}
