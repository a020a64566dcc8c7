package rundir_test

import (
	"context"
	"fmt"
	"io/fs"
	"sort"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
	"github.com/millrace-go/millrace/tool"
)

// Pipelines with loops and steps in parallel, in which the last step fails until a test allows it.
var goBackPipelines = map[string]string{
	"sequence": `{"name": "s", "steps": [
		{"id": "a", "action": "create", "params": {"path": "n.txt", "content": "one\n"}},
		{"id": "b", "action": "edit", "params": {"files": ["n.txt", "a.txt"], "old_text": "one", "new_text": "two"}},
		{"id": "c", "action": "rename", "params": {"files": ["d"], "to": "e"}},
		{"id": "d", "action": "edit", "params": {"files": ["e/x.txt"], "old_text": "x", "new_text": "y"}},
		{"id": "e", "action": "tool", "params": {"tool": "gate"}},
		{"id": "f", "action": "edit", "params": {"files": ["n.txt"], "old_text": "two", "new_text": "three"}}]}`,
	"loop": `{"name": "l", "steps": [
		{"id": "a", "action": "edit", "params": {"files": ["a.txt"], "old_text": "one", "new_text": "one+"}},
		{"id": "b", "action": "search", "params": {"pattern": "\\+\\+\\+"}, "expect": {"min_files": 1}, "retry_if": [{"step": "a", "when": {"type": "step_failed", "step_ref": "b"}}]},
		{"id": "c", "action": "create", "params": {"path": "c.txt", "content": "c"}},
		{"id": "e", "action": "tool", "params": {"tool": "gate"}},
		{"id": "f", "action": "edit", "params": {"files": ["a.txt"], "old_text": "one", "new_text": "three"}}]}`,
	"restart": `{"name": "r", "steps": [
		{"id": "s", "action": "create", "params": {"path": "s.txt", "content": "s"}},
		{"id": "careful", "action": "edit", "condition": "prev.error", "next": "check", "params": {"files": ["a.txt"], "old_text": "one", "new_text": "1"}},
		{"id": "quick", "action": "edit", "params": {"files": ["a.txt", "d/x.txt"], "old_text": "ne", "new_text": "keye"}},
		{"id": "check", "action": "search", "params": {"pattern": "okeye"}, "expect": {"max_files": 0},
		 "retry_if": [{"step": "careful", "when": {"type": "step_failed", "step_ref": "check"}, "restart": true}]},
		{"id": "e", "action": "tool", "params": {"tool": "gate"}},
		{"id": "f", "action": "create", "params": {"path": "f.txt", "content": "f"}}]}`,
	"parallel": `{"name": "p", "parallel": true, "steps": [
		{"id": "a", "action": "search", "params": {"pattern": "one"}},
		{"id": "b", "action": "count_occurrences", "params": {"files": ["d/x.txt"], "pattern": "x"}},
		{"id": "c", "action": "edit", "input_from": "a", "params": {"old_text": "one", "new_text": "two"}},
		{"id": "d", "action": "search", "params": {"pattern": "two"}},
		{"id": "g", "action": "create", "params": {"path": "n.txt", "content": "new\n"}},
		{"id": "e", "action": "tool", "params": {"tool": "gate"}},
		{"id": "f", "action": "edit", "input_from": "d", "params": {"old_text": "two", "new_text": "three"}}]}`,
}

