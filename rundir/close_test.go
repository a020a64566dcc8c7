package rundir_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
	"github.com/millrace-go/millrace/tool"
)

// A manager that closes without more time leaves its runs like a killed process. A repeatable step is repeated. A step
// that may have had an effect outside is held.
func TestClose(t *testing.T) {
	t.Parallel()
	for _, pure := range []bool{true, false} {
		p := newPlace(t, "a.txt", "one\n")
		called := make(chan bool, 1)
		host := func(blocks bool) rundir.Host {
			h := p.host()
			block := tool.Func("block", "blocks", func(ctx context.Context, _ struct{}) (string, error) {
				called <- true
				if blocks {
					<-ctx.Done()
				}
				return "", ctx.Err()
			})
			var err error
			h.Executor.Tools, err = tool.New(tool.WithSpec(block, func(s *tool.Spec) { s.Pure = pure }))
			fstest.Must(t, err)
			return h
		}
		m, err := p.store.Manage(host(true))
		fstest.Must(t, err)
		run := create(t, m, blocking)
		<-called
		ctx, cancel := context.WithCancelCause(t.Context())
		impatient := errors.New("impatient")
		cancel(impatient)
		if err := m.Close(ctx); !errors.Is(err, impatient) {
			t.Error("close:", err)
		}
		if _, err := m.Create(t.Context(), runs.CreateParams{Project: "p", Pipeline: pipeline(t, blocking)}); err == nil {
			t.Error("a closed manager creates")
		}
		run, err = p.store.Get(t.Context(), run.Ref())
		fstest.Must(t, err)
		same(t, "left as", string(run.Status)+": "+run.Reason, "failed: its process died")
		if !run.Resumable {
			t.Error("it is not resumable")
		}
		next := manage(t, p.open(t), host(false))
		_, err = next.Retry(t.Context(), run.Ref())
		fstest.Must(t, err)
		if !pure {
			run = wait(t, next, run, runs.Manual)
			same(t, "reason", run.Reason, "step 'block' was interrupted and may have had its effect: play to run it again")
			_, err = next.Jobs().Play(t.Context(), runs.JobRef{ID: run.Held.JobID}, runs.PlayParams{})
			fstest.Must(t, err)
		}
		run = wait(t, next, run, runs.Success)
		same(t, "tree", fstest.Read(t, p.tree, "new.txt"), "new\n")
		if first := jobsOf(t, p.store, run, true); !strings.HasPrefix(first, "1001 block failed retried") {
			t.Error(first)
		}
	}
}

// With Adopt, a manager continues runs whose processes have died; without it, it records that they have failed.
func TestAdopt(t *testing.T) {
	t.Parallel()
	for _, adopt := range []bool{true, false} {
		p := newPlace(t, "a.txt", "one\n")
		run := leftRunning(t, p)
		h := p.host()
		h.Adopt = adopt
		var err error
		h.Executor.Tools, err = tool.New(tool.WithSpec(tool.Func("block", "does not block", func(context.Context, struct{}) (string, error) { return "", nil }),
			func(s *tool.Spec) { s.Pure = true }))
		fstest.Must(t, err)
		next := manage(t, p.open(t), h)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- next.Work(ctx) }()
		if adopt {
			reach(t, p.store, run, runs.Success)
		} else {
			for !strings.Contains(fstest.Read(t, fstest.OpenRoot(t, p.dir), "runs/000000/000000001/run"), `"kind":"end"`) {
			}
			got, err := p.store.Get(t.Context(), run.Ref())
			fstest.Must(t, err)
			same(t, "status", string(got.Status)+": "+got.Reason, "failed: its process died")
		}
		cancel()
		fstest.Must(t, <-done)
	}
}

// leftRunning returns a run that its manager has left during a step.
func leftRunning(t *testing.T, p *place) runs.Run {
	t.Helper()
	h := p.host()
	called := make(chan bool, 1)
	block := tool.Func("block", "blocks", func(ctx context.Context, _ struct{}) (string, error) {
		called <- true
		<-ctx.Done()
		return "", ctx.Err()
	})
	var err error
	h.Executor.Tools, err = tool.New(tool.WithSpec(block, func(s *tool.Spec) { s.Pure = true }))
	fstest.Must(t, err)
	m, err := p.store.Manage(h)
	fstest.Must(t, err)
	run := create(t, m, blocking)
	<-called
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = m.Close(ctx) // TestClose explains the cause
	return run
}
