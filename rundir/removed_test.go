package rundir

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/runs"
)

// Another process removes a run between any two operations on it. Then the run is not found; a list leaves it out, and
// a process that takes runs continues.
func TestRemoved_betweenTwoLooks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a directory with open files keeps its name there")
	}
	list := func(_ *Manager, s *Store) error {
		return fstest.ErrOf(s.List(t.Context(), runs.Filter{Status: runs.Failed}))
	}
	get := func(_ *Manager, s *Store) error {
		if _, err := s.Get(t.Context(), runs.RunRef{ID: "1"}); err != nil {
			return err
		}
		return runs.ErrNotFound // everything was read before
	}
	retry := func(m *Manager, _ *Store) error { return fstest.ErrOf(m.Retry(t.Context(), runs.RunRef{ID: "1"})) }
	cancel := func(m *Manager, _ *Store) error { return fstest.ErrOf(m.Cancel(t.Context(), runs.RunRef{ID: "1"})) }
	own := func(_ *Manager, s *Store) error { return fstest.ErrOf(s.own(1)) }
	take := func(m *Manager, _ *Store) error { return (&lookout{m: m}).takeAll(t.Context()) }
	died := func() *record { return &record{Kind: kindState, Status: runs.Running} }
	failed := func() *record { return &record{Kind: kindEnd, Status: runs.Failed, End: &end{}} }
	for name, tt := range map[string]struct {
		last func() *record
		do   func(m *Manager, s *Store) error
		want error
	}{
		"list": {died, list, nil}, "get": {died, get, runs.ErrNotFound}, "cancel": {died, cancel, runs.ErrNotFound}, "retry": {died, retry, runs.ErrNotFound},
		"retry an ended one": {failed, retry, runs.ErrNotFound}, "own": {failed, own, runs.ErrNotFound}, "take": {died, take, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for at, removed := 1, true; removed; at++ {
				var err error
				if removed, err = removedAt(t, at, tt.last, tt.do); removed && !errors.Is(err, tt.want) {
					t.Errorf("removed after operation %d: error is %v, want %v", at, err, tt.want)
				} else if !removed && at < 4 {
					t.Errorf("not removed after operation %d", at)
				}
			}
		})
	}
}

// removedAt removes a run, unless it is locked, after a number of operations of do on its files.
func removedAt(t *testing.T, at int, last func() *record,
	do func(m *Manager, s *Store) error) (removed bool, err error) {
	const dir = "store/runs/000000/000000001"
	below := fstest.OpenRoot(t, t.TempDir())
	var mu sync.Mutex // a retried run is worked on in parallel with the test
	count := -1
	counted := func(from int) {
		mu.Lock()
		defer mu.Unlock()
		count = from
	}
	s := openStore(t, errorfs.Wrap(below, func(op *errorfs.Op, do func() error) error {
		err := do()
		mu.Lock()
		defer mu.Unlock()
		if count < 0 || !strings.HasPrefix(op.Name, dir) {
			return err
		}
		if count++; count == at {
			done, cancel := context.WithCancel(t.Context())
			cancel()
			if lock, err := below.LockFile(done, dir+"/run"); err == nil {
				removed = true
				fstest.Must(t, errors.Join(below.Rename(dir, "store/gone"), lock.Close()))
			}
		}
		return err
	}), Options{NoSync: true, SharedDir: t.TempDir()})
	w := createRun(t, s, twoSteps())
	fstest.Must(t, errors.Join(w.append(&record{Kind: kindTake, Status: runs.Pending, Take: w.me()}), w.append(last()), w.close()))
	m, err := s.Manage(Host{Trees: noTrees{}, User: "ann"})
	fstest.Must(t, err)
	fstest.Must(t, below.Remove("store/runs/index"))
	counted(0)
	err = do(m, s)
	counted(-1)
	fstest.Must(t, m.Close(t.Context()))
	return removed, err
}

// Another process reuses the number of the newest run while that run is removed. The new run is listed and taken.
func TestRemoved_numberReused(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a directory with open files keeps its name there")
	}
	below := fstest.OpenRoot(t, t.TempDir())
	options := Options{NoSync: true, SharedDir: t.TempDir()}
	other := openStore(t, below, options)
	const dir = "store/runs/000000/000000001"
	s := openStore(t, errorfs.Wrap(below, func(op *errorfs.Op, do func() error) error {
		err := do()
		if op.Kind == "rename" && op.From == dir {
			n := twoSteps()
			n.status = runs.Scheduled
			fstest.Must(t, errors.Join(err, createRun(t, other, n).close()))
		}
		return err
	}), options)
	w := createRun(t, s, twoSteps())
	fstest.Must(t, w.append(&record{Kind: kindEnd, Status: runs.Canceled, End: &end{}}))
	fstest.Must(t, w.discard())

	page, err := other.List(t.Context(), runs.Filter{})
	fstest.Must(t, err)
	if page.Total != 1 || page.Items[0].ID != "1" || page.Items[0].Status != runs.Scheduled {
		t.Errorf("the list has %d runs: %+v", page.Total, page.Items)
	}
	m, err := other.Manage(Host{Trees: noTrees{}, User: "ann"})
	fstest.Must(t, err)
	if all, err := (&lookout{m: m}).runs(t.Context()); err != nil || len(all) != 1 || all[0].number != 1 {
		t.Errorf("runs to take: %v, %v", all, err)
	}
	fstest.Must(t, m.Close(t.Context()))
}
