package rundir_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/runs"
)

const manualStep = `{"name": "deploy", "variables": {"word": "two", "limit": {"type": "integer", "default": 1}}, "steps": [
	{"id": "fix", "action": "edit", "params": {"files": ["a.txt"], "old_text": "one", "new_text": "1"}},
	{"id": "check", "manual": true, "action": "edit", "params": {"files": ["a.txt"], "old_text": "1", "new_text": "{{vars.word}}"}},
	{"id": "last", "action": "count_occurrences", "params": {"files": ["a.txt"], "pattern": "two"}}]}`

func refusal(t *testing.T, err error, want string) {
	t.Helper()
	if _, ok := errors.AsType[*runs.StateError](err); !ok || err.Error() != want {
		t.Errorf("refused with %T:\n got %v\nwant %s", err, err, want)
	}
}

// A manual step waits without any lock; another manager plays it, with variables, and a second play is refused.
func TestManual(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	first := manage(t, p.store, p.host())
	run := wait(t, first, create(t, first, manualStep), runs.Manual)
	same(t, "reason", run.Reason, "step 'check' is manual: play to run it")
	same(t, "jobs", jobsOf(t, p.store, run, true), "1001 fix success, 1002 check manual, 1003 last created, 1004 commit created")
	if run.Held == nil || run.Held.JobID != "1002" || run.Held.PlanDigest == "" || run.Held.Files != 1 ||
		run.Held.Edits != 1 {
		t.Fatalf("held: %+v", run.Held)
	}
	same(t, "tree", fstest.Read(t, p.tree, "a.txt"), "one\n")
	diff := fstest.Read(t, fstest.OpenRoot(t, p.dir), "runs/000000/000000001/diff")
	if !strings.Contains(diff, "-one\n+1\n") {
		t.Errorf("diff: %s", diff)
	}
	plan, err := first.Held(t.Context(), run.Ref())
	fstest.Must(t, err)
	same(t, "held", plan.Diff(), diff)
	digest, err := plan.Digest()
	fstest.Must(t, err)
	same(t, "digest", digest, run.Held.PlanDigest)
	fstest.Must(t, plan.Close())
	// No lock of the tree is held: another run can finish.
	wait(t, first, create(t, first, `{"name": "other", "steps": [{"id": "a", "action": "create", "params": {"path": "new.txt", "content": "new\n"}}]}`), runs.Success)

	second := manage(t, p.open(t), p.host())
	_, err = second.Jobs().Play(t.Context(), runs.JobRef{ID: "1/fix"}, runs.PlayParams{})
	refusal(t, err, "cannot play job 1001 (step 'fix'): it is success, only manual jobs can be played")
	_, err = second.Jobs().Play(t.Context(), runs.JobRef{ID: "1/check"}, runs.PlayParams{PlanDigest: "other"})
	if err == nil || !strings.HasPrefix(err.Error(),
		"cannot play job 1002 (step 'check'): it is manual, and its plan differs") {
		t.Error("another digest:", err)
	}
	_, err = second.Jobs().Play(t.Context(), runs.JobRef{ID: "1/check"},
		runs.PlayParams{Variables: []runs.Variable{{Key: "limit", Value: "ten"}}})
	if err == nil || !strings.Contains(err.Error(), `"ten" is no integer`) {
		t.Error("wrong value:", err)
	}
	_, err = second.Retry(t.Context(), run.Ref())
	refusal(t, err, "cannot retry run 1: it is manual, play or cancel it")
	job, err := second.Jobs().Play(t.Context(), runs.JobRef{ID: "1/check"},
		runs.PlayParams{Variables: []runs.Variable{{Key: "word", Value: "two two"}}, PlanDigest: digest})
	fstest.Must(t, err)
	if job.ID != "1002" || job.Status != runs.Pending {
		t.Errorf("played: %+v", job)
	}
	run = wait(t, second, run, runs.Success)
	same(t, "tree", fstest.Read(t, p.tree, "a.txt"), "two two\n")
	same(t, "jobs", jobsOf(t, p.store, run, true), "1001 fix success, 1002 check success, 1003 last success, 1004 commit success")
	if run.Attempts != 2 || strings.Join(run.Variables, " ") != "word" {
		t.Errorf("done: %+v", run)
	}
	_, err = first.Jobs().Play(t.Context(), runs.JobRef{ID: "1/check"}, runs.PlayParams{})
	refusal(t, err, "cannot play job 1002 (step 'check'): it is success, only manual jobs can be played")
}

