package runs_test

import (
	"errors"
	"testing"

	"github.com/millrace-go/millrace/runs"
)

// Each verb in each status of a run: "" means allowed.
func TestRunVerbs(t *testing.T) {
	const (
		ended = ", only failed and canceled runs can be retried"
		first = ", cancel it first"
		anew  = ", create a new run"
	)
	tests := []struct {
		status        runs.Status
		retry, cancel string
	}{
		{runs.Created, "cannot retry run 12: it is created" + ended, ""},
		{runs.Scheduled, "cannot retry run 12: it is scheduled" + ended, ""},
		{runs.Pending, "cannot retry run 12: it is pending" + first, ""},
		{runs.Preparing, "cannot retry run 12: it is preparing" + first, ""},
		{runs.WaitingForResource, "cannot retry run 12: it is waiting_for_resource" + first, ""},
		{runs.Running, "cannot retry run 12: it is running" + first, ""},
		{runs.Manual, "cannot retry run 12: it is manual, play or cancel it", ""},
		{runs.Failed, "", "cannot cancel run 12: it is failed"},
		{runs.Canceled, "", "cannot cancel run 12: it is canceled"},
		{runs.Success, "cannot retry run 12: it is success" + anew, "cannot cancel run 12: it is success"},
		{runs.Skipped, "cannot retry run 12: it is skipped" + anew, "cannot cancel run 12: it is skipped"},
	}
	if len(tests) != len(runs.Statuses()) {
		t.Errorf("%d of %d statuses", len(tests), len(runs.Statuses()))
	}
	for _, tt := range tests {
		run := runs.Run{ID: "12", Project: "p", Status: tt.status, Resumable: true}
		checkRefusal(t, run.Check(runs.VerbRetry), tt.retry)
		checkRefusal(t, run.Check(runs.VerbCancel), tt.cancel)
		checkRefusal(t, run.Check(runs.VerbPlay), "cannot play run 12: it is "+string(tt.status)+", runs are not played, their jobs are")
	}
	checkRefusal(t, runs.Run{ID: "12", Status: runs.Failed}.Check(runs.VerbRetry), "cannot retry run 12: it is failed, not resumable: create a new run")
	checkRefusal(t, runs.Run{ID: "12", Status: runs.Failed, Resumable: true}.Check("stop"), "cannot stop run 12: it is failed")
	checkRefusal(t, runs.Run{ID: "12", Status: "odd"}.Check(runs.VerbCancel), "cannot cancel run 12: it is odd")
}

func checkRefusal(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		if want != "" {
			t.Errorf("allowed, want %s", want)
		}
		return
	}
	refused, ok := errors.AsType[*runs.StateError](err)
	if !ok || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
		return
	}
	// The documented fields alone have the same message.
	plain := runs.StateError{Verb: refused.Verb, What: refused.What, ID: refused.ID, Status: refused.Status,
		Step: refused.Step, Run: refused.Run}
	if refused.Reason == "" && plain.Error() != want {
		t.Errorf("the fields say %s", plain.Error())
	}
}

// Each verb in each status of a job, in a run that allows it.
func TestJobVerbs(t *testing.T) {
	const (
		play   = "cannot play job 12003 (step 'deploy'): it is "
		retry  = "cannot retry job 12003 (step 'deploy'): it is "
		cancel = "cannot cancel job 12003 (step 'deploy'): it is "
		held   = ", only manual jobs can be played"
		done   = ", only jobs that have ended can be retried"
		begun  = ", only jobs that have begun can be canceled: cancel the run"
	)
	tests := []struct {
		status              runs.Status
		play, retry, cancel string
	}{
		{runs.Created, play + "created" + held, retry + "created" + done, cancel + "created" + begun},
		{runs.Pending, play + "pending" + held, retry + "pending" + done, ""},
		{runs.WaitingForResource, play + "waiting_for_resource" + held, retry + "waiting_for_resource" + done, ""},
		{runs.Running, play + "running" + held, retry + "running" + done, ""},
		{runs.Manual, "", retry + "manual, play or cancel it", ""},
		{runs.Success, play + "success" + held, "", cancel + "success"},
		{runs.Failed, play + "failed" + held, "", cancel + "failed"},
		{runs.Canceled, play + "canceled" + held, "", cancel + "canceled"},
		{runs.Skipped, play + "skipped" + held, "", cancel + "skipped"},
	}
	if len(tests) != len(runs.JobStatuses()) {
		t.Errorf("%d of %d statuses", len(tests), len(runs.JobStatuses()))
	}
	for _, tt := range tests {
		job := runs.Job{ID: "12003", Run: "12", Name: "deploy", Kind: runs.JobStep, Status: tt.status}
		checkRefusal(t, job.Check(runs.VerbPlay, runs.Manual), tt.play)
		checkRefusal(t, job.Check(runs.VerbRetry, runs.Failed), tt.retry)
		checkRefusal(t, job.Check(runs.VerbCancel, runs.Running), tt.cancel)
	}
}

// A job's retry depends on its run.
func TestJobRetryByRun(t *testing.T) {
	const (
		prefix = "cannot retry job 12002 (step 'fix'): run 12 is "
		first  = ", cancel it first"
		anew   = ", create a new run"
		ended  = ", only failed and canceled runs can be retried"
	)
	tests := map[runs.Status]string{
		runs.Created: prefix + "created" + ended, runs.Scheduled: prefix + "scheduled" + ended, runs.Pending: prefix + "pending" + first,
		runs.Preparing: prefix + "preparing" + first, runs.WaitingForResource: prefix + "waiting_for_resource" + first, runs.Running: prefix + "running" + first,
		runs.Manual: "", runs.Failed: "", runs.Canceled: "", runs.Success: prefix + "success" + anew, runs.Skipped: prefix + "skipped" + anew,
	}
	job := runs.Job{ID: "12002", Run: "12", Name: "fix", Kind: runs.JobStep, Status: runs.Success}
	for _, s := range runs.Statuses() {
		checkRefusal(t, job.Check(runs.VerbRetry, s), tests[s])
	}
	job.Retried = true
	checkRefusal(t, job.Check(runs.VerbRetry, runs.Failed), "cannot retry job 12002 (step 'fix'): it is success, and has a later job: retry job 12/fix")
	commit := runs.Job{ID: "12004", Run: "12", Name: "commit", Kind: runs.JobCommit, Status: runs.Failed}
	checkRefusal(t, commit.Check(runs.VerbPlay, runs.Failed), "cannot play job 12004 (commit): it is failed, only manual jobs can be played")
	checkRefusal(t, commit.Check(runs.VerbRetry, runs.Failed), "")
}

func TestStatusWords(t *testing.T) {
	for _, tt := range []struct {
		name string
		is   func(runs.Status) bool
		want string
	}{
		{"active", runs.Status.Active, "waiting_for_resource preparing pending running "},
		{"ended", runs.Status.Ended, "success failed canceled skipped "},
		{"final", runs.Status.Final, "success skipped "},
		{"valid", runs.Status.Valid, "created waiting_for_resource preparing pending running success failed canceled skipped manual scheduled "},
	} {
		got := ""
		for _, s := range append(runs.Statuses(), "", "blocked") {
			if tt.is(s) {
				got += string(s) + " "
			}
		}
		if got != tt.want {
			t.Errorf("%s are %q, want %q", tt.name, got, tt.want)
		}
	}
}
