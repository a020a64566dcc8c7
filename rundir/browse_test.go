package rundir

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/runs"
)

func TestLogs(t *testing.T) {
	t.Parallel()
	s := openStore(t, fstest.OpenRoot(t, t.TempDir()), Options{NoSync: true})
	w := createRun(t, s, twoSteps())
	fstest.Must(t, w.append(taken()))
	fstest.Must(t, w.append(start(1, 0, 1, 1)))
	job := runs.JobRef{ID: "1001"}
	get := func(r runs.LogRange) runs.Log {
		t.Helper()
		log, err := s.Logs(t.Context(), job, r)
		fstest.Must(t, err)
		return log
	}
	if log := get(runs.LogRange{}); log.TotalLines != 0 || log.Complete || log.Trace != "" {
		t.Errorf("no log: %+v", log)
	}
	for i := range 300 {
		fstest.Must(t, w.line(1, fmt.Sprintf("line %d", i+1)))
		fstest.Must(t, w.line(2, "of another job"))
	}
	fstest.Must(t, w.line(1, "no text: \xff"))
	for _, tt := range []struct {
		r           runs.LogRange
		first, last string
		want        runs.Log
	}{
		{runs.LogRange{}, "line 102", "no text: \uFFFD", runs.Log{TotalLines: 301, ShownLines: 200, StartLine: 102, NextStart: 302}},
		{runs.LogRange{Start: 1, Limit: 2}, "line 1", "line 2", runs.Log{TotalLines: 301, ShownLines: 2, StartLine: 1, NextStart: 3, HasMore: true}},
		{runs.LogRange{Start: -3, Limit: 2}, "line 299", "line 300", runs.Log{TotalLines: 301, ShownLines: 2, StartLine: 299, NextStart: 301, HasMore: true}},
	} {
		log := get(tt.r)
		lines := strings.Split(strings.TrimSuffix(log.Trace, "\n"), "\n")
		if lines[0] != tt.first || lines[len(lines)-1] != tt.last || len(lines) != tt.want.ShownLines {
			t.Errorf("%+v: %q to %q", tt.r, lines[0], lines[len(lines)-1])
		}
		if log.Trace = ""; log != tt.want {
			t.Errorf("%+v: %+v", tt.r, log)
		}
	}
	if _, err := s.Logs(t.Context(), job, runs.LogRange{Limit: -1}); err == nil {
		t.Error("a negative limit was taken")
	}
	fstest.Must(t, w.append(over(1, 0, 1, 1, runs.Success, true)))
	if !get(runs.LogRange{}).Complete {
		t.Error("the log of a job that has ended is not complete")
	}
	if _, err := s.Logs(canceledContext(), job, runs.LogRange{}); err == nil {
		t.Error("there was time although there was none")
	}
	fstest.Must(t, w.close())
}

// As long as a run has no result, it is built from the results of its steps; contents that are too long, or removed,
// are left out with a warning.
func TestResults(t *testing.T) {
	t.Parallel()
	s := openStore(t, afero.NewMemMapFs(), Options{})
	w := createRun(t, s, twoSteps())
	get := func() *millrace.Result {
		t.Helper()
		got, err := s.Get(t.Context(), runs.RunRef{ID: "1"})
		fstest.Must(t, err)
		return got.Result
	}
	if r := get(); r != nil {
		t.Errorf("before the first step: %+v", r)
	}
	fstest.Must(t, w.append(&record{Kind: kindTake, Status: runs.Running, Take: w.me()}))
	long := strings.Repeat("x", maxShown+1)
	step := millrace.StepResult{
		StepID: "find", Action: "search", Success: true, EditsApplied: 2, Output: long, AggregatedContent: long,
		Content: map[string]string{"a": long}, FilesMatched: []string{"a"}, Cost: 3,
	}
	result, err := w.value(step)
	fstest.Must(t, err)
	fstest.Must(t, w.append(&record{Kind: kindDone, Job: 1, At: &place{Step: "find", Visit: 1, Attempt: 1}, Done: &done{Result: result, Final: true}}))
	r := get()
	if r == nil || len(r.Results) != 1 || r.TotalEdits != 2 || r.TotalSteps != 2 || r.CompletedSteps != 1 || r.Cost != 3 ||
		r.Name != "rename" {
		t.Fatalf("%+v", r)
	}
	if got := r.Results[0]; got.Output != "" || got.AggregatedContent != "" || got.Content != nil ||
		len(got.Warnings) != 3 || len(got.FilesMatched) != 1 {
		t.Errorf("%q", got.Warnings)
	}
	whole, err := w.value(millrace.Result{Name: "whole", Results: []millrace.StepResult{step}})
	fstest.Must(t, err)
	fstest.Must(t, w.append(&record{Kind: kindEnd, Status: runs.Success, End: &end{Result: whole}}))
	fstest.Must(t, w.close())
	if r := get(); r == nil || r.Name != "whole" || r.Results[0].Output != "" {
		t.Errorf("%+v", r)
	}
	fstest.Must(t, s.d.FS.Remove(s.run(1, dataFile)))
	if r := get(); r == nil || len(r.Results) != 0 || len(r.Warnings) != 2 ||
		!strings.Contains(r.Warnings[0], "step 'find': the result that was stored cannot be read") {
		t.Errorf("without data: %+v", r)
	}
	job, err := s.Job(t.Context(), runs.JobRef{ID: "1/find"})
	if err != nil || job.Result == nil || !job.Result.Success || len(job.Result.Warnings) != 1 {
		t.Errorf("without data: %+v, %v", job.Result, err)
	}
	if job, err = s.Job(t.Context(), runs.JobRef{ID: "1/commit"}); err != nil || job.Kind != runs.JobCommit ||
		job.Result != nil {
		t.Errorf("the commit: %+v, %v", job, err)
	}
}