// A gate holds the commit, a played plan is written exactly, and a changed plan is held again.
func TestGate(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n", "d/b.txt", "b\n")
	h := p.host()
	h.ApproveFrom = risk.Low
	m := manage(t, p.store, h)
	run := wait(t, m, create(t, m, `{"name": "gone", "steps": [{"id": "rm", "action": "delete", "params": {"files": ["d"], "recursive": true}}]}`), runs.Manual)
	same(t, "reason", run.Reason, "the risk is LOW: play to commit, or cancel")
	same(t, "job", run.Held.JobID, "1002")
	fstest.Must(t, afero.WriteFile(p.tree, "d/more.txt", []byte("more\n"), 0o644))
	_, err := m.Resume(t.Context(), "1")
	fstest.Must(t, err)
	run = wait(t, m, run, runs.Failed)
	same(t, "reason", run.Reason, "base has changed since step 'rm' read it: d (entries); resume from '1/rm'")
	same(t, "place to resume from", run.ResumeFrom, "1/rm")
	run, err = m.Resume(t.Context(), "1/rm")
	fstest.Must(t, err)
	run = wait(t, m, run, runs.Manual)
	if !strings.Contains(run.Reason, "differs from the approved change (d/more.txt)") {
		t.Error(run.Reason)
	}
	_, err = m.Jobs().Play(t.Context(), runs.JobRef{ID: run.Held.JobID}, runs.PlayParams{PlanDigest: run.Held.PlanDigest})
	fstest.Must(t, err)
	run = wait(t, m, run, runs.Success)
	if ok, _ := afero.Exists(p.tree, "d"); ok {
		t.Error("it is still there")
	}
}

// A run that changes too many files is held, and only force continues it.
func TestBlocked(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n", "b.txt", "one\n")
	h := p.host()
	h.Executor.MaxFiles = 1
	m := manage(t, p.store, h)
	run := wait(t, m, create(t, m, threeSteps), runs.Manual)
	if !strings.Contains(run.Reason, "play with force") {
		t.Error(run.Reason)
	}
	play := func(force bool) {
		t.Helper()
		_, err := m.Jobs().Play(t.Context(), runs.JobRef{ID: run.Held.JobID}, runs.PlayParams{Force: force})
		fstest.Must(t, err)
	}
	play(false)
	run = wait(t, m, run, runs.Manual)
	play(true)
	run = wait(t, m, run, runs.Success)
	same(t, "tree", fstest.Read(t, p.tree, "b.txt"), "two\n")
	if run.Attempts != 3 {
		t.Error("attempts:", run.Attempts)
	}
}

// A failed run is resumed after the last finished step, or before any step that it has reached.
func TestRetry(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	m := manage(t, p.store, p.host())
	run := create(t, m, `{"name": "p", "steps": [
		{"id": "a", "action": "create", "params": {"path": "new.txt", "content": "new\n"}},
		{"id": "b", "action": "edit", "params": {"files": ["a.txt"], "old_text": "two", "new_text": "three"}, "expect": {"min_files": 1}},
		{"id": "c", "action": "create", "params": {"path": "c.txt", "content": "c\n"}}]}`)
	run = wait(t, m, run, runs.Failed)
	if !run.Resumable || run.Result == nil || len(run.Result.Results) != 2 {
		t.Errorf("failed: %+v", run)
	}
	same(t, "jobs", jobsOf(t, p.store, run, true), "1001 a success, 1002 b failed, 1003 c skipped, 1004 commit skipped")
	_, err := m.Cancel(t.Context(), run.Ref())
	refusal(t, err, "cannot cancel run 1: it is failed")
	_, err = m.Retry(t.Context(), run.Ref())
	fstest.Must(t, err)
	run = wait(t, m, run, runs.Failed)
	same(t, "jobs", jobsOf(t, p.store, run, true), "1001 a success, 1002 b failed retried, 1003 c skipped, 1004 commit skipped, 1005 b failed")
	fstest.Must(t, afero.WriteFile(p.tree, "a.txt", []byte("two\n"), 0o644))
	job, err := m.Jobs().Retry(t.Context(), runs.JobRef{ID: "1/a"})
	fstest.Must(t, err)
	same(t, "job", job.ID+" "+job.Name, "1006 a")
	run = wait(t, m, run, runs.Success)
	same(t, "tree", fstest.Read(t, p.tree, "a.txt"), "three\n")
	same(t, "jobs", jobsOf(t, p.store, run, false), "1006 a success, 1007 b success, 1003 c success, 1004 commit success")
}

