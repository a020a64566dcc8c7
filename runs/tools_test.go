package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/runs"
)

const inline = `{"name":"q","variables":{"limit":3,"who":"x"},"steps":[{"id":"find","action":"fail","params":{"message":"m"}}]}`

// Each action calls its method with the given values.
func TestCalls(t *testing.T) {
	at := func(s string) time.Time {
		parsed, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	yes := true
	tests := []struct {
		name, command, args string
		asked               any    // the first argument, nil for any
		answer              string // the beginning of the answer
	}{
		{
			"list", "browse_pipelines", `{"action":"list","projectId":"p"}`, runs.Filter{Project: "p"},
			`{"items":[{"id":14,`,
		},
		{
			"list by everything", "browse_pipelines", `{"action":"list","projectId":"p","status":"failed","ref":"rename-class","sha":"ABCDEF0",
				"username":"ann","yaml_errors":true,"updated_before":"2030-01-02T15:04:05Z","updated_after":"2020-01-02T15:04:05.5+01:00","name":"n",
				"order_by":"user_id","sort":"asc","source":"parent_pipeline","page":2,"per_page":100,"snapshot":12}`,
			runs.Filter{
				Project: "p", Status: runs.Failed, Ref: "rename-class", SHA: "abcdef0", User: "ann", YAMLErrors: &yes, Name: "n",
				UpdatedBefore: at("2030-01-02T15:04:05Z"), UpdatedAfter: at("2020-01-02T15:04:05.5+01:00"), OrderBy: runs.ByUserID,
				Ascending: true, Source: runs.SourceParent, Paging: runs.Paging{Page: 2, PerPage: 100}, Snapshot: 12,
			},
			`{"items":[],"page":2,"per_page":100,"total":0,"next_page":0,"snapshot":12}`,
		},
		{"list of a long project", "browse_pipelines", `{"action":"list","projectId":"` + strings.Repeat("ä", 1024) + `"}`, nil, `{"items":[],`},
		{"list descending", "browse_pipelines", `{"action":"list","projectId":"p","sort":"desc","order_by":"id"}`, runs.Filter{Project: "p", OrderBy: "id"}, `{"items":[{"id":14,`},
		{"get by number", "browse_pipelines", `{"action":"get","projectId":"p","pipelineId":12}`, runs.RunRef{Project: "p", ID: "12"}, `{"id":12,"run_id":"0c",`},
		{"get by a whole number that is written otherwise", "browse_pipelines", `{"action":"get","projectId":"p","pipelineId":1.2e1}`, runs.RunRef{Project: "p", ID: "12"}, `{"id":12,`},
		{"get by text", "browse_pipelines", `{"action":"get","projectId":"p","pipelineId":"12"}`, runs.RunRef{Project: "p", ID: "12"}, `{"id":12,`},
		{"get by run id", "browse_pipelines", `{"action":"get","projectId":"p","pipelineId":"0c"}`, runs.RunRef{Project: "p", ID: "0c"}, `{"id":12,`},
		{"jobs", "browse_pipelines", `{"action":"jobs","projectId":"p","pipelineId":12}`, runs.JobFilter{}, `{"items":[{"id":12001,"run":12,"project_id":"p","name":"find","kind":"step",`},
		{
			"jobs by everything", "browse_pipelines", `{"action":"jobs","projectId":"p","pipelineId":12,"scope":"failed","include_retried":true,"page":1,"per_page":1}`,
			runs.JobFilter{Scope: []runs.Status{runs.Failed}, IncludeRetried: true, Paging: runs.Paging{Page: 1, PerPage: 1}}, `{"items":[{"id":12002,`,
		},
		{"triggers", "browse_pipelines", `{"action":"triggers","projectId":"p","pipelineId":12,"page":3,"per_page":7}`, runs.Paging{Page: 3, PerPage: 7}, `{"items":[],"page":3,"per_page":7,`},
		{"job", "browse_pipelines", `{"action":"job","projectId":"p","jobId":12004}`, runs.JobRef{Project: "p", ID: "12004"}, `{"id":12004,"run":12,`},
		{"job by step", "browse_pipelines", `{"action":"job","projectId":"p","jobId":"12/fix"}`, runs.JobRef{Project: "p", ID: "12/fix"}, `{"id":12004,"run":12,`},
		{"logs", "browse_pipelines", `{"action":"logs","projectId":"p","jobId":12001}`, runs.LogRange{}, `{"trace":"line 51\nline 52\n`},
		{"logs of a range", "browse_pipelines", `{"action":"logs","projectId":"p","jobId":12001,"start":-2,"limit":1}`, runs.LogRange{Start: -2, Limit: 1}, `{"trace":"line 249\n","total_lines":250,"shown_lines":1,"start_line":249,"next_start":250,"has_more":true,"complete":true}`},

		{"create", "manage_pipeline", `{"action":"create","projectId":"p","ref":"rename-class"}`, runs.CreateParams{Project: "p", Ref: "rename-class", Source: "mcp"}, `{"id":15,`},
		{
			"create with variables", "manage_pipeline",
			`{"action":"create","projectId":"p","ref":"r","variables":[{"key":"a","value":""},{"key":"b","value":"2","variable_type":"env_var"},{"key":"c","value":"3","variable_type":"file"}]}`,
			runs.CreateParams{Project: "p", Ref: "r", Source: "mcp", Variables: []runs.Variable{{Key: "a"}, {Key: "b", Value: "2", Type: runs.EnvVar}, {Key: "c", Value: "3", Type: runs.File}}}, `{"id":15,`,
		},
		{"create from an object", "manage_pipeline", `{"action":"create","projectId":"p","definition":` + inline + `,"variables":[{"key":"limit","value":"7"}]}`, nil, `{"id":15,"project_id":"p","name":"q",`},
		{"create from a text", "manage_pipeline", `{"action":"create","projectId":"p","definition":` + quoted(inline) + `}`, nil, `{"id":15,"project_id":"p","name":"q",`},
		{"retry", "manage_pipeline", `{"action":"retry","projectId":"p","pipelineId":12}`, runs.RunRef{Project: "p", ID: "12"}, `{"id":12,"run_id":"0c","project_id":"p","name":"rename","ref":"rename-class","sha":"abcdef0123","status":"pending",`},
		{"cancel", "manage_pipeline", `{"action":"cancel","projectId":"p","pipelineId":"14"}`, runs.RunRef{Project: "p", ID: "14"}, `{"id":14,"project_id":"p","name":"rename","ref":"rename-class","sha":"abcdef0123","status":"canceled",`},

		{"play", "manage_pipeline_job", `{"action":"play","projectId":"p","jobId":13003}`, runs.PlayParams{}, `{"id":13003,"run":13,"project_id":"p","name":"deploy","kind":"step","action":"list_files","status":"running",`},
		{
			"play with everything", "manage_pipeline_job",
			`{"action":"play","projectId":"p","jobId":"13/deploy","job_variables_attributes":[{"key":"a","value":"1"}],"force":true,"plan_digest":"0d"}`,
			runs.PlayParams{Variables: []runs.Variable{{Key: "a", Value: "1"}}, Force: true, PlanDigest: "0d"}, `{"id":13003,`,
		},
		{"retry of a job", "manage_pipeline_job", `{"action":"retry","projectId":"p","jobId":12001}`, runs.JobRef{Project: "p", ID: "12001"}, `{"id":12001,`},
		{"cancel of a job", "manage_pipeline_job", `{"action":"cancel","projectId":"p","jobId":14002}`, runs.JobRef{Project: "p", ID: "14002"}, `{"id":14002,`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, lenient := range []bool{false, true} {
				e := newEngine()
				tools := e.tools()
				tools.Source, tools.Lenient = "mcp", lenient
				answer, err := tools.Call(t.Context(), tt.command, json.RawMessage(tt.args))
				if err != nil {
					t.Fatal(err)
				}
				if tt.asked != nil {
					if diff := cmp.Diff(tt.asked, e.asked[0], cmpopts.IgnoreUnexported(millrace.Pipeline{})); diff != "" {
						t.Errorf("asked otherwise (-want +got):\n%s", diff)
					}
				}
				if !strings.HasPrefix(string(answer), tt.answer) {
					t.Errorf("answer is %.300s", answer)
				}
				if strings.Contains(string(answer), "null") {
					t.Errorf("answer has null: %s", answer)
				}
			}
		})
	}
}