// A step may be called commit; then the commit is only available by its number.
func TestJob_commitStep(t *testing.T) {
	t.Parallel()
	s := openStore(t, afero.NewMemMapFs(), Options{})
	n := twoSteps()
	n.steps[0].ID = "commit"
	fstest.Must(t, createRun(t, s, n).close())
	for id, want := range map[string]runs.JobKind{"1/commit": runs.JobStep, "1003": runs.JobCommit} {
		if job, err := s.Job(t.Context(), runs.JobRef{ID: id}); err != nil || job.Kind != want || job.Name != "commit" {
			t.Errorf("%s: %+v, %v", id, job, err)
		}
	}
}

// parentOf creates a run with that many targets.
func parentOf(t *testing.T, s *Store, targets int) *writer {
	t.Helper()
	var lines strings.Builder
	for i := range targets {
		fmt.Fprintf(&lines, "{\"id\":\"tree %d\"}\n", i)
	}
	n := twoSteps()
	n.Fleet = &fleetTargets{Count: targets, Length: int64(lines.Len()),
		SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(lines.String())))}
	w := createRun(t, s, n)
	fstest.Must(t, afero.WriteFile(s.d.FS, s.run(w.number, targetsFile), []byte(lines.String()), 0o600))
	return w
}

func TestTriggers(t *testing.T) {
	t.Parallel()
	everyFs(t, func(t *testing.T, fsys afero.Fs) {
		s := openStore(t, fsys, Options{})
		w := parentOf(t, s, 45)
		child := func(parent int64, index int) int64 {
			n := twoSteps()
			n.Child = &childOf{Index: index}
			n.Parent, n.Source, n.Project = parent, runs.SourceParent, "tree"
			c := createRun(t, s, n)
			fstest.Must(t, c.append(ended(runs.Success, "")))
			fstest.Must(t, c.close())
			return c.number
		}
		fstest.Must(t, w.setChild(3, child(1, 3)))
		fstest.Must(t, w.setChild(22, child(1, 22)))
		fstest.Must(t, w.setChild(23, child(9, 23))) // of another run, as a stranger could write it
		fstest.Must(t, w.setChild(25, child(1, 26)))
		fstest.Must(t, w.setChild(24, 777))
		var all []string
		p := runs.Paging{Page: 1}
		for p.Page > 0 {
			page, err := s.Triggers(t.Context(), runs.RunRef{ID: "1"}, p)
			fstest.Must(t, err)
			if page.Total != 45 {
				t.Fatalf("%+v", page)
			}
			for _, trigger := range page.Items {
				text := trigger.Name + " " + string(trigger.Status)
				if trigger.Run != nil {
					text += " run " + trigger.Run.ID + " of " + trigger.Run.Parent
				}
				all = append(all, text)
			}
			p.Page = page.NextPage
		}
		for i, got := range all {
			want := fmt.Sprintf("tree %d created", i)
			switch i {
			case 3:
				want = "tree 3 success run 2 of 1"
			case 22:
				want = "tree 22 success run 3 of 1"
			}
			if got != want {
				t.Errorf("target %d: %s, want %s", i, got, want)
			}
		}
		if len(all) != 45 {
			t.Errorf("%d targets", len(all))
		}
		fstest.Must(t, w.append(ended(runs.Canceled, "")))
		fstest.Must(t, w.close())
		page, err := s.Triggers(t.Context(), runs.RunRef{ID: "1"}, runs.Paging{PerPage: 1})
		if err != nil || page.Items[0].Status != runs.Skipped {
			t.Errorf("a target that was not begun: %+v, %v", page, err)
		}
		if list, err := s.List(t.Context(), runs.Filter{}); err != nil || list.Total != 1 {
			t.Errorf("children are listed: %+v, %v", list, err)
		}
		name := s.run(1, targetsFile)
		text := fstest.Read(t, s.d.FS, name)
		for what, bad := range map[string]string{
			"shorter": text[:len(text)-20], "changed": strings.Replace(text, "tree 7", "tree x", 1), "no JSON": strings.Repeat("x", len(text)-1) + "\n",
			"one long line": strings.Repeat("x", 2*maxTarget),
		} {
			fstest.Must(t, afero.WriteFile(s.d.FS, name, []byte(bad), 0o600))
			if _, err := s.Triggers(t.Context(), runs.RunRef{ID: "1"}, runs.Paging{}); !errors.Is(err, runs.ErrDamaged) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

// The records of a store survive a conversion to JSON and back.
func TestRecordJSON(t *testing.T) {
	t.Parallel()
	r := &record{
		Kind: kindCreated, Time: began, Status: runs.Failed, Reason: "r",
		Created: &created{Version: 1, Number: 2, ID: "i", Project: "p", Name: "n", StepCount: 3, Pipeline: value{Bytes: []byte{0, 255}},
			Steps: value{JSON: json.RawMessage(`[{"id":"a"}]`)}, Keys: []string{"k"}},
	}
	text, err := json.Marshal(r)
	fstest.Must(t, err)
	again, err := decodeRecord(text)
	fstest.Must(t, err)
	if twice, err := json.Marshal(again); err != nil || string(twice) != string(text) ||
		strings.Contains(string(text), "variables") {
		t.Errorf("%s\n%s, %v", text, twice, err)
	}
	for _, bad := range []string{"", "{}", "[]", `{"kind":"done"}`, `{"kind":"state"}`,
		`{"kind":"new","time":"2025-02-13T12:00:00Z"}`} {
		if r, err := decodeRecord([]byte(bad)); err == nil {
			t.Errorf("%s: %+v", bad, r)
		}
	}
}