// A run that goes back to any of its steps, after a failure or a cancel, ends like a run that never did.
func TestRetryJob_equal(t *testing.T) {
	t.Parallel()
	for name, text := range goBackPipelines {
		files := []string{"a.txt", "one\none\n", "d/x.txt", "x\n", "d/sub/y.txt", "one y\n"}
		outcome := func(t *testing.T, p *place, run runs.Run) string {
			var all []string
			fstest.Must(t, afero.Walk(p.tree, ".", func(path string, info fs.FileInfo, err error) error {
				if err == nil && !info.IsDir() && !strings.HasPrefix(path, ".millrace") {
					all = append(all, path+"="+fstest.Read(t, p.tree, path))
				}
				return err
			}))
			sort.Strings(all)
			all = append(all, fmt.Sprint(run.Result.FilesChanged, run.Result.TotalEdits, run.Result.CompletedSteps))
			for _, r := range run.Result.Results {
				all = append(all, fmt.Sprint(r.StepID, r.Success, r.Skipped, r.EditsApplied, len(r.FilesMatched), r.Output))
			}
			return strings.Join(all, "\n")
		}
		host := func(t *testing.T, p *place, fails *bool, block chan bool) (h rundir.Host) {
			h = p.host()
			set, err := tool.New(tool.WithSpec(tool.Func("gate", "fails", func(ctx context.Context, _ struct{}) (string, error) {
				if *fails && block != nil {
					select {
					case block <- true:
					default:
					}
					<-ctx.Done()
					return "", ctx.Err()
				}
				if *fails {
					return "", fmt.Errorf("closed")
				}
				return "open", nil
			}), func(s *tool.Spec) { s.Pure = true }))
			fstest.Must(t, err)
			h.Executor.Tools = set
			return h
		}
		plain := newPlace(t, files...)
		never := false
		m := manage(t, plain.store, host(t, plain, &never, nil))
		run := wait(t, m, create(t, m, text), runs.Success)
		want := outcome(t, plain, run)
		var steps []string
		for _, s := range pipeline(t, text).Steps() {
			steps = append(steps, s.ID)
		}
		for _, step := range append(steps, "commit") {
			for _, how := range []string{"failure", "cancel"} {
				t.Run(name+" "+step+" "+how, func(t *testing.T) {
					t.Parallel()
					p := newPlace(t, files...)
					fails := true
					var block chan bool
					if how == "cancel" {
						block = make(chan bool, 1)
					}
					m := manage(t, p.store, host(t, p, &fails, block))
					run := create(t, m, text)
					if block != nil {
						<-block
						_, err := m.Cancel(t.Context(), run.Ref())
						fstest.Must(t, err)
						run = wait(t, m, run, runs.Canceled)
					} else {
						run = wait(t, m, run, runs.Failed)
					}
					if block == nil { // once more, so that there are earlier jobs
						retryFrom(t, m, p, run, step)
						run = wait(t, m, run, runs.Failed)
					}
					fails = false
					before, err := p.store.Jobs(t.Context(), run.Ref(),
						runs.JobFilter{IncludeRetried: true, Paging: runs.Paging{PerPage: 100}})
					fstest.Must(t, err)
					retryFrom(t, m, p, run, step)
					run, err = m.Wait(t.Context(), run.Ref())
					fstest.Must(t, err)
					if run.Status != runs.Success {
						t.Fatalf("%s %s\n%s", run.Status, run.Reason, jobsOf(t, p.store, run, true))
					}
					if got := outcome(t, p, run); got != want {
						t.Errorf("got\n%s\nwant\n%s", got, want)
					}
					after, err := p.store.Jobs(t.Context(), run.Ref(),
						runs.JobFilter{IncludeRetried: true, Paging: runs.Paging{PerPage: 100}})
					fstest.Must(t, err)
					if testing.Verbose() {
						t.Log(len(before.Items), len(after.Items), jobsOf(t, p.store, run, true))
					}
					for _, j := range after.Items {
						if !j.Status.Ended() {
							t.Errorf("job %s (%s) is %s in a run that has ended", j.ID, j.Name, j.Status)
						}
					}
				})
			}
		}
	}
}

// retryFrom retries a step. If the run has not reached it that is refused, in both ways, and the run is retried.
func retryFrom(t *testing.T, m *rundir.Manager, p *place, run runs.Run, step string) {
	t.Helper()
	ref := runs.JobRef{ID: run.ID + "/" + step}
	job, err := p.store.Job(t.Context(), ref)
	fstest.Must(t, err)
	if job.Status != runs.Skipped {
		_, err = m.Jobs().Retry(t.Context(), ref)
		fstest.Must(t, err)
		return
	}
	const want = "it is skipped, the run has not come to it: retry the run, which goes on behind the last step done"
	_, retried := m.Jobs().Retry(t.Context(), ref)
	_, resumed := m.Resume(t.Context(), ref.ID)
	for _, err := range []error{retried, resumed} {
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Fatal(err)
		}
	}
	_, err = m.Retry(t.Context(), run.Ref())
	fstest.Must(t, err)
}
