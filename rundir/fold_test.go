package rundir

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/runs"
)

// history folds records of a run of two steps, a second apart.
func history(t testing.TB, records ...*record) *folded {
	t.Helper()
	f := new(folded)
	first := &record{Kind: kindCreated, Status: runs.Created, Created: &created{Version: 1, Number: 12, StepCount: 2}}
	for i, r := range append([]*record{first}, records...) {
		r.Time = began.Add(time.Duration(i) * time.Second)
		fstest.Must(t, r.parts())
		fstest.Must(t, f.add(r))
	}
	return f
}

// jobsOf returns the jobs in their display form.
func jobsOf(r shownRun) (all []string) {
	for _, j := range r.jobs {
		v := r.job(j, []stepName{{"find", "search"}, {"fix", "edit"}})
		text := fmt.Sprintf("%s %s %s %d.%d", v.ID, v.Name, v.Status, v.Visit, v.Attempt)
		if v.Retried {
			text += " retried"
		}
		if v.Reason != "" {
			text += ": " + v.Reason
		}
		all = append(all, text)
	}
	return all
}

func taken() *record { return &record{Kind: kindTake, Status: runs.Pending, Take: &take{PID: 7}} }
func status(s runs.Status) *record {
	return &record{Kind: kindState, Status: s}
}
func start(job, index, visit, attempt int) *record {
	return &record{Kind: kindStart, Job: job, At: &place{Index: index, Visit: visit, Attempt: attempt}}
}
func over(job, index, visit, attempt int, s runs.Status, final bool) *record {
	return &record{Kind: kindDone, Job: job, JobStatus: s, At: &place{Index: index, Visit: visit, Attempt: attempt},
		Done: &done{Final: final}}
}
func ended(s runs.Status, why string) *record {
	return &record{Kind: kindEnd, Status: s, Reason: why, End: &end{}}
}

