package rundir_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/millracetest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

const heldOnce = `{"name": "cut", "steps": [
	{"id": "fix", "action": "edit", "params": {"files": ["a.txt"], "old_text": "one", "new_text": "1"}},
	{"id": "move", "manual": true, "action": "rename", "params": {"files": ["d/b.txt"], "to": "c.txt"}}]}`

// onDisk returns a manager of the store in the tree of a disk.
func onDisk(t *testing.T, disk *crashfs.Fs, shared string) *rundir.Manager {
	t.Helper()
	s, err := rundir.Open(disk, "", rundir.Options{Key: key, SharedDir: shared})
	fstest.Must(t, err)
	h := rundir.Host{Trees: trees{"p": disk}, User: "ann"}
	h.Executor.State.Key = key
	m, err := s.Manage(h)
	fstest.Must(t, err)
	return m
}

// through continues a run to its end, through any waits, and from the step that it can be resumed from. It does not
// loop for ever.
func through(t *testing.T, m *rundir.Manager, id string) runs.Run {
	t.Helper()
	var told []string
	from := id
	for range 10 {
		if _, err := m.Resume(t.Context(), from); err != nil {
			run, gerr := m.Wait(timeout(t, 10*time.Second), runs.RunRef{ID: id})
			fstest.Must(t, gerr)
			if run.Status.Final() {
				return run
			}
			t.Fatalf("run %s is %s (%s): %v", id, run.Status, run.Reason, err)
		}
		if run, err := m.Wait(timeout(t, 10*time.Second), runs.RunRef{ID: id}); err != nil || run.Status.Final() {
			fstest.Must(t, err)
			return run
		} else {
			told = append(told, string(run.Status)+": "+run.Reason)
			from = id
			if _, step, ok := strings.Cut(run.Reason, "resume from '"); ok { // another run has changed files that it depends on
				from = strings.TrimSuffix(step, "'")
			}
		}
	}
	t.Fatalf("it does not come to an end: %s", strings.Join(told, "\n"))
	return runs.Run{}
}

// The process is killed, or the power fails, before each operation of a run that is created, held, played and
// committed: an acknowledged run exists, it reaches its end, and the tree has the expected content.
func TestRunIsCut(t *testing.T) {
	t.Parallel()
	disk, shared := crashfs.New(), filepath.Join(t.TempDir(), "shared")
	millracetest.Plant(t, disk, "-- a.txt --\none\n-- d/b.txt --\ntwo\n")
	disk.Settle()
	type moment struct {
		disk    *crashfs.Fs
		op      string
		created bool
	}
	var mu sync.Mutex // operations may be concurrent
	var moments []moment
	var created atomic.Bool
	disk.Before(func(op crashfs.Op) error {
		if op.Writes {
			mu.Lock()
			defer mu.Unlock()
			moments = append(moments, moment{disk.Kill(), fmt.Sprint(op), created.Load()})
		}
		return nil
	})
	m := onDisk(t, disk, shared)
	run := create(t, m, heldOnce)
	created.Store(true)
	run = wait(t, m, run, runs.Manual)
	_, err := m.Resume(t.Context(), run.ID)
	fstest.Must(t, err)
	wait(t, m, run, runs.Success)
	fstest.Must(t, m.Close(t.Context()))
	disk.Before(nil)
	const want = "-- a.txt --\n1\n-- c.txt --\ntwo\n-- d/ --\n"
	millracetest.Equal(t, disk, want)
	check := func(t *testing.T, disk *crashfs.Fs, created bool) {
		t.Helper()
		m := onDisk(t, disk, shared)
		defer m.Close(context.Background())
		s, err := rundir.Open(disk, "", rundir.Options{Key: key})
		fstest.Must(t, err)
		page, err := s.List(t.Context(), runs.Filter{})
		fstest.Must(t, err)
		if len(page.Items) == 0 && !created {
			return
		}
		if len(page.Items) != 1 {
			t.Fatalf("%d runs", len(page.Items))
		}
		got := through(t, m, page.Items[0].ID)
		if got.Attempts > 4 {
			t.Errorf("it was taken up %d times", got.Attempts)
		}
		if got.Status != runs.Success {
			t.Errorf("it is %s: %s", got.Status, got.Reason)
		}
		millracetest.Equal(t, disk, want)
	}
	random := rand.New(rand.NewPCG(fstest.Seed(t), 0))
	step, cuts := fstest.Runs(9, 2, 1), fstest.Runs(1, 2, 50)
	for i := random.IntN(step); i < len(moments); i += step {
		at := moments[i]
		ok := t.Run(fmt.Sprintf("%d %s", i, at.op), func(t *testing.T) {
			check(t, at.disk.Kill(), at.created)
			for range cuts {
				check(t, at.disk.PowerCut(random, random.Float64()), at.created)
			}
		})
		if !ok {
			return
		}
	}
	fstest.Countf(t, "%d moments, %d power cuts each", (len(moments)+step-1)/step, cuts)
}
