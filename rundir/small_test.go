package rundir

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/runs"
)

// A complete small run, observed from outside at every moment.
func TestSmallRun(t *testing.T) {
	t.Parallel()
	everyFs(t, func(t *testing.T, fsys afero.Fs) {
		s := openStore(t, fsys, Options{})
		ctx := t.Context()
		if page, err := s.List(ctx, runs.Filter{}); err != nil || page.Total != 0 || page.Items == nil {
			t.Fatalf("no store: %+v, %v", page, err)
		}
		w := createRun(t, s, twoSteps())
		other := openStore(t, fsys, Options{})
		ref := runs.RunRef{Project: "p", ID: "1"}
		got, err := other.Get(ctx, ref)
		fstest.Must(t, err)
		want := runs.Run{
			ID: "1", Project: "p", Name: "rename", RefName: "rename-class", SHA: strings.Repeat("ab", 32), Source: "api", User: "ann",
			Status: runs.Created, CreatedAt: began.Add(time.Second), UpdatedAt: began.Add(time.Second), Variables: []string{"A", "B"},
		}
		ignore := cmpopts.IgnoreFields(runs.Run{}, "RunID")
		if diff := cmp.Diff(want, got, ignore); diff != "" {
			t.Errorf("created:\n%s", diff)
		}
		if _, err := other.own(1); !errors.Is(err, runs.ErrBusy) ||
			!strings.HasPrefix(err.Error(), "run 1 is worked on by ") {
			t.Errorf("a second owner: %v", err)
		}
		fstest.Must(t, w.close())
		w, err = s.own(1)
		fstest.Must(t, err)
		work(t, w, runs.Success, true)
		fstest.Must(t, w.close())

		got, err = other.Get(ctx, runs.RunRef{ID: got.RunID})
		fstest.Must(t, err)
		result := got.Result
		want = runs.Run{
			ID: "1", Project: "p", Name: "rename", RefName: "rename-class", SHA: want.SHA, Source: "api", User: "ann",
			Status: runs.Success, Reason: "as told", CreatedAt: want.CreatedAt, UpdatedAt: got.UpdatedAt, StartedAt: got.StartedAt,
			FinishedAt: got.UpdatedAt, Duration: got.FinishedAt.Sub(got.StartedAt), QueuedDuration: got.StartedAt.Sub(got.CreatedAt),
			Attempts: 1, Variables: []string{"A", "B"}, Result: result,
		}
		if diff := cmp.Diff(want, got, ignore); diff != "" {
			t.Errorf("ended:\n%s", diff)
		}
		if result == nil || len(result.Results) != 2 || result.CompletedSteps != 2 || result.TotalEdits != 1 ||
			len(result.Results[1].Output) != 10_000 {
			t.Errorf("result %+v", result)
		}
		page, err := other.List(ctx, runs.Filter{Project: "p", SHA: "ABABABA"})
		got.Result = nil
		if diff := cmp.Diff([]runs.Run{got}, page.Items); diff != "" || err != nil || page.Total != 1 || page.Snapshot != 1 {
			t.Errorf("list %+v, %v:\n%s", page, err, diff)
		}

		jobs, err := other.Jobs(ctx, ref, runs.JobFilter{})
		fstest.Must(t, err)
		var names []string
		for _, j := range jobs.Items {
			names = append(names, fmt.Sprintf("%s %s %s %s %d %t", j.ID, j.Name, j.Kind, j.Status, j.Attempt, j.Retried))
		}
		if want := []string{"1001 find step success 1 false", "1002 fix step success 1 false",
			"1003 commit commit success 0 false"}; !slices.Equal(names, want) {
			t.Errorf("jobs %q", names)
		}
		for _, id := range []string{"1002", "1/fix", got.RunID + "/fix"} {
			job, err := other.Job(ctx, runs.JobRef{Project: "p", ID: id})
			if err != nil || job.ID != "1002" || job.Result == nil || job.Result.StepID != "fix" || job.Duration <= 0 {
				t.Errorf("job %s: %+v, %v", id, job, err)
			}
			log, err := other.Logs(ctx, runs.JobRef{Project: "p", ID: id}, runs.LogRange{})
			if err != nil || log.Trace != "begins with fix\n" || !log.Complete || log.TotalLines != 1 {
				t.Errorf("log of %s: %+v, %v", id, log, err)
			}
		}
		for _, id := range []string{"0", "2", "1004x", "", "20250213_120530_abc123def4567890"} {
			if _, err := other.Get(ctx, runs.RunRef{Project: "p", ID: id}); !errors.Is(err, runs.ErrNotFound) {
				t.Errorf("run %q: %v", id, err)
			}
		}
		for _, id := range []string{"1004", "1000", "1/else", "2/fix", "7", "x"} {
			if _, err := other.Job(ctx, runs.JobRef{Project: "p", ID: id}); !errors.Is(err, runs.ErrNotFound) {
				t.Errorf("job %q: %v", id, err)
			}
		}
		if _, err := other.Get(ctx, runs.RunRef{Project: "q", ID: "1"}); err == nil ||
			err.Error() != "run 1 not found in project 'q'" {
			t.Errorf("a run of another project: %v", err)
		}
		if triggers, err := other.Triggers(ctx, ref, runs.Paging{}); err != nil || triggers.Items == nil ||
			triggers.Total != 0 {
			t.Errorf("triggers %+v, %v", triggers, err)
		}
		if _, err := other.List(canceledContext(), runs.Filter{}); !errors.Is(err, context.Canceled) {
			t.Errorf("list without time: %v", err)
		}
	})
}

func canceledContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// A run whose process has died is shown as failed, can be resumed, and continues after its finished steps.
func TestDead(t *testing.T) {
	t.Parallel()
	everyFs(t, func(t *testing.T, fsys afero.Fs) {
		s := openStore(t, fsys, Options{})
		w := createRun(t, s, twoSteps())
		fstest.Must(t, w.append(&record{Kind: kindTake, Status: runs.Pending, Take: w.me()}))
		fstest.Must(t, w.append(&record{Kind: kindState, Status: runs.Running}))
		at := &place{Step: "find", Visit: 1, Attempt: 1}
		fstest.Must(t, w.append(&record{Kind: kindStart, Job: 1, At: at}))
		if got, err := s.Get(t.Context(), runs.RunRef{ID: "1"}); err != nil || got.Status != runs.Running || got.Resumable {
			t.Errorf("alive: %+v, %v", got, err)
		}
		fstest.Must(t, w.close())
		got, err := s.Get(t.Context(), runs.RunRef{ID: "1"})
		if err != nil || got.Status != runs.Failed || got.Reason != "its process died" || !got.Resumable ||
			got.FinishedAt.IsZero() {
			t.Errorf("dead: %+v, %v", got, err)
		}
		if page, err := s.List(t.Context(), runs.Filter{Status: runs.Failed}); err != nil || page.Total != 1 {
			t.Errorf("list of failed: %+v, %v", page, err)
		}
		jobs, err := s.Jobs(t.Context(), runs.RunRef{ID: "1"}, runs.JobFilter{})
		fstest.Must(t, err)
		var states []string
		for _, j := range jobs.Items {
			states = append(states, string(j.Status)+": "+j.Reason)
		}
		want := []string{"failed: its process died", "skipped: the run ended before it", "skipped: the run ended before it"}
		if !slices.Equal(states, want) {
			t.Errorf("jobs %q", states)
		}

		w, err = s.own(1)
		fstest.Must(t, err)
		work(t, w, runs.Success, false)
		fstest.Must(t, w.close())
		jobs, err = s.Jobs(t.Context(), runs.RunRef{ID: "1"}, runs.JobFilter{IncludeRetried: true})
		fstest.Must(t, err)
		states = nil
		for _, j := range jobs.Items {
			states = append(states, fmt.Sprintf("%s %s %s %t", j.ID, j.Name, j.Status, j.Retried))
		}
		want = []string{"1001 find failed true", "1002 fix success false", "1003 commit success false",
			"1004 find success false"}
		if !slices.Equal(states, want) {
			t.Errorf("jobs %q", states)
		}
	})
}