func TestFold(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		records   []*record
		dead      bool
		status    string // of the run, with the reason
		resumable bool
		jobs      []string
	}{
		"nobody has begun": {
			status: "created", jobs: []string{"12001 find created 0.0", "12002 fix created 0.0", "12003 commit created 0.0"},
		},
		"attempts and visits are jobs": {
			records: []*record{
				taken(), status(runs.Running), start(1, 0, 1, 1), over(1, 0, 1, 1, runs.Failed, false), start(4, 0, 1, 2),
				over(4, 0, 1, 2, runs.Success, true), start(2, 1, 1, 1), over(2, 1, 1, 1, runs.Success, true), start(5, 0, 2, 1),
			},
			status: "running", jobs: []string{
				"12001 find failed 1.1 retried", "12002 fix success 1.1", "12003 commit created 0.0", "12004 find success 1.2 retried",
				"12005 find running 2.1",
			},
		},
		"a job that waits": {
			records: []*record{
				taken(), status(runs.Running), {Kind: kindStart, Job: 1, JobStatus: runs.WaitingForResource, Reason: "gpu", At: &place{Visit: 1, Attempt: 1}},
			},
			status: "running", jobs: []string{"12001 find waiting_for_resource 1.1: gpu", "12002 fix created 0.0", "12003 commit created 0.0"},
		},
		"dead": {
			records: []*record{taken(), status(runs.Running), start(1, 0, 1, 1)}, dead: true,
			status: "failed: its process died", resumable: true, jobs: []string{
				"12001 find failed 1.1: its process died", "12002 fix skipped 0.0: the run ended before it", "12003 commit skipped 0.0: the run ended before it",
			},
		},
		"dead, and taken again": {
			records: []*record{taken(), status(runs.Running), start(1, 0, 1, 1), taken(), start(4, 0, 1, 1)},
			status:  "pending", jobs: []string{
				"12001 find failed 1.1 retried: its process died", "12002 fix created 0.0", "12003 commit created 0.0", "12004 find running 1.1",
			},
		},
		"canceled": {
			records: []*record{
				taken(), status(runs.Running), start(1, 0, 1, 1), {Kind: kindCancel, Cancel: &cancel{User: "ann"}}, ended(runs.Canceled, "by ann"),
			},
			status: "canceled: by ann", resumable: true, jobs: []string{
				"12001 find canceled 1.1: by ann", "12002 fix skipped 0.0: the run ended before it", "12003 commit skipped 0.0: the run ended before it",
			},
		},
		"nothing to write": {
			records: []*record{
				taken(), status(runs.Running), over(1, 0, 1, 0, runs.Skipped, true), over(2, 1, 1, 1, runs.Success, true), ended(runs.Success, ""),
			},
			status: "success", jobs: []string{"12001 find skipped 1.0", "12002 fix success 1.1", "12003 commit skipped 0.0: nothing was to be written"},
		},
		"held": {
			records: []*record{
				taken(), status(runs.Running), over(1, 0, 1, 1, runs.Success, true),
				{Kind: kindHold, Status: runs.Manual, Reason: "look", Job: 2, At: &place{Index: 1, Visit: 1, Attempt: 1}, Hold: &hold{PlanDigest: "d", Files: 3}},
			},
			status: "manual: look", jobs: []string{"12001 find success 1.1", "12002 fix manual 1.1: look", "12003 commit created 0.0"},
		},
		"held and played": {
			records: []*record{
				{Kind: kindHold, Status: runs.Manual, Reason: "look", Job: 2, At: &place{Index: 1, Visit: 1, Attempt: 1}, Hold: &hold{}},
				{Kind: kindPlay, Status: runs.Pending, Play: &play{Keys: []string{"B", "A"}}}, taken(), start(2, 1, 1, 1),
			},
			status: "pending", jobs: []string{"12001 find created 0.0", "12002 fix running 1.1", "12003 commit created 0.0"},
		},
		"held and canceled": {
			records: []*record{
				{Kind: kindHold, Status: runs.Manual, Reason: "look", Job: 2, At: &place{Index: 1}, Hold: &hold{}}, ended(runs.Canceled, "by ann"),
			},
			status: "canceled: by ann", resumable: true, jobs: []string{
				"12001 find skipped 0.0: the run ended before it", "12002 fix canceled 0.0: by ann", "12003 commit skipped 0.0: the run ended before it",
			},
		},
		"the commit has failed": {
			records: []*record{
				taken(), status(runs.Running), over(1, 0, 1, 1, runs.Success, true), over(2, 1, 1, 1, runs.Success, true),
				{Kind: kindCommit, Job: 3, At: &place{Index: 2}}, ended(runs.Failed, "conflict"),
			},
			status: "failed: conflict", resumable: true, jobs: []string{"12001 find success 1.1", "12002 fix success 1.1", "12003 commit failed 0.0: conflict"},
		},
		"its data is gone": {
			records: []*record{ended(runs.Failed, "no"), {Kind: kindState, Dropped: true}},
			status:  "failed: no", jobs: []string{
				"12001 find skipped 0.0: the run ended before it", "12002 fix skipped 0.0: the run ended before it", "12003 commit skipped 0.0: the run ended before it",
			},
		},
		"failed for good": {
			records: []*record{{Kind: kindEnd, Status: runs.Failed, End: &end{Final: true}}},
			status:  "failed", jobs: []string{
				"12001 find skipped 0.0: the run ended before it", "12002 fix skipped 0.0: the run ended before it", "12003 commit skipped 0.0: the run ended before it",
			},
		},
	}
	for name, tt := range tests {
		r := shownRun{folded: history(t, tt.records...), number: 12, dead: tt.dead}
		v := r.run()
		got := string(v.Status)
		if v.Reason != "" {
			got += ": " + v.Reason
		}
		if got != tt.status || v.Resumable != tt.resumable {
			t.Errorf("%s: %s, resumable %t", name, got, v.Resumable)
		}
		if got := jobsOf(r); !slices.Equal(got, tt.jobs) {
			t.Errorf("%s: jobs\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(tt.jobs, "\n"))
		}
		if (v.Held != nil) != (v.Status == runs.Manual) || v.Held != nil && (v.Held.JobID != "12002" || v.Held.Files != 3) {
			t.Errorf("%s: held %+v", name, v.Held)
		}
	}
}

