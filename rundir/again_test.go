package rundir_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
	"github.com/millrace-go/millrace/tool"
)

// asking returns a host whose tool "ask" has a new answer each time, and fails the first times.
func asking(t *testing.T, p *place, failures int) (h rundir.Host, asked *int) {
	t.Helper()
	h, asked = p.host(), new(int)
	ask := tool.Func("ask", "asks", func(context.Context, struct{}) (string, error) {
		if *asked++; *asked <= failures {
			return "", fmt.Errorf("failure %d", *asked)
		}
		return fmt.Sprint("answer ", *asked), nil
	})
	set, err := tool.New(tool.WithSpec(ask, func(s *tool.Spec) { s.Pure = true }))
	fstest.Must(t, err)
	h.Executor.Tools = set
	return h, asked
}

const asks = `{"name": "n", "steps": [{"id": "a", "action": "tool", "params": {"tool": "ask"}},
	{"id": "b", "action": "edit", "params": {"files": ["a.txt"], "old_text": "none", "new_text": "1"}, "expect": {"min_files": 1}}]}`

// A retry of a failed run makes a new attempt: a recorded answer of the failed attempt is not used.
func TestRetry_asksAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "none\n")
	h, asked := asking(t, p, 1)
	m := manage(t, p.store, h)
	run := wait(t, m, create(t, m, asks), runs.Failed)
	_, err := m.Retry(t.Context(), run.Ref())
	fstest.Must(t, err)
	wait(t, m, run, runs.Success)
	if *asked != 2 {
		t.Errorf("asked %d times", *asked)
	}
}

// Going back to a finished step also makes a new attempt.
func TestRetryJob_asksAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	h, asked := asking(t, p, 0)
	m := manage(t, p.store, h)
	run := wait(t, m, create(t, m, asks), runs.Failed)
	_, err := m.Retry(t.Context(), run.Ref())
	fstest.Must(t, err)
	run = wait(t, m, run, runs.Failed)
	if *asked != 1 {
		t.Errorf("asked %d times by a retry of what follows", *asked)
	}
	_, err = m.Jobs().Retry(t.Context(), runs.JobRef{ID: "1/a"})
	fstest.Must(t, err)
	run = wait(t, m, run, runs.Failed)
	same(t, "output", run.Result.Results[0].Output, "answer 2")
}

// A job of a run that cannot continue is refused like the run.
func TestRetryJob_final(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	m := manage(t, p.store, p.host())
	run := wait(t, m, create(t, m, `{"name": "part", "stop_on_error": false, "steps": [
		{"id": "a", "action": "create", "params": {"path": "b.txt", "content": "b"}},
		{"id": "b", "action": "edit", "params": {"files": ["a.txt"], "old_text": "one", "new_text": "1"}, "expect": {"min_files": 7}}]}`), runs.Failed)
	same(t, "tree", fstest.Read(t, p.tree, "b.txt"), "b")
	_, err := m.Jobs().Retry(t.Context(), runs.JobRef{ID: "1/b"})
	refusal(t, err, "cannot retry run 1: it is failed, not resumable: create a new run")
	if run, err = p.store.Get(t.Context(), run.Ref()); err != nil || run.Resumable || run.Attempts != 1 {
		t.Errorf("%+v, %v", run, err)
	}
}
