package rundir_test

import (
	"context"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

var key = []byte("0123456789abcdef0123456789abcdef")

// trees are Trees with one tree for each project.
type trees map[string]afero.Fs

func (t trees) Open(_ context.Context, target fleet.Target) (fleet.Tree, error) {
	return fleet.Tree{FS: t[target.ID]}, nil
}

// place is a store, with a tree next to it.
type place struct {
	dir   string
	tree  afero.Fs
	store *rundir.Store
}

func newPlace(t *testing.T, files ...string) *place {
	t.Helper()
	p := &place{dir: t.TempDir()}
	p.tree = fstest.OpenRoot(t, t.TempDir())
	for i := 0; i < len(files); i += 2 {
		fstest.Must(t, p.tree.MkdirAll(path.Dir(files[i]), 0o755))
		fstest.Must(t, afero.WriteFile(p.tree, files[i], []byte(files[i+1]), 0o644))
	}
	p.store = p.open(t)
	return p
}

func (p *place) open(t *testing.T) *rundir.Store {
	t.Helper()
	store, err := rundir.Open(fstest.OpenRoot(t, p.dir), "runs",
		rundir.Options{Key: key, NoSync: true, SharedDir: p.dir + "/shared"})
	fstest.Must(t, err)
	return store
}

func (p *place) host() rundir.Host {
	return rundir.Host{Executor: millrace.Executor{State: millrace.State{NoSync: true, Key: key}}, Trees: trees{"p": p.tree}, User: "ann"}
}

func manage(t testing.TB, s *rundir.Store, h rundir.Host) *rundir.Manager {
	t.Helper()
	m, err := s.Manage(h)
	fstest.Must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := m.Close(ctx); err != nil {
			t.Error("close:", err)
		}
	})
	return m
}

// pipeline decodes a pipeline.
func pipeline(t testing.TB, text string) millrace.Pipeline {
	t.Helper()
	p, err := millrace.Decode([]byte(text))
	fstest.Must(t, err)
	return p
}

const threeSteps = `{"name": "fix", "steps": [
	{"id": "find", "action": "search", "params": {"pattern": "one"}},
	{"id": "fix", "action": "edit", "input_from": "find", "params": {"old_text": "one", "new_text": "two"}},
	{"id": "left", "action": "count_occurrences", "input_from": "find", "params": {"pattern": "one"}}]}`

func create(t testing.TB, m *rundir.Manager, text string) runs.Run {
	t.Helper()
	run, err := m.Create(t.Context(), runs.CreateParams{Project: "p", Pipeline: pipeline(t, text)})
	fstest.Must(t, err)
	return run
}

func wait(t testing.TB, m *rundir.Manager, run runs.Run, want runs.Status) runs.Run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	got, err := m.Wait(ctx, run.Ref())
	fstest.Must(t, err)
	if got.Status != want {
		t.Fatalf("run %s is %s (%s), want %s", got.ID, got.Status, got.Reason, want)
	}
	return got
}

// jobsOf returns the jobs of a run in short: "find success, fix failed".
func jobsOf(t testing.TB, b runs.Browser, run runs.Run, retried bool) string {
	t.Helper()
	page, err := b.Jobs(t.Context(), run.Ref(), runs.JobFilter{IncludeRetried: retried, Paging: runs.Paging{PerPage: 100}})
	fstest.Must(t, err)
	var told []string
	for _, j := range page.Items {
		text := j.ID + " " + j.Name + " " + string(j.Status)
		if j.Retried {
			text += " retried"
		}
		told = append(told, text)
	}
	return strings.Join(told, ", ")
}

func logOf(t testing.TB, b runs.Browser, job string) string {
	t.Helper()
	log, err := b.Logs(t.Context(), runs.JobRef{ID: job}, runs.LogRange{})
	fstest.Must(t, err)
	return log.Trace
}

func same(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

// A run of three steps is created, worked on, and read.
func TestCreate(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\none\n", "b.txt", "none\n")
	m := manage(t, p.store, p.host())
	run := create(t, m, threeSteps)
	if run.Status != runs.Created || run.ID != "1" || run.User != "ann" || run.Name != "fix" || run.SHA == "" ||
		run.Source != runs.SourceAPI {
		t.Errorf("created: %+v", run)
	}
	run = wait(t, m, run, runs.Success)
	same(t, "jobs", jobsOf(t, p.store, run, true), "1001 find success, 1002 fix success, 1003 left success, 1004 commit success")
	same(t, "log", logOf(t, p.store, "1/fix"), "success: 2 files, 3 edits\n")
	same(t, "tree", fstest.Read(t, p.tree, "a.txt"), "two\ntwo\n")
	if run.Result == nil || !run.Result.Success || run.Result.RunID != run.RunID || run.Attempts != 1 ||
		run.Result.TotalEdits != 3 {
		t.Errorf("done: %+v", run.Result)
	}
	if _, err := m.Retry(t.Context(), run.Ref()); err == nil ||
		err.Error() != "cannot retry run 1: it is success, create a new run" {
		t.Error("retry:", err)
	}
	if _, err := m.Cancel(t.Context(), run.Ref()); err == nil || err.Error() != "cannot cancel run 1: it is success" {
		t.Error("cancel:", err)
	}
}