// A run that waits for its tree reports that, and can be canceled: by its own manager, and by a manager of another
// store.
func TestCancel(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	m := manage(t, p.store, p.host())
	other := manage(t, p.open(t), p.host())
	entered, leave := make(chan bool), make(chan bool)
	h := p.host()
	h.Executor.Observe = func(e millrace.Event) {
		if _, ok := e.(millrace.StepStarted); ok {
			entered <- true
			<-leave
		}
	}
	slow := manage(t, p.open(t), h)
	holder := create(t, slow, threeSteps)
	<-entered
	waiting := create(t, m, threeSteps)
	for {
		run, err := m.Wait(timeout(t, time.Millisecond), waiting.Ref())
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(run.Status, err)
		}
		if run, err = p.store.Get(t.Context(), waiting.Ref()); err != nil || run.Status == runs.WaitingForResource {
			break
		}
	}
	_, err := other.Retry(t.Context(), waiting.Ref())
	if !errors.Is(err, runs.ErrBusy) {
		t.Error("retry by another one:", err)
	}
	_, err = m.Retry(t.Context(), waiting.Ref())
	refusal(t, err, "cannot retry run 2: it is waiting_for_resource, cancel it first")
	begun := time.Now()
	run, err := other.Cancel(t.Context(), waiting.Ref())
	fstest.Must(t, err)
	t.Log("canceled by another manager after", time.Since(begun))
	same(t, "status", string(run.Status)+", "+run.Reason, "canceled, canceled by ann")
	again, err := m.Retry(t.Context(), waiting.Ref())
	fstest.Must(t, err)
	run, err = m.Cancel(t.Context(), again.Ref())
	fstest.Must(t, err)
	same(t, "status", string(run.Status), "canceled")
	done := make(chan error)
	go func() {
		run, err := slow.Cancel(context.Background(), holder.Ref())
		if err == nil && run.Status != runs.Canceled {
			err = errors.New(string(run.Status))
		}
		done <- err
	}()
	close(leave)
	go func() {
		for range entered {
		}
	}()
	err = <-done
	if err != nil && err.Error() != "success" {
		t.Error(err)
	}
	run = create(t, m, manualStep)
	run = wait(t, m, run, runs.Manual)
	run, err = other.Cancel(t.Context(), run.Ref())
	fstest.Must(t, err)
	same(t, "jobs", jobsOf(t, p.store, run, true), "3001 fix success, 3002 check canceled, 3003 last skipped, 3004 commit skipped")
}

func timeout(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// A run that was canceled while it waited for a decision waits for it again when it is retried.
func TestRetry_held(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	m := manage(t, p.store, p.host())
	run := wait(t, m, create(t, m, manualStep), runs.Manual)
	reason := run.Reason
	for range 2 {
		_, err := m.Cancel(t.Context(), run.Ref())
		fstest.Must(t, err)
		_, err = m.Retry(t.Context(), run.Ref())
		fstest.Must(t, err)
		run = wait(t, m, run, runs.Manual)
		same(t, "reason", run.Reason, reason)
	}
	_, err := m.Jobs().Play(t.Context(), runs.JobRef{ID: run.Held.JobID}, runs.PlayParams{})
	fstest.Must(t, err)
	wait(t, m, run, runs.Success)
	same(t, "the tree", fstest.Read(t, p.tree, "a.txt"), "two\n")
}