// Running time is counted, and waiting time is not.
func TestFold_times(t *testing.T) {
	t.Parallel()
	r := shownRun{number: 12, folded: history(t,
		taken(), status(runs.Preparing), status(runs.Running), start(1, 0, 1, 1), // running from second 3 on
		&record{Kind: kindHold, Status: runs.Manual, Hold: &hold{}},                                 // to 5
		&record{Kind: kindPlay, Status: runs.Pending, Play: &play{}}, taken(), status(runs.Running), // 8
		ended(runs.Failed, "no"), // 9
		&record{Kind: kindRetry, Status: runs.Pending, Retry: &retry{}}, status(runs.Running), // 11
		start(4, 0, 1, 1), // 12
	)}
	v := r.run()
	seconds := func(d time.Duration) int { return int(d / time.Second) }
	if seconds(v.Duration) != 4 || seconds(v.QueuedDuration) != 3 || !v.FinishedAt.IsZero() || v.Attempts != 2 ||
		seconds(v.StartedAt.Sub(began)) != 3 || seconds(v.UpdatedAt.Sub(began)) != 12 {
		t.Errorf("%+v", v)
	}
}

// A run has at most 999 jobs, and reports when they are used up.
func TestFold_jobsUsedUp(t *testing.T) {
	t.Parallel()
	records := []*record{taken()}
	for i := range 997 {
		job := i + 3
		if i == 0 {
			job = 1
		}
		records = append(records, start(job, 0, 1, i+1))
	}
	f := history(t, records...)
	if len(f.jobs) != maxJobs {
		t.Fatalf("%d jobs", len(f.jobs))
	}
	if _, err := f.jobFor(0); err == nil || err.Error() != "run 12 has used up its 999 jobs: create a new run" {
		t.Errorf("another attempt: %v", err)
	}
	if job, err := f.jobFor(1); job != 2 || err != nil {
		t.Errorf("a job that was to come: %d, %v", job, err)
	}
	if _, err := f.again(0); err == nil {
		t.Error("a retry has a job more")
	}
	if err := f.add(start(1000, 0, 1, 998)); err == nil {
		t.Error("a job 1000 was taken")
	}
	if _, err := f.jobFor(3); err == nil {
		t.Error("a job of no step")
	}
}

// A paid answer counts from its arrival, once, even if its process dies before the step is done.
func TestPaid(t *testing.T) {
	t.Parallel()
	s := openStore(t, fstest.OpenRoot(t, t.TempDir()), Options{NoSync: true})
	w := createRun(t, s, twoSteps())
	paid := func(want budget.Cost) {
		t.Helper()
		l, err := s.look(1)
		fstest.Must(t, err)
		if got := l.used().USD; got != want {
			t.Errorf("%v were paid, want %v", got, want)
		}
	}
	add := func(r *record) {
		t.Helper()
		fstest.Must(t, w.append(r))
	}
	add(&record{Kind: kindTake, Status: runs.Running, Take: w.me()})
	add(&record{Kind: kindAnswer, Answer: &answer{Key: "k", Cost: budget.Dollar}})
	paid(0) // a process works on it
	fstest.Must(t, w.close())
	paid(budget.Dollar)
	w, err := s.own(1)
	fstest.Must(t, err)
	add(&record{Kind: kindTake, Status: runs.Running, Take: w.me()})
	add(&record{Kind: kindDone, Job: 1, At: &place{Visit: 1, Attempt: 1}, Done: &done{Final: true, Spent: budget.Dollar + budget.Cent}})
	add(&record{Kind: kindEnd, Status: runs.Canceled, End: &end{Child: &childEnd{}}})
	paid(budget.Dollar + budget.Cent)
	add(&record{Kind: kindRetry, Status: runs.Pending, Retry: &retry{}})
	add(&record{Kind: kindAnswer, Answer: &answer{Key: "k", Cost: budget.Dollar}})
	add(&record{Kind: kindDone, Job: 1, At: &place{Visit: 1, Attempt: 2}, Done: &done{Final: true, Spent: budget.Dollar}})
	fstest.Must(t, w.close())
	paid(2*budget.Dollar + budget.Cent)
	w, err = s.own(1)
	fstest.Must(t, err)
	r := newRecorder(&session{w: w})
	r.observer(nil)(millrace.CostSpent{Total: 3 * budget.Dollar})
	fstest.Must(t, r.Keep(t.Context(), millrace.Checkpoint{Position: millrace.Position{Index: 1}, Result: millrace.StepResult{StepID: "fix"}}))
	fstest.Must(t, w.close())
	paid(3 * budget.Dollar)
}
