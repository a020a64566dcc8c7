package runs_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/runs"
)

// FuzzCall: any text returns an answer or an error that states the mistake. A refused call has done nothing, problems
// have pointers into the arguments, and lenient decoding accepts every text that strict decoding accepts, with the same
// meaning.
func FuzzCall(f *testing.F) {
	for _, seed := range []string{
		`{"action":"list","projectId":"p","status":"failed","order_by":"user_id","sort":"asc","updated_after":"2030-01-02T03:04:05Z","sha":"abcdef0","page":2,"snapshot":13}`,
		`{"action":"get","projectId":"p","pipelineId":12}`, `{"action":"get","project_id":"p","pipeline_id":"0c"}`,
		`{"action":"jobs","projectId":"p","pipelineId":"12","scope":["failed","success"],"include_retried":true}`,
		`{"action":"triggers","projectId":"p","pipelineId":1.2e1,"per_page":500}`, `{"action":"job","projectId":"p","jobId":"12/fix"}`,
		`{"action":"logs","projectId":"p","jobId":12001,"start":-5,"limit":2}`,
		`{"action":"create","projectId":"p","ref":"r","variables":[{"key":"a","value":"b","variable_type":"file"},{"key":"a","value":""}]}`,
		`{"action":"create","projectId":"p","definition":` + inline + `,"variables":[{"key":"limit","value":"ten"}]}`,
		`{"action":"create","projectId":"p","definition":{"name":"q","steps":[{"id":"a","action":"non"}]}}`,
		`{"action":"create","projectId":"p","definition":"{\"name\":1}"}`, `{"action":"play","projectId":"p","jobId":13003,"force":true,"plan_digest":"0d"}`,
		`{"action":"play_job","projectId":"p","job_id":13003,"job_variables_attributes":[{"key":"a","value":"b"}]}`,
		`{"action":"cancel","projectId":"p","pipelineId":14}`, `{"action":"lst","a/b":1,"~":2}`, `[]`, `{`, ``, `{"action":"retry","projectId":"","jobId":-1}`,
	} {
		for command := range 3 {
			f.Add(command, seed)
		}
	}
	f.Fuzz(func(t *testing.T, command int, args string) {
		name := []string{browse, manage, jobs}[uint(command)%3]
		e, strictly := call(t, name, args, false)
		other, leniently := call(t, name, args, true)
		if strictly == nil && leniently != nil {
			t.Errorf("strict decoding takes it, lenient does not: %v", leniently)
		}
		if strictly == nil && len(e.asked) != len(other.asked) {
			t.Errorf("asked %v strictly, %v leniently", e.asked, other.asked)
		}
	})
}

// call calls a command and checks everything that applies to any call.
func call(t *testing.T, name, args string, lenient bool) (*engine, error) {
	e := newEngine()
	tools := e.tools()
	tools.Lenient = lenient
	answer, err := tools.Call(t.Context(), name, json.RawMessage(args))
	if (answer == nil) != (err != nil) && !strings.Contains(args, "broken") {
		t.Errorf("answer %s beside error %v", answer, err)
	}
	if answer != nil && !json.Valid(answer) {
		t.Errorf("answer is %s", answer)
	}
	refused, ok := errors.AsType[*runs.ArgsError](err)
	if !ok {
		return e, err
	}
	if len(refused.Problems) == 0 || refused.Error() == "" {
		t.Error("nothing is said to be wrong")
	}
	if len(e.asked) > 0 && refused.Tool != "" {
		t.Errorf("refused, and yet asked %v: %v", e.asked, err)
	}
	for _, p := range refused.Problems {
		if p.Code == "" || p.Message == "" || p.Pointer != "" && p.Pointer[0] != '/' {
			t.Errorf("problem %+v", p)
		}
	}
	if _, ok := errors.AsType[*millrace.ValidationError](err); !ok {
		t.Error("it is not a list of problems as others are")
	}
	return e, err
}
