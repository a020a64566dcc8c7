package runcommands_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

const (
	browse = "browse_pipelines"
	manage = "manage_pipeline"
	jobs   = "manage_pipeline_job"
)

// deploy waits before its second step.
const deploy = `{"name": "deploy", "variables": {"word": "two", "limit": {"type": "integer", "default": 1}}, "steps": [
	{"id": "fix", "action": "edit", "params": {"files": ["a.txt"], "old_text": "one", "new_text": "1"}},
	{"id": "check", "manual": true, "action": "edit", "params": {"files": ["a.txt"], "old_text": "1", "new_text": "{{vars.word}}"}}]}`

// broken fails in its second step.
const broken = `{"name": "broken", "steps": [
	{"id": "find", "action": "count_occurrences", "params": {"files": ["a.txt"], "pattern": "one"}},
	{"id": "stop", "action": "fail", "params": {"message": "enough"}}]}`

type trees map[string]afero.Fs

func (t trees) Open(_ context.Context, target fleet.Target) (fleet.Tree, error) {
	return fleet.Tree{FS: t[target.ID]}, nil
}

// host is a program that serves the commands over a store.
type host struct {
	runs.Tools
	t       *testing.T
	tree    afero.Fs
	manager *rundir.Manager
}

func newHost(t *testing.T) *host {
	t.Helper()
	key := []byte("0123456789abcdef0123456789abcdef")
	h := &host{t: t, tree: fstest.OpenRoot(t, t.TempDir())}
	fstest.Must(t, afero.WriteFile(h.tree, "a.txt", []byte("one\n"), 0o644))
	files := afero.NewMemMapFs()
	for name, text := range map[string]string{"deploy": deploy, "broken": broken, "invalid": `{"name": "q", "steps": []}`} {
		fstest.Must(t, afero.WriteFile(files, name+".json", []byte(text), 0o600))
	}
	library := millrace.Library{Dirs: []millrace.LibraryDir{{Name: "user", FS: files}}}
	dir := t.TempDir()
	store, err := rundir.Open(fstest.OpenRoot(t, dir), "runs", rundir.Options{Key: key, NoSync: true, SharedDir: dir + "/shared"})
	fstest.Must(t, err)
	h.manager, err = store.Manage(rundir.Host{
		Executor: millrace.Executor{State: millrace.State{NoSync: true, Key: key}}, Trees: trees{"p": h.tree}, Library: library, User: "ann",
	})
	fstest.Must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := h.manager.Close(ctx); err != nil {
			t.Error("close:", err)
		}
	})
	h.Tools = runs.Tools{Browse: store, Manage: h.manager, Jobs: h.manager.Jobs(), Library: library, Source: runs.SourceMCP}
	return h
}

// call decodes the answer of a command into v.
func (h *host) call(name, args string, v any) {
	h.t.Helper()
	answer, err := h.Call(h.t.Context(), name, json.RawMessage(args))
	if err != nil {
		h.t.Fatalf("%s %s: %v", name, args, err)
	}
	fstest.Must(h.t, json.Unmarshal(answer, v))
}

// refused checks that a command is refused with this message.
func (h *host) refused(name, args, want string) {
	h.t.Helper()
	answer, err := h.Call(h.t.Context(), name, json.RawMessage(args))
	if answer != nil || err == nil || err.Error() != want {
		h.t.Errorf("%s %s answers %s\ngot  %v\nwant %s", name, args, answer, err, want)
	}
}

// wait waits until a run stops, and checks its status.
func (h *host) wait(run runs.Run, want runs.Status) runs.Run {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 30*time.Second)
	defer cancel()
	got, err := h.manager.Wait(ctx, run.Ref())
	fstest.Must(h.t, err)
	if got.Status != want {
		h.t.Fatalf("run %s is %s (%s), want %s", got.ID, got.Status, got.Reason, want)
	}
	return got
}