func quoted(s string) string {
	data, _ := json.Marshal(s)
	return string(data)
}

// The given pipeline is created.
func TestCreatePipeline(t *testing.T) {
	want, err := millrace.Decode([]byte(inline))
	if err != nil {
		t.Fatal(err)
	}
	for _, definition := range []string{inline, quoted(inline)} {
		e := newEngine()
		if _, err := e.tools().Call(t.Context(), "manage_pipeline",
			json.RawMessage(`{"action":"create","projectId":"p","definition":`+definition+`}`)); err != nil {
			t.Fatal(err)
		}
		got := e.asked[0].(runs.CreateParams)
		if got.Ref != "" || !got.Pipeline.Equal(want) {
			t.Errorf("created %+v", got)
		}
	}
}

// The answer has the warnings about the text of the pipeline.
func TestCreateWarns(t *testing.T) {
	lenient := strings.Replace(inline, `"steps"`, `"Steps"`, 1)
	tools := newEngine().tools()
	tools.Library.Decoder.Lenient = true
	answer, err := tools.Call(t.Context(), "manage_pipeline",
		json.RawMessage(`{"action":"create","projectId":"p","definition":`+lenient+`}`))
	var got struct{ Warnings []string }
	if err != nil || json.Unmarshal(answer, &got) != nil || len(got.Warnings) != 1 {
		t.Errorf("the answer is %s, %v", answer, err)
	}
}

