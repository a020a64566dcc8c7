package rundir_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
	"github.com/millrace-go/millrace/tool"
)

const blocking = `{"name": "b", "steps": [{"id": "block", "action": "tool", "params": {"tool": "block"}},
	{"id": "new", "action": "create", "params": {"path": "new.txt", "content": "new\n"}}]}`

// inStatus creates a run and brings it to a status, in which it stays until it is canceled. Its number is the last of
// the store.
func inStatus(t *testing.T, status runs.Status) (*rundir.Manager, runs.Run) {
	t.Helper()
	p := newPlace(t, "a.txt", "one\n")
	h := p.host()
	block := tool.Func("block", "blocks", func(ctx context.Context, _ struct{}) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	var err error
	h.Executor.Tools, err = tool.New(block)
	fstest.Must(t, err)
	if status == runs.Pending {
		h.MaxRunning = 1
	}
	if status == runs.Preparing {
		h.Trees = blockedTree{}
	}
	m, err := p.store.Manage(h)
	fstest.Must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = m.Close(ctx) // stops blocked runs
	})
	c := runs.CreateParams{Project: "p", Pipeline: pipeline(t, blocking)}
	make := m.Create
	switch status {
	case runs.Created:
		make = m.CreateOnly
	case runs.Scheduled, runs.Canceled:
		c.StartAt = time.Now().Add(time.Hour)
	case runs.Pending, runs.WaitingForResource:
		first, err := m.Create(t.Context(), c)
		fstest.Must(t, err)
		reach(t, p.store, first, runs.Running)
	case runs.Manual:
		c.Pipeline = pipeline(t, manualStep)
	case runs.Failed:
		c.Pipeline = pipeline(t, strings.Replace(threeSteps, `"id": "fix",`, `"id": "fix", "expect": {"min_files": 7},`, 1))
	case runs.Success:
		c.Pipeline = pipeline(t, threeSteps)
	case runs.Skipped:
		c.Pipeline = pipeline(t, `{"name": "s", "steps": [{"id": "new", "action": "create", "params": {"path": "x", "content": "x"}, "condition": {"type": "file_exists", "path": "none"}}]}`)
	}
	run, err := make(t.Context(), c)
	fstest.Must(t, err)
	if status == runs.Canceled {
		run, err = m.Cancel(t.Context(), run.Ref())
		fstest.Must(t, err)
	}
	return m, reach(t, p.store, run, status)
}

// reach waits until a run has a status.
func reach(t *testing.T, b runs.Browser, run runs.Run, status runs.Status) runs.Run {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		got, err := b.Get(t.Context(), run.Ref())
		fstest.Must(t, err)
		if got.Status == status {
			return got
		}
		if time.Now().After(end) {
			t.Fatalf("it is %s (%s), want %s", got.Status, got.Reason, status)
		}
	}
}

type blockedTree struct{}

func (blockedTree) Open(ctx context.Context, _ fleet.Target) (fleet.Tree, error) {
	<-ctx.Done()
	return fleet.Tree{FS: afero.NewMemMapFs()}, ctx.Err()
}

// Every verb is tried in every status: testdata/verbs.txt has the results, "ok" or the error.
func TestVerbs(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile("testdata/verbs.txt")
	fstest.Must(t, err)
	tried := 0
	for _, status := range runs.Statuses() {
		for line := range strings.Lines(string(golden)) {
			line = strings.TrimSuffix(line, "\n")
			said, want, _ := strings.Cut(line, ": ")
			of, verb, _ := strings.Cut(said, " ")
			if of != string(status) {
				continue
			}
			tried++
			t.Run(said, func(t *testing.T) {
				t.Parallel()
				m, run := inStatus(t, status)
				got := "ok"
				if err := try(t.Context(), m, run, verb); err != nil {
					got = strings.ReplaceAll(err.Error(), "run "+run.ID, "run N")
					got = strings.ReplaceAll(got, "job "+run.ID+"0", "job N0")
				}
				same(t, "it says", got, want)
			})
		}
	}
	if want := 8 * len(runs.Statuses()); tried != want {
		t.Errorf("%d verbs, want %d", tried, want)
	}
}

// try calls a verb: "cancel" for the run, or "cancel 001" for a job of it.
func try(ctx context.Context, m *rundir.Manager, run runs.Run, verb string) error {
	verb, job, ofJob := strings.Cut(verb, " ")
	ref := runs.JobRef{Project: run.Project, ID: run.ID + job}
	switch {
	case verb == "play":
		return fstest.ErrOf(m.Jobs().Play(ctx, ref, runs.PlayParams{}))
	case verb == "retry" && ofJob:
		return fstest.ErrOf(m.Jobs().Retry(ctx, ref))
	case verb == "cancel" && ofJob:
		return fstest.ErrOf(m.Jobs().Cancel(ctx, ref))
	case verb == "retry":
		return fstest.ErrOf(m.Retry(ctx, run.Ref()))
	case verb == "cancel":
		return fstest.ErrOf(m.Cancel(ctx, run.Ref()))
	}
	return fmt.Errorf("unknown verb %s", verb)
}