// names returns the jobs of a page: "fix success, check manual, ".
func names(page runs.Page[runs.Job]) string {
	text := ""
	for _, j := range page.Items {
		text += j.ID + " " + j.Name + " " + string(j.Status) + ", "
	}
	return text
}

// A run is created by name, waits, is read in every way, and is played.
func TestPlayed(t *testing.T) {
	h := newHost(t)
	var run runs.Run
	h.call(manage, `{"action":"create","projectId":"p","ref":"deploy","variables":[{"key":"limit","value":"3"}]}`, &run)
	if run.ID != "1" || run.RefName != "deploy" || run.Name != "deploy" || run.Source != "mcp" || run.User != "ann" || len(run.Variables) != 1 {
		t.Errorf("created %+v", run)
	}
	h.wait(run, runs.Manual)

	var page runs.Page[runs.Run]
	h.call(browse, `{"action":"list","projectId":"p","status":"manual","ref":"deploy","username":"ann","source":"mcp","yaml_errors":false,"sha":"`+run.SHA[:7]+`"}`, &page)
	if page.Total != 1 || page.Snapshot != 1 || page.Items[0].RunID != run.RunID {
		t.Errorf("list is %+v", page)
	}
	h.call(browse, `{"action":"list","projectId":"p","status":"failed"}`, &page)
	if page.Total != 0 {
		t.Errorf("list is %+v", page)
	}
	for _, id := range []string{`1`, `"1"`, `"` + run.RunID + `"`} {
		var got runs.Run
		h.call(browse, `{"action":"get","projectId":"p","pipelineId":`+id+`}`, &got)
		if got.ID != "1" || got.Status != runs.Manual || got.Held == nil || got.Held.JobID != "1002" {
			t.Errorf("run %s is %+v", id, got)
		}
		run = got
	}
	var list runs.Page[runs.Job]
	h.call(browse, `{"action":"jobs","projectId":"p","pipelineId":1}`, &list)
	if got := names(list); got != "1001 fix success, 1002 check manual, 1003 commit created, " {
		t.Errorf("jobs are %s", got)
	}
	h.call(browse, `{"action":"jobs","projectId":"p","pipelineId":1,"scope":"manual","per_page":1}`, &list)
	if got := names(list); got != "1002 check manual, " {
		t.Errorf("jobs are %s", got)
	}
	var targets runs.Page[runs.Trigger]
	h.call(browse, `{"action":"triggers","projectId":"p","pipelineId":1}`, &targets)
	if targets.Items == nil || targets.Total != 0 {
		t.Errorf("targets are %+v", targets)
	}
	var job runs.Job
	h.call(browse, `{"action":"job","projectId":"p","jobId":"1/fix"}`, &job)
	if job.ID != "1001" || job.Result == nil || job.Result.EditsApplied != 1 {
		t.Errorf("job is %+v", job)
	}
	var log runs.Log
	h.call(browse, `{"action":"logs","projectId":"p","jobId":1001,"start":1,"limit":1}`, &log)
	if log.ShownLines != 1 || log.StartLine != 1 || log.NextStart != 2 || log.Trace == "" || !log.Complete {
		t.Errorf("log is %+v", log)
	}

	h.refused(manage, `{"action":"retry","projectId":"p","pipelineId":1}`, "cannot retry run 1: it is manual, play or cancel it")
	h.refused(jobs, `{"action":"play","projectId":"p","jobId":1001}`, "cannot play job 1001 (step 'fix'): it is success, only manual jobs can be played")
	h.refused(jobs, `{"action":"play","projectId":"p","jobId":1002,"job_variables_attributes":[{"key":"limit","value":"ten"}]}`, `variable 'limit': "ten" is no integer`)
	h.call(jobs, `{"action":"play","projectId":"p","jobId":1002,"plan_digest":"`+run.Held.PlanDigest+`","job_variables_attributes":[{"key":"word","value":"three"}]}`, &job)
	h.wait(run, runs.Success)
	if got := fstest.Read(t, h.tree, "a.txt"); got != "three\n" {
		t.Errorf("the tree has %q", got)
	}
	h.refused(manage, `{"action":"retry","projectId":"p","pipelineId":1}`, "cannot retry run 1: it is success, create a new run")
	h.refused(manage, `{"action":"cancel","projectId":"p","pipelineId":1}`, "cannot cancel run 1: it is success")
	h.refused(browse, `{"action":"get","projectId":"q","pipelineId":1}`, "run 1 not found in project 'q'")
	h.refused(browse, `{"action":"job","projectId":"p","jobId":2001}`, "job 2001 not found in project 'p'")
}