// A ref whose text is not a pipeline returns a failed run with the error.
func TestCreateBroken(t *testing.T) {
	answer, err := newEngine().tools().Call(t.Context(), "manage_pipeline",
		json.RawMessage(`{"action":"create","projectId":"p","ref":"broken"}`))
	if _, ok := errors.AsType[*millrace.ValidationError](err); !ok {
		t.Errorf("error is %v", err)
	}
	var run runs.Run
	if err := json.Unmarshal(answer, &run); err != nil || run.ID != "15" || run.Status != runs.Failed || !run.YAMLErrors {
		t.Errorf("answer is %s, %v", answer, err)
	}
}

// A nil part has no name, and a call of it is an error.
func TestHalves(t *testing.T) {
	e := newEngine()
	all := e.tools()
	const refused = " is not available: read-only"
	tests := []struct {
		name  string
		tools runs.Tools
		names []string
	}{
		{"nothing", runs.Tools{}, []string{}},
		{"read-only", runs.Tools{Browse: all.Browse}, []string{"browse_pipelines"}},
		{"runs", runs.Tools{Browse: all.Browse, Manage: all.Manage}, []string{"browse_pipelines", "manage_pipeline"}},
		{"jobs", runs.Tools{Jobs: all.Jobs}, []string{"manage_pipeline_job"}},
		{"all", all, []string{"browse_pipelines", "manage_pipeline", "manage_pipeline_job"}},
	}
	calls := map[string]string{
		"browse_pipelines":    `{"action":"list","projectId":"p"}`,
		"manage_pipeline":     `{"action":"cancel","projectId":"p","pipelineId":14}`,
		"manage_pipeline_job": `{"action":"cancel","projectId":"p","jobId":14002}`,
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.names, tt.tools.Names()); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
			for name, args := range calls {
				answer, err := tt.tools.Call(t.Context(), name, json.RawMessage(args))
				_, noSchema := tt.tools.Schema(name)
				_, noFlat := tt.tools.FlatSchema(name)
				_, noDoc := tt.tools.Describe(name)
				if slices.Contains(tt.names, name) {
					if err != nil && name == "browse_pipelines" || noSchema != nil || noFlat != nil || noDoc != nil {
						t.Errorf("%s: %v, %v, %v, %v", name, err, noSchema, noFlat, noDoc)
					}
					continue
				}
				want := name + refused
				if name == "browse_pipelines" {
					want = "browse_pipelines is not available: there are no runs to look at"
				}
				for _, err := range []error{err, noSchema, noFlat, noDoc} {
					if err == nil || err.Error() != want || errors.Is(err, millrace.ErrReadOnly) != (name != "browse_pipelines") {
						t.Errorf("%s: %v", name, err)
					}
				}
				if answer != nil {
					t.Errorf("%s has answered %s", name, answer)
				}
			}
		})
	}
}

