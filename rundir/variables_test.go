package rundir_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
	"github.com/millrace-go/millrace/tool"
)

const declares = `{"name": "vars", "variables": {"text": "t", "n": 1, "list": {"type": "list", "default": []}, "file": "none"}, "steps": [
	{"id": "a", "action": "create", "params": {"path": "a.txt", "content": "{{vars.text}} {{vars.n}} {{vars.list}} {{vars.file}}"}}]}`

// Values are read as the type that the pipeline declares; the value of a file is its path in the shared directory.
func TestVariables(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	m := manage(t, p.store, p.host())
	make := func(v ...runs.Variable) (runs.Run, error) {
		return m.Create(t.Context(), runs.CreateParams{Project: "p", Pipeline: pipeline(t, declares), Variables: v,
			Source: runs.SourceCLI, User: "bob"})
	}
	run, err := make(runs.Variable{Key: "text", Value: "3"}, runs.Variable{Key: "n", Value: "7"},
		runs.Variable{Key: "file", Value: "secret\n", Type: runs.File})
	fstest.Must(t, err)
	run = wait(t, m, run, runs.Success)
	file := filepath.Join(p.dir, "shared", run.RunID, "variables", "file")
	same(t, "tree", fstest.Read(t, p.tree, "a.txt"), "3 7 [] "+file)
	data, err := os.ReadFile(file)
	fstest.Must(t, err)
	info, err := os.Stat(file)
	fstest.Must(t, err)
	same(t, "file", string(data)+info.Mode().String(), "secret\n-rw-------")
	same(t, "source, user, keys", run.Source+" "+run.User+" "+strings.Join(run.Variables, ","), "cli bob file,n,text")
	if run.SHA != pipeline(t, declares).Digest() {
		t.Error("the sha is not that of the pipeline as found")
	}
	for want, v := range map[string]runs.Variable{
		`"ten" is no integer`:   {Key: "n", Value: "ten"},
		"variable 'X' is not d": {Key: "X", Value: "ten"},
		"path of a file is a s": {Key: "n", Value: "1", Type: runs.File},
	} {
		if _, err := make(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", v, err)
		}
	}
	page, err := p.store.List(t.Context(), runs.Filter{})
	fstest.Must(t, err)
	if page.Total != 1 {
		t.Error("runs with wrong variables were made")
	}
}

// A run is created from the library; for a text that is not a pipeline, the created run has failed.
func TestCreate_ref(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	h := p.host()
	h.Library.Dirs = []millrace.LibraryDir{{Name: "all",
		FS: suite.Tree("good.json", threeSteps, "bad.json", `{"name": "bad", "steps": [{"id": "x"}]}`)}}
	m := manage(t, p.store, h)
	run, err := m.Create(t.Context(), runs.CreateParams{Project: "p", Ref: "good"})
	fstest.Must(t, err)
	run = wait(t, m, run, runs.Success)
	same(t, "ref and name", run.RefName+" "+run.Name, "good fix")
	run, err = m.Create(t.Context(), runs.CreateParams{Project: "p", Ref: "bad"})
	if _, ok := errors.AsType[*millrace.ValidationError](err); !ok || run.Status != runs.Failed || !run.YAMLErrors ||
		run.Resumable {
		t.Errorf("bad: %+v, %v", run, err)
	}
	_, err = m.Retry(t.Context(), run.Ref())
	refusal(t, err, "cannot retry run 2: it is failed, not resumable: create a new run")
	if run, err = m.Create(t.Context(), runs.CreateParams{Project: "p", Ref: "none"}); err == nil || run.ID != "" {
		t.Errorf("none: %+v, %v", run, err)
	}
	if _, err = m.Create(t.Context(), runs.CreateParams{Project: "p"}); err == nil {
		t.Error("neither a ref nor a pipeline")
	}
}