// Failed or held runs are retried and canceled, as a whole and from a job on.
func TestRetriedAndCanceled(t *testing.T) {
	h := newHost(t)
	var run runs.Run
	h.call(manage, `{"action":"create","projectId":"p","definition":`+broken+`}`, &run)
	h.wait(run, runs.Failed)
	h.refused(manage, `{"action":"cancel","projectId":"p","pipelineId":1}`, "cannot cancel run 1: it is failed")
	h.call(manage, `{"action":"retry","projectId":"p","pipelineId":1}`, &run)
	h.wait(run, runs.Failed)
	var job runs.Job
	h.call(jobs, `{"action":"retry","projectId":"p","jobId":"1/find"}`, &job)
	h.wait(run, runs.Failed)
	var list runs.Page[runs.Job]
	h.call(browse, `{"action":"jobs","projectId":"p","pipelineId":1,"scope":"failed","include_retried":true}`, &list)
	if list.Total != 3 {
		t.Errorf("jobs are %s", names(list))
	}

	for _, cancel := range []struct{ name, args string }{
		{manage, `{"action":"cancel","projectId":"p","pipelineId":2}`},
		{jobs, `{"action":"cancel","projectId":"p","jobId":"3/check"}`},
	} {
		h.call(manage, `{"action":"create","projectId":"p","ref":"deploy"}`, &run)
		h.wait(run, runs.Manual)
		h.call(cancel.name, cancel.args, new(any))
		h.wait(run, runs.Canceled)
	}
	var page runs.Page[runs.Run]
	h.call(browse, `{"action":"list","projectId":"p","order_by":"status","sort":"asc","per_page":2}`, &page)
	if len(page.Items) != 2 || page.Items[0].ID != "2" || page.Items[1].ID != "3" || page.NextPage != 2 || page.Total != 3 {
		t.Errorf("list is %+v", page)
	}
	if got := fstest.Read(t, h.tree, "a.txt"); got != "one\n" {
		t.Errorf("the tree has %q", got)
	}
}

// A ref whose file is not a pipeline makes a failed run, and the caller gets both the run and the error.
func TestInvalidRef(t *testing.T) {
	h := newHost(t)
	answer, err := h.Call(t.Context(), manage, json.RawMessage(`{"action":"create","projectId":"p","ref":"invalid"}`))
	invalid, ok := errors.AsType[*millrace.ValidationError](err)
	if !ok || len(invalid.Problems) != 1 || invalid.Problems[0].Code != "no_steps" {
		t.Errorf("error is %v", err)
	}
	var run runs.Run
	fstest.Must(t, json.Unmarshal(answer, &run))
	if run.Status != runs.Failed || !run.YAMLErrors || run.RefName != "invalid" {
		t.Errorf("run is %s", answer)
	}
	var page runs.Page[runs.Run]
	h.call(browse, `{"action":"list","projectId":"p","yaml_errors":true}`, &page)
	if page.Total != 1 || page.Items[0].ID != run.ID {
		t.Errorf("list is %+v", page)
	}
	h.refused(manage, `{"action":"retry","projectId":"p","pipelineId":"`+run.ID+`"}`, "cannot retry run "+run.ID+": it is failed, not resumable: create a new run")
}
