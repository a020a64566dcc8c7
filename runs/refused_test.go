package runs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/runs"
)

const (
	browse   = "browse_pipelines"
	manage   = "manage_pipeline"
	jobs     = "manage_pipeline_job"
	statuses = "created, waiting_for_resource, preparing, pending, running, success, failed, canceled, skipped, manual, scheduled"
	scopes   = "created, pending, running, failed, success, canceled, skipped, waiting_for_resource, manual"
)

// said returns a problem in one line: pointer, code, message and hint.
func said(p millrace.Problem) string {
	text := p.Pointer + " " + p.Code + ": " + p.Message
	if p.Hint != "" {
		text += " | " + p.Hint
	}
	return text
}

// Each call is refused with exactly these problems, and no method is called.
func TestRefused(t *testing.T) {
	tests := []struct {
		name, command, args string
		want                []string
	}{
		{"no action", browse, `{}`, []string{"/action missing_action: browse_pipelines requires 'action' (list, get, jobs, triggers, job, logs)"}},
		{"nothing", browse, ``, []string{"/action missing_action: browse_pipelines requires 'action' (list, get, jobs, triggers, job, logs)"}},
		{"action misspelled", browse, `{"action":"lst"}`, []string{"/action unknown_action: unknown action 'lst' for browse_pipelines (list, get, jobs, triggers, job, logs) | did you mean 'list'?"}},
		{"action of another command", manage, `{"action":"play"}`, []string{"/action unknown_action: unknown action 'play' for manage_pipeline (create, retry, cancel) | manage_pipeline_job has it"}},
		{"unknown action of jobs", jobs, `{"action":"stop"}`, []string{"/action unknown_action: unknown action 'stop' for manage_pipeline_job (play, retry, cancel)"}},
		{"action is a number", browse, `{"action":1}`, []string{"/action wrong_type: 'action' must be a string, got number"}},
		{"action is null", browse, `{"action":null}`, []string{"/action wrong_type: 'action' must be a string, got null"}},
		{"a list", browse, ` []`, []string{" wrong_type: browse_pipelines takes an object, got list"}},
		{"no JSON", browse, `{"action":"get",}`, []string{" invalid_json: browse_pipelines: line 1, column 17: a comma before '}' has nothing after it"}},
		{"a name twice", browse, `{"action":"get","action":"list"}`, []string{` invalid_json: browse_pipelines: line 1, column 17: name "action" appears twice in one object`}},
		{"too deep", browse, strings.Repeat("[", 200), []string{" json_too_deep: browse_pipelines: line 1, column 101: lists and objects are nested more than 100 deep"}},
		{"too large", browse, `"` + strings.Repeat("x", 1<<20) + `"`, []string{" json_too_large: browse_pipelines: the text is too large: 1048578 bytes, at most 1048576 are allowed"}},

		{"list requires", browse, `{"action":"list"}`, []string{"/projectId missing_param: list action requires 'projectId' parameter"}},
		{"get requires", browse, `{"action":"get"}`, []string{
			"/projectId missing_param: get action requires 'projectId' parameter", "/pipelineId missing_param: get action requires 'pipelineId' parameter",
		}},
		{"jobs requires", browse, `{"action":"jobs","projectId":"p"}`, []string{"/pipelineId missing_param: jobs action requires 'pipelineId' parameter"}},
		{"triggers requires", browse, `{"action":"triggers","projectId":"p"}`, []string{"/pipelineId missing_param: triggers action requires 'pipelineId' parameter"}},
		{"job requires", browse, `{"action":"job","projectId":"p"}`, []string{"/jobId missing_param: job action requires 'jobId' parameter"}},
		{"logs requires", browse, `{"action":"logs","projectId":"p"}`, []string{"/jobId missing_param: logs action requires 'jobId' parameter"}},
		{"create requires", manage, `{"action":"create"}`, []string{
			"/projectId missing_param: create action requires 'projectId' parameter", "/ref missing_param: create action requires 'ref' or 'definition' parameter",
		}},
		{"create takes one", manage, `{"action":"create","projectId":"p","ref":"r","definition":"r"}`, []string{
			"/definition two_forms: create action takes 'ref' or 'definition', not both",
			"/definition unknown_pipeline: no pipeline 'r': the library has no directories",
		}},
		{"retry requires", manage, `{"action":"retry","projectId":"p"}`, []string{"/pipelineId missing_param: retry action requires 'pipelineId' parameter"}},
		{"cancel requires", manage, `{"action":"cancel","projectId":"p"}`, []string{"/pipelineId missing_param: cancel action requires 'pipelineId' parameter"}},
		{"play requires", jobs, `{"action":"play","projectId":"p"}`, []string{"/jobId missing_param: play action requires 'jobId' parameter"}},
		{"retry of a job requires", jobs, `{"action":"retry"}`, []string{
			"/projectId missing_param: retry action requires 'projectId' parameter", "/jobId missing_param: retry action requires 'jobId' parameter",
		}},
		{"cancel of a job requires", jobs, `{"action":"cancel","projectId":"p"}`, []string{"/jobId missing_param: cancel action requires 'jobId' parameter"}},

		{"misplaced", browse, `{"action":"get","projectId":"p","pipelineId":1,"status":"failed"}`, []string{"/status misplaced_param: 'status' does not belong to action 'get' (list takes it)"}},
		{"misplaced, taken by several", browse, `{"action":"job","projectId":"p","jobId":1,"page":1}`, []string{"/page misplaced_param: 'page' does not belong to action 'job' (list, jobs, triggers take it)"}},
		{"misplaced variables", manage, `{"action":"retry","projectId":"p","pipelineId":1,"variables":[]}`, []string{"/variables misplaced_param: 'variables' does not belong to action 'retry' (create takes it)"}},
		{"misplaced force", jobs, `{"action":"cancel","projectId":"p","jobId":1,"force":true}`, []string{"/force misplaced_param: 'force' does not belong to action 'cancel' (play takes it)"}},
		{"unknown parameter", browse, `{"action":"get","projectId":"p","pipelineId":1,"pipeline_id":1}`, []string{"/pipeline_id unknown_field: unknown parameter 'pipeline_id' | did you mean 'pipelineId'?"}},
		{"unknown parameter like none", browse, `{"action":"list","projectId":"p","a/b":1}`, []string{"/a~1b unknown_field: unknown parameter 'a/b'"}},
		{"job of a run command", manage, `{"action":"retry","projectId":"p","pipelineId":1,"jobId":1}`, []string{"/jobId unknown_field: unknown parameter 'jobId'"}},

		{"project is empty", browse, `{"action":"list","projectId":""}`, []string{"/projectId empty_param: 'projectId' must not be empty"}},
		{"project is a number", browse, `{"action":"list","projectId":1}`, []string{"/projectId wrong_type: 'projectId' must be a string, got number"}},
		{"project is long", browse, `{"action":"list","projectId":"` + strings.Repeat("ä", 1025) + `"}`, []string{"/projectId out_of_range: 'projectId' has 1025 characters, at most 1024 are allowed"}},
		{"id is not an id", browse, `{"action":"get","projectId":"p","pipelineId":true}`, []string{"/pipelineId wrong_type: 'pipelineId' must be a whole number or a string, got bool"}},
		{"id is 0", browse, `{"action":"get","projectId":"p","pipelineId":0}`, []string{"/pipelineId out_of_range: pipelineId must be 1 to 9007199254740992, got 0"}},
		{"id is negative", browse, `{"action":"job","projectId":"p","jobId":-1}`, []string{"/jobId out_of_range: jobId must be 1 to 9007199254740992, got -1"}},
		{"id is huge", browse, `{"action":"job","projectId":"p","jobId":1e30}`, []string{"/jobId out_of_range: jobId must be 1 to 9007199254740992, got 1e30"}},
		{"id is more than an int64", browse, `{"action":"job","projectId":"p","jobId":18446744073709551615}`, []string{
			"/jobId out_of_range: jobId must be 1 to 9007199254740992, got 18446744073709551615",
		}},
		{"id is not a whole number", browse, `{"action":"job","projectId":"p","jobId":1.5}`, []string{"/jobId wrong_type: 'jobId' must be a whole number or a string, got 1.5"}},
		{"id is empty", browse, `{"action":"job","projectId":"p","jobId":""}`, []string{"/jobId empty_param: 'jobId' must not be empty"}},
		{"status", browse, `{"action":"list","projectId":"p","status":"cancelled"}`, []string{"/status unsupported_value: status 'cancelled' is not one of " + statuses + " | did you mean 'canceled'?"}},
		{"scope", browse, `{"action":"jobs","projectId":"p","pipelineId":1,"scope":"scheduled"}`, []string{"/scope unsupported_value: scope 'scheduled' is not one of " + scopes}},
		{"order", browse, `{"action":"list","projectId":"p","order_by":"user","sort":"up"}`, []string{
			"/order_by unsupported_value: order_by 'user' is not one of id, status, ref, updated_at, user_id | did you mean 'user_id'?", "/sort unsupported_value: sort 'up' is not one of asc, desc",
		}},
		{"sha", browse, `{"action":"list","projectId":"p","sha":"abcdef"}`, []string{"/sha bad_value: sha must be 7 to 64 hexadecimal digits, got 'abcdef'"}},
		{"flags", browse, `{"action":"list","projectId":"p","yaml_errors":"true"}`, []string{"/yaml_errors wrong_type: 'yaml_errors' must be true or false, got string"}},
		{"times", browse, `{"action":"list","projectId":"p","updated_after":"yesterday","updated_before":"2030-1-2T15:04:05Z"}`, []string{
			"/updated_after bad_value: updated_after 'yesterday' is no RFC 3339 time | write it as 2006-01-02T15:04:05Z",
			"/updated_before bad_value: updated_before '2030-1-2T15:04:05Z' is no RFC 3339 time | write it as 2006-01-02T15:04:05Z",
		}},
		{"page", browse, `{"action":"list","projectId":"p","per_page":500,"page":0,"snapshot":0}`, []string{
			"/per_page out_of_range: per_page must be 1 to 100, got 500", "/page out_of_range: page must be 1 to 1000000000, got 0",
			"/snapshot out_of_range: snapshot must be 1 to 9007199254740992, got 0",
		}},
		{"page is not a number", browse, `{"action":"list","projectId":"p","page":"2","per_page":2.5}`, []string{
			"/page wrong_type: 'page' must be a whole number, got string", "/per_page wrong_type: 'per_page' must be a whole number, got 2.5",
		}},
		{"lines", browse, `{"action":"logs","projectId":"p","jobId":1,"limit":10001,"start":-1e10}`, []string{
			"/limit out_of_range: limit must be 1 to 10000, got 10001", "/start out_of_range: start must be -1000000000 to 1000000000, got -10000000000",
		}},

		{"variables", manage, `{"action":"create","projectId":"p","ref":"r","variables":[{"key":"X","value":1},{"value":"v"},3,{"key":"","value":"","variable_type":"fil"},{"key":"k","value":"","val":""}]}`, []string{
			"/variables/0/value wrong_type: 'variables[0].value' must be a string, got number",
			"/variables/1/key missing_param: variables[1] requires 'key'",
			"/variables/2 wrong_type: 'variables[2]' must be an object, got number",
			"/variables/3/key empty_param: 'variables[3].key' must not be empty",
			"/variables/3/variable_type unsupported_value: variables[3].variable_type 'fil' is not one of env_var, file | did you mean 'file'?",
			"/variables/4/val unknown_field: unknown parameter 'variables[4].val' | did you mean 'value'?",
		}},
		{"variables are not a list", manage, `{"action":"create","projectId":"p","ref":"r","variables":{"X":"1"}}`, []string{"/variables wrong_type: 'variables' must be a list of objects, got object"}},
		{"variable twice", manage, `{"action":"create","projectId":"p","ref":"r","variables":[{"key":"X","value":"1"},{"key":"X","value":"2"}]}`, []string{"/variables/1/key invalid_variable: variable 'X' is given twice"}},
		{"variables of a job have no type", jobs, `{"action":"play","projectId":"p","jobId":1,"job_variables_attributes":[{"key":"X","value":"1","variable_type":"file"}]}`, []string{
			"/job_variables_attributes/0/variable_type unknown_field: unknown parameter 'job_variables_attributes[0].variable_type'",
		}},
		{"too many variables", manage, `{"action":"create","projectId":"p","ref":"r","variables":[` + strings.Repeat(`{},`, 100) + `{}]}`, []string{"/variables out_of_range: variables has 101 entries, at most 100 are allowed"}},
		{"long values", manage, fmt.Sprintf(`{"action":"create","projectId":"p","ref":"r","variables":[{"key":"X","value":"%s"},{"key":"Y","value":"%s","variable_type":"file"}]}`,
			strings.Repeat("v", 64<<10+1), strings.Repeat("v", 1<<20+1)), []string{
			"/variables/0/value out_of_range: variable 'X' has 65537 bytes, at most 65536 are allowed", "/variables/1/value out_of_range: variable 'Y' has 1048577 bytes, at most 1048576 are allowed",
		}},
		{"a pipeline that is none", manage, `{"action":"create","projectId":"p","per_page":1,"definition":{"name":"q","steps":[]}}`, []string{
			"/per_page unknown_field: unknown parameter 'per_page'", "/definition/steps no_steps: at least one step is required",
		}},
		{"a definition that is not a text", manage, `{"action":"create","projectId":"p","definition":[1]}`, []string{"/definition wrong_type: 'definition' must be an object or a string, got list"}},
		{"a name that the library has not", manage, `{"action":"create","definition":"q"}`, []string{
			"/projectId missing_param: create action requires 'projectId' parameter", "/definition unknown_pipeline: no pipeline 'q': the library has no directories",
		}},
		{"all at once", browse, `{"action":"lst","projectid":"p","per_page":500,"status":"x","sort":1}`, []string{
			"/action unknown_action: unknown action 'lst' for browse_pipelines (list, get, jobs, triggers, job, logs) | did you mean 'list'?",
			"/projectid unknown_field: unknown parameter 'projectid' | did you mean 'projectId'?",
			"/per_page out_of_range: per_page must be 1 to 100, got 500",
			"/status unsupported_value: status 'x' is not one of " + statuses,
			"/sort wrong_type: 'sort' must be a string, got number",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEngine()
			answer, err := e.tools().Call(t.Context(), tt.command, json.RawMessage(tt.args))
			refused, ok := errors.AsType[*runs.ArgsError](err)
			if !ok || answer != nil || len(e.asked) > 0 {
				t.Fatalf("answer %s, error %v, asked %v", answer, err, e.asked)
			}
			var got []string
			for _, p := range refused.Problems {
				got = append(got, said(p))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if invalid, ok := errors.AsType[*millrace.ValidationError](err); !ok || len(invalid.Problems) != len(got) {
				t.Errorf("it is not a list of problems as others are: %v", err)
			}
		})
	}
}

func TestRefusedText(t *testing.T) {
	tests := []struct{ command, args, want string }{
		{browse, `{"action":"lst"}`, "unknown action 'lst' for browse_pipelines (list, get, jobs, triggers, job, logs): did you mean 'list'?"},
		{browse, `{"action":"get","projectId":"p"}`, "get action requires 'pipelineId' parameter"},
		{manage, `{"action":"create","projectId":"p","ref":"r","variables":[{"key":"X","value":"1"},{"key":"X","value":"2"}]}`, "variable 'X' is given twice"},
		{browse, `{"action":"list","projectId":"p","per_page":500,"page":-1}`, "browse_pipelines: 2 problems:\n  - per_page must be 1 to 100, got 500\n  - page must be 1 to 1000000000, got -1"},
		{manage, `{"action":"create","projectId":"p","definition":"q"}`, "no pipeline 'q': the library has no directories"},
		{manage, `{"action":"create","projectId":"p","definition":{"name":"q","steps":[{"id":"a","action":"fail","params":{"mesage":"m"}}]}}`,
			"fail action has no parameter 'mesage' (at /definition/steps/0/params/mesage, line 1): did you mean 'message'?"},
	}
	for _, tt := range tests {
		_, err := newEngine().tools().Call(t.Context(), tt.command, json.RawMessage(tt.args))
		if err == nil || err.Error() != tt.want && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
}

// Problems have the lines of the call's text, also problems of a pipeline in it.
func TestRefusedLines(t *testing.T) {
	args := "{\"action\":\"create\",\n\"projectId\":\"p\",\n  \"status\": 1,\n\"definition\":{\"name\":\"q\",\n  \"steps\":[{\"id\":\"a\",\"action\":\"non\"}],\n  \"nme\":1}}"
	_, err := newEngine().tools().Call(t.Context(), manage, json.RawMessage(args))
	refused, ok := errors.AsType[*runs.ArgsError](err)
	if !ok || len(refused.Problems) != 3 {
		t.Fatal(err)
	}
	for i, want := range []struct{ line, column int }{{3, 3}, {6, 3}, {5, 31}} {
		if p := refused.Problems[i]; p.Line != want.line || p.Column != want.column {
			t.Errorf("%s stands in line %d, column %d, want %v", p.Pointer, p.Line, p.Column, want)
		}
	}
}

// Problems of a pipeline in quotes have the place where its string begins.
func TestRefusedLinesInQuotes(t *testing.T) {
	_, err := newEngine().tools().Call(t.Context(), manage,
		json.RawMessage("{\"action\":\"create\",\n\"projectId\":\"p\",\"definition\":\n  \"{}\"}"))
	refused, ok := errors.AsType[*runs.ArgsError](err)
	if !ok {
		t.Fatal(err)
	}
	for _, p := range refused.Problems {
		if p.Line != 3 || p.Column != 3 || !strings.HasPrefix(p.Pointer, "/definition") {
			t.Errorf("%s stands in line %d, column %d", p.Pointer, p.Line, p.Column)
		}
	}
}

// A text with many mistakes has a bounded answer.
func TestManyProblems(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `,"status%d":1`, i)
	}
	_, err := newEngine().tools().Call(t.Context(), browse,
		json.RawMessage(`{"action":"list","projectId":"p"`+b.String()+`}`))
	refused, ok := errors.AsType[*runs.ArgsError](err)
	if !ok || len(refused.Problems) != 101 {
		t.Fatalf("%.300v", err)
	}
	if got := said(refused.Problems[100]); got != " too_many_problems: 4900 more problems" {
		t.Errorf("the last one is %q", got)
	}
}
