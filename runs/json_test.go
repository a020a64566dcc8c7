package runs_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/runs"
)

// The complete JSON of all types, and back.
func TestJSON(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	run := runs.Run{
		ID: "12", RunID: "0c", Project: "p", Name: "n", RefName: "r", SHA: "ab", Status: runs.Manual, Reason: "why", Resumable: true, ResumeFrom: "12/rm", Foreign: true,
		Source: "api", User: "ann", YAMLErrors: true, CreatedAt: at, UpdatedAt: at, StartAt: at, StartedAt: at, FinishedAt: at,
		Duration: 1500 * time.Microsecond, QueuedDuration: time.Second, Parent: "11", Attempts: 2, Variables: []string{"a"},
		Held: &runs.Held{JobID: "12003", PlanDigest: "0d", Files: 3, Edits: 4, Risk: risk.High},
		Summary: &runs.Summary{
			Targets: 9, Success: 1, Failed: 2, Skipped: 3, Canceled: 1, Files: 5, Edits: 6, Risks: risk.Counts{Low: 1, Medium: 2, High: 3, Critical: 4},
			Failures: []runs.Failure{{Index: 1, Target: "t", Run: "13", Code: "conflict", Message: "m"}},
		},
		Result: &millrace.Result{Name: "n"},
	}
	job := runs.Job{
		ID: "12003", Run: "12", Project: "p", Name: "deploy", Kind: runs.JobStep, Action: "exec", Status: runs.Failed, Reason: "why", Visit: 2, Attempt: 3,
		Retried: true, CreatedAt: at, StartedAt: at, FinishedAt: at, Duration: 2 * time.Millisecond,
		Result: &millrace.StepResult{StepID: "deploy"},
	}
	// This package is not responsible for the JSON of results.
	result, err := json.Marshal(run.Result)
	if err != nil {
		t.Fatal(err)
	}
	step, err := json.Marshal(job.Result)
	if err != nil {
		t.Fatal(err)
	}
	const when = `"2030-01-02T03:04:05Z"`
	tests := []struct {
		name  string
		value any
		into  any
		want  string
	}{
		{"run", &run, new(runs.Run), `{"id":12,"run_id":"0c","project_id":"p","name":"n","ref":"r","sha":"ab","status":"manual","reason":"why","resumable":true,"resume_from":"12/rm",` +
			`"foreign":true,"source":"api","username":"ann","yaml_errors":true,"created_at":` + when + `,"updated_at":` + when + `,"start_at":` + when +
			`,"started_at":` + when + `,"finished_at":` + when + `,"attempts":2,"variables":["a"],"held":{"job_id":12003,"plan_digest":"0d","files":3,"edits":4,"risk":"HIGH"},` +
			`"summary":{"targets":9,"success":1,"failed":2,"skipped":3,"canceled":1,"files":5,"edits":6,"risks":{"LOW":1,"MEDIUM":2,"HIGH":3,"CRITICAL":4},` +
			`"failures":[{"index":1,"target":"t","code":"conflict","message":"m","run":13}]},"result":` + string(result) + `,"parent":11,"duration":1.5,"queued_duration":1000}`},
		{"bare run", &runs.Run{ID: "millrace/p/1"}, new(runs.Run), `{"id":"millrace/p/1","project_id":"","name":"","ref":"","sha":"","status":"","resumable":false,"source":"",` +
			`"yaml_errors":false,"attempts":0,"variables":[],"duration":0,"queued_duration":0}`},
		{"job", &job, new(runs.Job), `{"id":12003,"run":12,"project_id":"p","name":"deploy","kind":"step","action":"exec","status":"failed","reason":"why","visit":2,"attempt":3,` +
			`"retried":true,"created_at":` + when + `,"started_at":` + when + `,"finished_at":` + when + `,"result":` + string(step) + `,"duration":2}`},
		{"bare job", &runs.Job{ID: "01", Run: "0", Kind: runs.JobCommit}, new(runs.Job), `{"id":"01","run":"0","project_id":"","name":"","kind":"commit","status":"","visit":0,` +
			`"attempt":0,"retried":false,"duration":0}`},
		{"trigger", &runs.Trigger{Name: "t", Status: runs.Created}, new(runs.Trigger), `{"name":"t","status":"created"}`},
		{"no failures", &runs.Summary{}, new(runs.Summary), `{"targets":0,"success":0,"failed":0,"skipped":0,"canceled":0,"files":0,"edits":0,` +
			`"risks":{"LOW":0,"MEDIUM":0,"HIGH":0,"CRITICAL":0},"failures":[]}`},
		{"page", &runs.Page[runs.Trigger]{Page: 1, PerPage: 20}, new(runs.Page[runs.Trigger]), `{"items":[],"page":1,"per_page":20,"total":0,"next_page":0}`},
		{"log", &runs.Log{Trace: "a\n", TotalLines: 3, ShownLines: 1, StartLine: 2, NextStart: 3, HasMore: true}, new(runs.Log),
			`{"trace":"a\n","total_lines":3,"shown_lines":1,"start_line":2,"next_start":3,"has_more":true,"complete":false}`},
		{"variable", &runs.Variable{Key: "k", Type: runs.File}, new(runs.Variable), `{"key":"k","value":"","variable_type":"file"}`},
		{"filter", &runs.Filter{Project: "p", User: "u", Paging: runs.Paging{Page: 2}}, new(runs.Filter), `{"project_id":"p","username":"u","page":2}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data, err := json.Marshal(tt.value)
			if err != nil {
				t.Fatal(err)
			}
			if string(data) != tt.want {
				t.Errorf("got  %s\nwant %s", data, tt.want)
			}
			if err := json.Unmarshal(data, tt.into); err != nil {
				t.Fatal(err)
			}
			again, err := json.Marshal(tt.into)
			if err != nil || string(again) != tt.want {
				t.Errorf("again %s, %v", again, err)
			}
		})
	}
	var back runs.Run
	if err := json.Unmarshal([]byte(tests[0].want), &back); err != nil {
		t.Fatal(err)
	}
	run.Result, back.Result = nil, nil // compared above
	if diff := cmp.Diff(run, back); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	if got, want := run.Ref(), (runs.RunRef{Project: "p", ID: "12"}); got != want {
		t.Errorf("reference %v", got)
	}
	if got, want := job.Ref(), (runs.JobRef{Project: "p", ID: "12003"}); got != want {
		t.Errorf("reference %v", got)
	}
	for _, bad := range []string{`{"id":true}`, `{"duration":"x"}`, `{"held":{"job_id":[]}}`,
		`{"summary":{"failures":[{"run":{}}]}}`} {
		if json.Unmarshal([]byte(bad), new(runs.Run)) == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

func TestNumber(t *testing.T) {
	for id, want := range map[string]int64{
		"1": 1, "12003": 12003, "9223372036854775807": 1<<63 - 1, "": 0, "0": 0, "01": 0, "+1": 0, "-1": 0, "1e3": 0, "9223372036854775808": 0, "0c": 0, "1c": 0, "١": 0,
	} {
		if n, ok := runs.Number(id); n != want && ok || ok != (want > 0) {
			t.Errorf("%q is %d, %v", id, n, ok)
		}
	}
}
