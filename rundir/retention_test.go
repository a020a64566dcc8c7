package rundir_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

func numbers(t *testing.T, s *rundir.Store) string {
	t.Helper()
	page, err := s.List(t.Context(), runs.Filter{Ascending: true, Paging: runs.Paging{PerPage: 100}})
	fstest.Must(t, err)
	var all []string
	for _, r := range page.Items {
		all = append(all, r.ID)
	}
	return strings.Join(all, " ")
}

// Runs are removed by number, age and size; the newest stays, and so do waiting runs. Data is removed earlier.
func TestRetention(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	m := manage(t, p.store, p.host())
	held := wait(t, m, create(t, m, manualStep), runs.Manual)
	var ended []runs.Run
	for range 4 {
		ended = append(ended, wait(t, m, create(t, m,
			strings.Replace(threeSteps, `"id": "fix",`, `"id": "fix", "expect": {"min_files": 7},`, 1)), runs.Failed))
	}
	fstest.Must(t, m.Close(t.Context()))
	large := filepath.Join(p.dir, "runs/000000/000000002/data")
	fstest.Must(t, os.WriteFile(large, make([]byte, 100_000), 0o600))
	open := func(r rundir.Retention) {
		t.Helper()
		h := p.host()
		h.Retention = r
		fstest.Must(t, manage(t, p.open(t), h).Close(t.Context()))
	}
	open(rundir.Retention{})
	same(t, "all are kept", numbers(t, p.store), "1 2 3 4 5")
	open(rundir.Retention{DataAge: time.Nanosecond})
	run, err := p.store.Get(t.Context(), ended[0].Ref())
	fstest.Must(t, err)
	if _, err := os.Stat(large); !os.IsNotExist(err) || run.Resumable {
		t.Errorf("its data is still there: %v, resumable %v", err, run.Resumable)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "shared", held.RunID)); err != nil {
		t.Error("the shared directory of the waiting run:", err)
	}
	open(rundir.Retention{Keep: 3})
	same(t, "three are kept beside the waiting run", numbers(t, p.store), "1 3 4 5")
	if _, err := os.Stat(filepath.Join(p.dir, "shared", ended[0].RunID)); !os.IsNotExist(err) {
		t.Error("the shared directory of the removed run:", err)
	}
	open(rundir.Retention{MaxBytes: 1})
	same(t, "the newest is kept", numbers(t, p.store), "1 5")
	m = manage(t, p.open(t), p.host())
	next := wait(t, m, create(t, m, threeSteps), runs.Success)
	same(t, "numbers go on", next.ID, "6")
	open(rundir.Retention{MaxAge: time.Nanosecond})
	same(t, "the newest is kept", numbers(t, p.store), "1 6")
	if _, err := p.store.Manage(rundir.Host{Trees: trees{}, Retention: rundir.Retention{MaxAge: -1}}); err == nil {
		t.Error("a negative age")
	}
}

// A number whose process was killed before the first record is swept after an hour, and so is a number with a future
// time.
func TestSweep(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	m := manage(t, p.store, p.host())
	wait(t, m, create(t, m, threeSteps), runs.Success)
	old, young, future := filepath.Join(p.dir, "runs/000000/000000002"), filepath.Join(p.dir,
		"runs/000000/000000003"), filepath.Join(p.dir, "runs/000000/000000004")
	for _, dir := range []string{old, young, future} {
		fstest.Must(t, os.Mkdir(dir, 0o700))
		fstest.Must(t, os.WriteFile(filepath.Join(dir, "run"), []byte("half a rec"), 0o600))
	}
	past := time.Now().Add(-2 * time.Hour)
	fstest.Must(t, os.Chtimes(old, past, past))
	later := time.Now().Add(1000 * time.Hour)
	fstest.Must(t, os.Chtimes(future, later, later))
	fstest.Must(t, manage(t, p.open(t), p.host()).Close(t.Context()))
	for _, dir := range []string{old, future} {
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s: %v", filepath.Base(dir), err)
		}
	}
	if _, err := os.Stat(young); err != nil {
		t.Error("the young one:", err)
	}
}

// The shared directory of a run's steps is removed at DataAge, even if the run has no other long data.
func TestRetention_shared(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	m := manage(t, p.store, p.host())
	var all []runs.Run
	for range 2 {
		run, err := m.Create(t.Context(), runs.CreateParams{Project: "p",
			Pipeline: pipeline(t, strings.Replace(declares, `"path": "a.txt"`, `"overwrite": true, "path": "a.txt"`, 1)), Variables: []runs.Variable{{Key: "file", Value: "secret", Type: runs.File}}})
		fstest.Must(t, err)
		all = append(all, wait(t, m, run, runs.Success))
	}
	fstest.Must(t, m.Close(t.Context()))
	h := p.host()
	h.Retention = rundir.Retention{DataAge: time.Nanosecond}
	fstest.Must(t, manage(t, p.open(t), h).Close(t.Context()))
	if _, err := os.Stat(filepath.Join(p.dir, "shared", all[0].RunID)); !os.IsNotExist(err) {
		t.Error("the shared directory is still there:", err)
	}
}