func TestUnknownCommand(t *testing.T) {
	tests := []struct{ name, want string }{
		{"browse_pipeline", "unknown command 'browse_pipeline' (browse_pipelines, manage_pipeline, manage_pipeline_job): did you mean 'browse_pipelines'?"},
		{"rm", "unknown command 'rm' (browse_pipelines, manage_pipeline, manage_pipeline_job)"},
		{"get_pipeline", "unknown command 'get_pipeline' (browse_pipelines, manage_pipeline, manage_pipeline_job): call browse_pipelines with action 'get'"},
	}
	for _, tt := range tests {
		if _, err := newEngine().tools().Call(t.Context(), tt.name, nil); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// Lenient accepts the names and verbs of another edition. Strict decoding refuses each.
func TestLenient(t *testing.T) {
	tests := []struct {
		command, args string
		asked         any
		strict        string
	}{
		{"browse_pipelines", `{"action":"get","project_id":"p","pipeline_id":12}`, runs.RunRef{Project: "p", ID: "12"}, "unknown parameter 'project_id': did you mean 'projectId'?"},
		{"browse_pipelines", `{"action":"job","projectId":"p","job_id":"12/fix"}`, runs.JobRef{Project: "p", ID: "12/fix"}, "unknown parameter 'job_id': did you mean 'jobId'?"},
		{
			"browse_pipelines", `{"action":"jobs","projectId":"p","pipelineId":12,"scope":["failed","success"]}`,
			runs.JobFilter{Scope: []runs.Status{runs.Failed, runs.Success}}, "'scope' must be a string, got list",
		},
		{
			"manage_pipeline", `{"action":"play_job","project_id":"p","job_id":13003,"force":true,"job_variables_attributes":[{"key":"a","value":"b"}]}`,
			runs.PlayParams{Force: true, Variables: []runs.Variable{{Key: "a", Value: "b"}}}, "unknown action 'play_job' for manage_pipeline (create, retry, cancel)",
		},
		{"manage_pipeline", `{"action":"retry_job","projectId":"p","jobId":12001}`, runs.JobRef{Project: "p", ID: "12001"}, "unknown action 'retry_job' for manage_pipeline (create, retry, cancel)"},
		{"manage_pipeline", `{"action":"cancel_job","projectId":"p","jobId":14002}`, runs.JobRef{Project: "p", ID: "14002"}, "unknown action 'cancel_job' for manage_pipeline (create, retry, cancel)"},
	}
	for _, tt := range tests {
		e := newEngine()
		tools := e.tools()
		if _, err := tools.Call(t.Context(), tt.command, json.RawMessage(tt.args)); err == nil ||
			!strings.Contains(err.Error(), tt.strict) {
			t.Errorf("%s is taken: %v", tt.args, err)
		}
		if len(e.asked) > 0 {
			t.Errorf("%s: something was done", tt.args)
		}
		tools.Lenient = true
		if _, err := tools.Call(t.Context(), tt.command, json.RawMessage(tt.args)); err != nil {
			t.Errorf("%s: %v", tt.args, err)
			continue
		}
		if diff := cmp.Diff(tt.asked, e.asked[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.args, diff)
		}
	}
	for args, want := range map[string]string{
		`{"action":"list","projectId":"p","project_id":"q"}`:                     "'projectId' and 'project_id' are the same: give one of them",
		`{"action":"jobs","projectId":"p","pipelineId":12,"scope":[]}`:           "'scope' must not be empty",
		`{"action":"jobs","projectId":"p","pipelineId":12,"scope":["faild"]}`:    "scope[0] 'faild' is not one of " + scopes + ": did you mean 'failed'?",
		`{"action":"jobs","projectId":"p","pipelineId":12,"scope":["failed",1]}`: "'scope[1]' must be a string, got number",
		`{"action":"list","projectId":"p","status":["failed"]}`:                  "'status' must be a string, got list",
		`{"action":"get","project_id":"p","pipeline_id":12,"per_page":1}`:        "'per_page' does not belong to action 'get' (list, jobs, triggers take it)",
		`{"action":"job","project_id":"p","job_id":12,"pipeline_id":1}`:          "'pipeline_id' does not belong to action 'job' (get, jobs, triggers take it)",
		`{"action":"lst"}`: "unknown action 'lst' for browse_pipelines (list, get, jobs, triggers, job, logs): did you mean 'list'?",
	} {
		e := newEngine()
		tools := e.tools()
		tools.Lenient = true
		if _, err := tools.Call(t.Context(), browse, json.RawMessage(args)); err == nil || err.Error() != want ||
			e.asked != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
	readOnlyJobs := newEngine().tools()
	readOnlyJobs.Jobs, readOnlyJobs.Lenient = nil, true
	_, err := readOnlyJobs.Call(t.Context(), "manage_pipeline",
		json.RawMessage(`{"action":"cancel_job","projectId":"p","jobId":14002}`))
	if err == nil || err.Error() != "manage_pipeline_job is not available: read-only" {
		t.Errorf("a folded action has done more than its own command: %v", err)
	}
}

// endless has a job whose result cannot be written as JSON.
type endless struct{ browsing }

func (endless) Job(context.Context, runs.JobRef) (runs.Job, error) {
	return runs.Job{ID: "1", Result: &millrace.StepResult{Data: math.Inf(1)}}, nil
}

// A call without an answer is an error, not a partial answer.
func TestAnswerFails(t *testing.T) {
	tools := runs.Tools{Browse: endless{}}
	answer, err := tools.Call(t.Context(), browse, json.RawMessage(`{"action":"job","projectId":"p","jobId":1}`))
	if answer != nil || err == nil || !strings.HasPrefix(err.Error(), "browse_pipelines: the answer cannot be written: ") {
		t.Errorf("answer %s, error %v", answer, err)
	}
}

// Errors of the host are returned unchanged.
func TestErrorsOfHost(t *testing.T) {
	tools := newEngine().tools()
	for _, tt := range []struct{ command, args, want string }{
		{browse, `{"action":"get","projectId":"p","pipelineId":99}`, "run 99 not found in project 'p'"},
		{browse, `{"action":"get","projectId":"q","pipelineId":12}`, "run 12 not found in project 'q'"},
		{browse, `{"action":"jobs","projectId":"p","pipelineId":"x"}`, "run x not found in project 'p'"},
		{browse, `{"action":"triggers","projectId":"p","pipelineId":99}`, "run 99 not found in project 'p'"},
		{browse, `{"action":"job","projectId":"p","jobId":"12/no"}`, "job 12/no not found in project 'p'"},
		{browse, `{"action":"logs","projectId":"p","jobId":99}`, "job 99 not found in project 'p'"},
		{manage, `{"action":"retry","projectId":"p","pipelineId":14}`, "cannot retry run 14: it is running, cancel it first"},
		{manage, `{"action":"cancel","projectId":"p","pipelineId":12}`, "cannot cancel run 12: it is failed"},
		{jobs, `{"action":"play","projectId":"p","jobId":12001}`, "cannot play job 12001 (step 'find'): it is success, only manual jobs can be played"},
		{jobs, `{"action":"retry","projectId":"p","jobId":"14/find"}`, "cannot retry job 14001 (step 'find'): run 14 is running, cancel it first"},
		{jobs, `{"action":"cancel","projectId":"p","jobId":"12/fix"}`, "cannot cancel job 12004 (step 'fix'): it is failed"},
		{manage, `{"action":"create","projectId":"p","definition":` + inline + `,"variables":[{"key":"limit","value":"ten"}]}`, `variable 'limit': "ten" is no integer`},
		{manage, `{"action":"create","projectId":"p","definition":` + inline + `,"variables":[{"key":"X","value":""}]}`, `variable 'X' is not declared by pipeline 'q' (declared: limit, who)`},
	} {
		answer, err := tools.Call(t.Context(), tt.command, json.RawMessage(tt.args))
		if answer != nil || err == nil || err.Error() != tt.want {
			t.Errorf("%s: answer %s\ngot  %v\nwant %s", tt.args, answer, err, tt.want)
		}
	}
	var refused *runs.StateError
	_, err := tools.Call(t.Context(), manage, json.RawMessage(`{"action":"cancel","projectId":"p","pipelineId":12}`))
	if !errors.As(err, &refused) || *refused != (runs.StateError{Verb: "cancel", What: "run", ID: "12",
		Status: "failed"}) {
		t.Errorf("error is %#v", err)
	}
}

// A definition can be the name of a pipeline of the host's library.
func TestCreateFromLibrary(t *testing.T) {
	files := afero.NewMemMapFs()
	for name, text := range map[string]string{"good.json": inline, "bad.json": `{"name":"q"}`} {
		if err := afero.WriteFile(files, name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := newEngine()
	tools := e.tools()
	tools.Library = millrace.Library{Dirs: []millrace.LibraryDir{{Name: "user", FS: files}}}
	create := func(definition string) error {
		_, err := tools.Call(t.Context(), manage,
			json.RawMessage(`{"action":"create","projectId":"p","definition":"`+definition+`"}`))
		return err
	}
	if err := create("good"); err != nil || e.asked[0].(runs.CreateParams).Pipeline.Name() != "q" {
		t.Errorf("%v, asked %v", err, e.asked)
	}
	for _, name := range []string{"bad", "goood"} {
		err := create(name)
		isLibrary := millrace.ErrorCode(err) == "invalid_pipeline" && strings.Contains(err.Error(), "'"+name+"' in user")
		_, isArgs := errors.AsType[*runs.ArgsError](err)
		if !isLibrary || isArgs || len(e.asked) > 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tools.Call(canceled, manage,
		json.RawMessage(`{"action":"create","projectId":"p","definition":"good"}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("the library is read although the context is done: %v", err)
	}
}