// A run with a start time begins then, by its manager or by another working manager.
func TestStartAt(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	m := manage(t, p.store, p.host())
	later := func(d time.Duration) runs.Run {
		run, err := m.Create(t.Context(), runs.CreateParams{Project: "p", Pipeline: pipeline(t, threeSteps),
			StartAt: time.Now().Add(d)})
		fstest.Must(t, err)
		return run
	}
	far := later(time.Hour)
	same(t, "status", string(far.Status), "scheduled")
	wait(t, m, later(20*time.Millisecond), runs.Success)
	_, err := m.Retry(t.Context(), far.Ref())
	refusal(t, err, "cannot retry run 1: it is scheduled, only failed and canceled runs can be retried")
	far, err = m.Cancel(t.Context(), far.Ref())
	fstest.Must(t, err)
	same(t, "status", string(far.Status), "canceled")
	_, err = m.Retry(t.Context(), far.Ref())
	fstest.Must(t, err)
	wait(t, m, far, runs.Success)
	due := later(20 * time.Millisecond)
	fstest.Must(t, m.Close(t.Context()))
	other := manage(t, p.open(t), p.host())
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- other.Work(ctx) }()
	wait(t, other, due, runs.Success)
	cancel()
	fstest.Must(t, <-done)
}

// A dry run ends in success with the planned result.
func TestDryRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	m := manage(t, p.store, p.host())
	run := create(t, m, strings.Replace(threeSteps, `"name"`, `"dry_run": true, "name"`, 1))
	run = wait(t, m, run, runs.Success)
	same(t, "jobs", jobsOf(t, p.store, run, true), "1001 find success, 1002 fix success, 1003 left success, 1004 commit skipped")
	same(t, "tree", fstest.Read(t, p.tree, "a.txt"), "one\n")
	files := fstest.OpenRoot(t, p.dir)
	if diff := fstest.Read(t, files, "runs/000000/000000001/diff"); !strings.Contains(diff, "-one\n+two\n") {
		t.Error(diff)
	}
	if view := fstest.Read(t, files, "runs/000000/000000001/plan.json"); !strings.Contains(view, `"path":"a.txt"`) {
		t.Error(view)
	}
}

// A step cannot create runs: the new runs may wait for the step's own run.
func TestCreate_nested(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	h := p.host()
	var m *rundir.Manager
	var inner []error
	nest := tool.Func("nest", "nests", func(ctx context.Context, _ struct{}) (string, error) {
		_, err := m.Create(ctx, runs.CreateParams{Project: "p", Pipeline: pipeline(t, threeSteps)})
		inner = append(inner, err)
		_, err = m.Retry(ctx, runs.RunRef{ID: "1"})
		inner = append(inner, err)
		return "", nil
	})
	set, err := tool.New(nest)
	fstest.Must(t, err)
	h.Executor.Tools = set
	m = manage(t, p.store, h)
	wait(t, m, create(t, m, `{"name": "n", "steps": [{"id": "a", "action": "tool", "params": {"tool": "nest"}}]}`), runs.Success)
	if len(inner) != 2 || !errors.Is(inner[0], millrace.ErrNested) || !errors.Is(inner[1], millrace.ErrNested) {
		t.Error(inner)
	}
}

// No more runs are executed than allowed, and a run whose tree cannot be opened has failed.
func TestMaxRunning(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	h := p.host()
	h.MaxRunning = 1
	opened, leave := make(chan string), make(chan bool)
	h.Trees = openTree(func(id string) (fleet.Tree, error) {
		opened <- id
		<-leave
		if id == "none" {
			return fleet.Tree{}, os.ErrNotExist
		}
		return fleet.Tree{FS: afero.NewMemMapFs()}, nil
	})
	m := manage(t, p.store, h)
	var all []runs.Run
	for _, project := range []string{"p", "none"} {
		run, err := m.Create(t.Context(), runs.CreateParams{Project: project, Pipeline: pipeline(t, threeSteps)})
		fstest.Must(t, err)
		all = append(all, run)
	}
	first := <-opened
	for {
		statuses := map[runs.Status]int{}
		for _, run := range all {
			got, err := p.store.Get(t.Context(), run.Ref())
			fstest.Must(t, err)
			statuses[got.Status]++
		}
		if statuses[runs.Preparing] == 1 && statuses[runs.Pending] == 1 {
			break
		}
	}
	leave <- true
	if second := <-opened; second == first {
		t.Error("opened twice")
	}
	leave <- true
	wait(t, m, all[0], runs.Success)
	got := wait(t, m, all[1], runs.Failed)
	same(t, "reason", got.Reason, "tree cannot be opened: file does not exist")
}

type openTree func(id string) (fleet.Tree, error)

func (o openTree) Open(_ context.Context, t fleet.Target) (fleet.Tree, error) { return o(t.ID) }
