package mcpserver_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/mcpserver"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// oneTree opens the same tree for each run.
type oneTree struct{ fs afero.Fs }

func (o oneTree) Open(context.Context, fleet.Target) (fleet.Tree, error) {
	return fleet.Tree{FS: o.fs}, nil
}

// withRuns serves a tree that has a store of runs.
func withRuns(t *testing.T, cfg mcpserver.Config, files string, people ...*person) *client {
	t.Helper()
	dir := tree(t, files)
	key := []byte("0123456789abcdef0123456789abcdef")
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	store, err := rundir.Open(root, rundir.DefaultDir, rundir.Options{Key: key, NoSync: true, SharedDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	m, err := store.Manage(rundir.Host{Executor: millrace.Executor{State: millrace.State{Key: key, NoSync: true}}, Trees: oneTree{root}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	cfg.FS, cfg.Executor.State.Key, cfg.Executor.State.NoSync = root.WithAbsolute(), key, true
	cfg.Runs = runs.Tools{Browse: store, Manage: m, Jobs: m.Jobs()}
	s, err := mcpserver.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	var opts *mcp.ClientOptions
	for _, p := range people {
		opts = p.options()
	}
	return &client{ClientSession: connect(t, s, opts), t: t, dir: dir}
}

func TestRuns(t *testing.T) {
	c := withRuns(t, mcpserver.Config{Aliases: true, Project: "tree"}, "-- src/a.txt --\nrecieve\n")
	r := c.good("pipeline", `{"definition":`+fixTypo+`}`)
	c.holds("-- src/a.txt --\nreceive\n")
	id, _ := r.data["run_id"].(string)
	if id == "" {
		t.Fatalf("the data are %v", r.data)
	}
	for _, project := range []string{"tree", "."} {
		r = c.good("browse_pipelines", `{"action":"list","projectId":"`+project+`"}`)
		has(t, r.text, `"total":1`, `"status":"success"`, `"source":"mcp"`)
		if r.data["total"] != 1.0 {
			t.Errorf("the data are %v", r.data)
		}
	}
	c.good("browse_pipelines", `{"action":"get","projectId":"tree","pipelineId":`+id+`}`)
	c.good("browse_pipelines", `{"action":"jobs","projectId":"tree","pipelineId":`+id+`}`)
	c.good("browse_pipelines", `{"action":"logs","projectId":"tree","jobId":"`+id+`/fix"}`)
	c.good("manage_pipeline", `{"action":"create","projectId":"tree","definition":`+fixTypo+`}`)
	c.bad("manage_pipeline", `{"action":"retry","projectId":"tree","pipelineId":`+id+`}`, "cannot retry run")
	c.bad("manage_pipeline_job", `{"action":"cancel","projectId":"tree","jobId":"`+id+`/fix"}`, "cannot cancel job")
	c.bad("browse_pipelines", `{"action":"get","projectId":"tree","pipelineId":99}`, "not found")
	c.bad("browse_pipelines", `{"action":"list","projectId":"another"}`, "/projectId: this server has no project 'another' (use 'tree')")
	c.bad("browse_pipelines", `{"action":"list"}`, "projectId")
	c.bad("browse_pipelines", `{"action":"lst","projectId":"tree","stats":1}`, "invalid_arguments: ")

	// A failed run is resumed at the step where it failed.
	r = c.bad("pipeline", `{"definition":{"name":"later","steps":[{"id":"find","action":"search","params":{"pattern":"receive"}},{"id":"read","action":"read_ranges","params":{"files":["later.txt"]}}]}}`,
		"step_failed: run ", "later.txt", "next: call browse_pipelines")
	failed := line(t, r.text, "step_failed: run ")
	failed, _, _ = strings.Cut(failed, " ")
	c.good("fs_write", `{"command":"create","path":"later.txt","file_text":"x\n"}`)
	for _, resume := range []string{failed, failed + "/read"} {
		r = c.call("pipeline", `{"resume":"`+resume+`"}`)
		if resume == failed && r.err {
			t.Errorf("resume %s: %s", resume, r.text)
		}
	}
	c.bad("pipeline", `{"resume":"99"}`, "not found")
}

// A model that plays its own job with force would bypass the approval of a person.
func TestRunsTakeNoForce(t *testing.T) {
	c := withRuns(t, mcpserver.Config{Aliases: true}, many(60))
	r := c.bad("pipeline", `{"definition":`+fixAll+`}`, "held: run ", "is manual", "next: ask the user")
	run, _, _ := strings.Cut(line(t, r.text, "held: run "), " ")
	c.bad("manage_pipeline_job", `{"action":"play","projectId":".","jobId":"`+run+`/commit","force":true}`, "blocked: force is not taken from a call")
	r = c.good("manage_pipeline", `{"action":"create","projectId":".","definition":`+fixAll+`}`)
	for status := ""; status != "manual"; {
		got := c.good("browse_pipelines", `{"action":"get","projectId":".","pipelineId":`+quote(r.data["id"])+`}`)
		if status, _ = got.data["status"].(string); status == "success" || status == "failed" {
			t.Fatalf("the run is %s", status)
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.holds(many(60))
}

// Only the person at the host can release a run that needs a person.
func TestRunsHeld(t *testing.T) {
	p := &person{action: "accept", approve: false}
	c := withRuns(t, mcpserver.Config{Aliases: true}, many(60), p)
	r := c.bad("pipeline", `{"definition":`+fixAll+`}`, "held: run ", "is manual", "next: call manage_pipeline_job")
	run, _, _ := strings.Cut(line(t, r.text, "held: run "), " ")
	play := `{"action":"play","projectId":".","jobId":"` + run + `/commit","force":true}`
	c.bad("manage_pipeline_job", play, "not approved")
	c.holds(many(60))
	p.approve = true
	c.good("manage_pipeline_job", play)
	for status := ""; status != "success"; {
		got := c.good("browse_pipelines", `{"action":"get","projectId":".","pipelineId":`+run+`}`)
		if status, _ = got.data["status"].(string); status == "failed" || status == "canceled" {
			t.Fatalf("the run is %s", status)
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.holds(fixed(many(60)))
	if len(p.asked) != 2 {
		t.Fatalf("the person was asked %d times", len(p.asked))
	}
	has(t, p.asked[0], "60 files", "60 edits")
}

func TestRunsReadOnly(t *testing.T) {
	c := withRuns(t, mcpserver.Config{ReadOnly: true}, "")
	tools, _ := listOf(t, c)
	names := ""
	for _, tool := range tools {
		names += tool.Name + " "
	}
	if !strings.Contains(names, "browse_pipelines") || strings.Contains(names, "manage_pipeline") {
		t.Errorf("the tools are %s", names)
	}
	c.good("browse_pipelines", `{"action":"list","projectId":"."}`)
}

func TestRunsSchemas(t *testing.T) {
	tools, _ := listOf(t, withRuns(t, mcpserver.Config{}, ""))
	for _, tool := range tools {
		s, _ := tool.InputSchema.(map[string]any)
		if s["type"] != "object" {
			t.Errorf("%s: the type is %v", tool.Name, s["type"])
		}
		for _, word := range []string{"oneOf", "anyOf", "allOf", "$schema"} {
			if strings.Contains(quote(s), `"`+word+`"`) {
				t.Errorf("%s: the schema has %s", tool.Name, word)
			}
		}
	}
	if n := len(quote(tools)); n > 20<<10 {
		t.Errorf("with the commands over runs the list has %d bytes", n)
	}
}

// The tools mention names of pipelines only if there is a library with pipelines.
func TestNoLibrary(t *testing.T) {
	c := withRuns(t, mcpserver.Config{Aliases: true}, "")
	tools, _ := listOf(t, c)
	for _, tool := range tools {
		if text := quote(tool); strings.Contains(text, "library") ||
			tool.Name == "manage_pipeline" && strings.Contains(text, `"ref"`) {
			t.Errorf("%s: %s", tool.Name, text)
		}
	}
}

// A run has a single id in an answer. resume accepts this id, and also the id from a store. The name can be omitted.
func TestRunIDs(t *testing.T) {
	const unnamed = `{"definition":{"steps":[{"id":"a","action":"read_ranges","params":{"files":["later.txt"]}}]}}`
	c := serve(t, mcpserver.Config{Aliases: true}, "-- later.txt --\nx\n", nil)
	if id, _ := c.good("pipeline", unnamed).data["run_id"].(string); len(id) < 8 {
		t.Errorf("the id is %q", id)
	}
	c = withRuns(t, mcpserver.Config{Aliases: true}, "")
	failed := c.bad("pipeline", unnamed, "step_failed: run 1 is failed")
	if failed.data["run_id"] != "1" {
		t.Errorf("the data are %v", failed.data)
	}
	run := c.good("browse_pipelines", `{"action":"get","projectId":".","pipelineId":1}`).data
	c.bad("pipeline", `{"resume":`+quote(run["run_id"].(string)+"/a")+`}`, "step_failed: run 1 is failed")
	c.good("fs_write", `{"path":"later.txt","file_text":"x\n"}`)
	if r := c.good("pipeline", `{"resume":`+quote(run["run_id"])+`}`); r.data["run_id"] != "1" {
		t.Errorf("the data are %v", r.data)
	}
}

// A pipeline that lacks a value is refused before its run exists.
func TestMissingVariable(t *testing.T) {
	c := withRuns(t, mcpserver.Config{Aliases: true}, "-- a.txt --\na\n")
	const definition = `{"name":"x","variables":{"v":{"type":"string"}},"steps":[{"id":"a","action":"search","params":{"pattern":"{{vars.v}}"}}]}`
	c.bad("manage_pipeline", `{"action":"create","projectId":".","definition":`+definition+`}`, "variable 'v' has no value")
	c.bad("pipeline", `{"definition":`+definition+`}`, "invalid_pipeline", "variable 'v' has no value")
	if r := c.good("browse_pipelines", `{"action":"list","projectId":"."}`); r.data["total"] != 0.0 {
		t.Errorf("the runs are %v", r.data)
	}
	c.good("manage_pipeline", `{"action":"create","projectId":".","definition":`+definition+`,"variables":[{"key":"v","value":"a"}]}`)
}

// A waiting job that is canceled is listed as canceled.
func TestCancelWaiting(t *testing.T) {
	c := withRuns(t, mcpserver.Config{Aliases: true}, "-- a.txt --\na\n")
	c.bad("pipeline", `{"definition":{"name":"x","steps":[{"id":"w","action":"edit","manual":true,"params":{"files":["a.txt"],"old_text":"a","new_text":"b"}}]}}`, "held: ")
	c.good("manage_pipeline_job", `{"action":"cancel","projectId":".","jobId":"1/w"}`)
	r := c.good("browse_pipelines", `{"action":"jobs","projectId":".","pipelineId":1,"scope":"canceled"}`)
	if r.data["total"] != 1.0 {
		t.Errorf("the jobs are %v", r.data)
	}
}
