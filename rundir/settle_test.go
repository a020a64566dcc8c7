package rundir_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/runs"
	"github.com/millrace-go/millrace/tool"
)

// A run that was committed when its process died is not recorded as failed if another run has the tree.
func TestSettle_locked(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	run := p.killedBehindCommit(t)
	got, err := p.store.Get(t.Context(), run.Ref())
	fstest.Must(t, err)
	same(t, "dead", string(got.Status)+" "+got.Reason+" "+fstest.Read(t, p.tree, "a.txt"), "failed its process died two\n")

	h := p.host()
	begun, goOn := make(chan bool), make(chan bool)
	set, err := tool.New(tool.Func("wait", "waits", func(context.Context, struct{}) (string, error) {
		begun <- true
		<-goOn
		return "", nil
	}))
	fstest.Must(t, err)
	h.Executor.Tools = set
	m := manage(t, p.open(t), h)
	blocking := create(t, m, `{"name": "n", "steps": [{"id": "a", "action": "tool", "params": {"tool": "wait"}},
		{"id": "b", "action": "create", "params": {"path": "b.txt", "content": "b"}}]}`)
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- m.Work(ctx) }()
	_, err = m.Cancel(t.Context(), run.Ref())
	if err == nil || errors.As(err, new(*runs.StateError)) {
		t.Error("it is canceled, or recorded as something:", err)
	}
	close(goOn)
	wait(t, m, blocking, runs.Success)
	for end := time.Now().Add(20 * time.Second); got.Status != runs.Success &&
		time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		got, err = p.store.Get(t.Context(), run.Ref())
		fstest.Must(t, err)
	}
	same(t, "settled", string(got.Status)+" "+got.Reason, "success ")
	cancel()
	fstest.Must(t, <-done)
}

// A run that was committed when its process died is not recorded as failed if its tree cannot be opened now.
func TestSettle_unopened(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	run := p.killedBehindCommit(t)
	h := p.host()
	var away atomic.Bool
	var asked atomic.Int32
	away.Store(true)
	h.Trees = openTree(func(string) (fleet.Tree, error) {
		if asked.Add(1); away.Load() {
			return fleet.Tree{}, os.ErrNotExist
		}
		return fleet.Tree{FS: p.tree}, nil
	})
	m := manage(t, p.open(t), h)
	_, err := m.Jobs().Play(t.Context(), runs.JobRef{ID: "1/commit"}, runs.PlayParams{})
	refusal(t, err, "cannot play job 1004 (commit): it is failed, only manual jobs can be played")
	for verb, do := range map[string]func() error{
		"cancel": func() error { return fstest.ErrOf(m.Cancel(t.Context(), run.Ref())) },
		"retry":  func() error { return fstest.ErrOf(m.Jobs().Retry(t.Context(), runs.JobRef{ID: "1/fix"})) },
		"resume": func() error { return fstest.ErrOf(m.Resume(t.Context(), "1/fix")) },
	} {
		err := do()
		if err == nil || err.Error() != "whether run 1 was committed is not known yet: tree cannot be opened: file does not exist" {
			t.Errorf("%s decides, or records something: %v", verb, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	asked.Store(0)
	fstest.Must(t, m.Work(ctx))
	if n := asked.Load(); n != 1 {
		t.Errorf("the tree was asked for %d times within a second", n)
	}
	got, err := p.store.Get(t.Context(), run.Ref())
	fstest.Must(t, err)
	same(t, "shown", string(got.Status)+" "+got.Reason, "failed its process died")
	away.Store(false)
	_, err = m.Cancel(t.Context(), run.Ref())
	refusal(t, err, "cannot cancel run 1: it is success")
}

// A run that was committed when its process died is not recorded as failed if an error comes before the answer of its
// tree.
func TestSettle_unasked(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"shared directory", "lock", "stored result"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, "a.txt", "one\n")
			run := p.killedBehindCommit(t)
			var whole atomic.Bool
			broken := map[string]string{"lock": ".millrace/lock", "stored result": ".millrace/results/"}[what]
			tree := errorfs.Wrap(p.tree, errorfs.Failing(syscall.EIO, func(op *errorfs.Op) bool {
				return !whole.Load() && broken != "" && strings.HasPrefix(op.Name, broken)
			}))
			h := p.host()
			h.Trees = openTree(func(string) (fleet.Tree, error) {
				return fleet.Tree{FS: tree}, nil
			})
			shared := filepath.Join(p.dir, "shared")
			if what == "shared directory" {
				fstest.Must(t, errors.Join(os.RemoveAll(shared), os.WriteFile(shared, nil, 0o600)))
			}
			m := manage(t, p.open(t), h)
			_, err := m.Cancel(t.Context(), run.Ref())
			if err == nil || !strings.HasPrefix(err.Error(), "whether run 1 was committed is not known yet: ") {
				t.Error("it is canceled, or recorded as something:", err)
			}
			if whole.Store(true); what == "shared directory" {
				fstest.Must(t, os.Remove(shared))
			}
			_, err = m.Cancel(t.Context(), run.Ref())
			refusal(t, err, "cannot cancel run 1: it is success")
		})
	}
}

// killedBehindCommit leaves a run like a process that dies after the commit of the tree, before it is recorded.
func (p *place) killedBehindCommit(t *testing.T) runs.Run {
	t.Helper()
	h := p.host()
	h.Trees = openTree(func(string) (fleet.Tree, error) {
		return fleet.Tree{FS: p.tree, Close: func(context.Context, *millrace.Result, error) error {
			return context.Canceled // as if its manager was stopped while the tree is published
		}}, nil
	})
	closing := make(chan bool)
	h.Executor.Observe = func(e millrace.Event) {
		if _, ok := e.(millrace.RunFinished); ok {
			closing <- true
			<-closing
		}
	}
	dying, err := p.store.Manage(h)
	fstest.Must(t, err)
	run := create(t, dying, threeSteps)
	<-closing
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	go func() {
		time.Sleep(50 * time.Millisecond) // until the manager is closed
		closing <- true
	}()
	if err := dying.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return run
}
