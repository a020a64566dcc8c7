package rundir_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/millracetest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
	"github.com/millrace-go/millrace/tool"
)

// A cancel at any time, by any manager, even twice: the run is canceled and the tree untouched, or it is too late and
// the run has succeeded. A canceled run that is retried ends like a run without a cancel.
func TestCancel_anywhere(t *testing.T) {
	t.Parallel()
	const text = `{"name": "c", "steps": [
		{"id": "a", "action": "edit", "params": {"files": ["a.txt"], "old_text": "one", "new_text": "two"}},
		{"id": "b", "action": "tool", "params": {"tool": "gate"}, "max_retries": 2, "backoff": 0.005, "on_fail": "d"},
		{"id": "c", "action": "create", "params": {"path": "c.txt", "content": "c"}},
		{"id": "d", "action": "create", "params": {"path": "d.txt", "content": "c"}}]}`
	p0 := newPlace(t, "a.txt", "one\n")
	host := func(p *place) rundir.Host {
		h := p.host()
		n := 0
		set, err := tool.New(tool.WithSpec(tool.Func("gate", "fails", func(ctx context.Context, _ struct{}) (string, error) {
			select {
			case <-time.After(2 * time.Millisecond):
			case <-ctx.Done():
				return "", errors.New("i was interrupted")
			}
			if n++; n == 1 {
				return "", fmt.Errorf("closed")
			}
			return "open", nil
		}), func(s *tool.Spec) { s.Pure = true }))
		fstest.Must(t, err)
		h.Executor.Tools = set
		return h
	}
	m0 := manage(t, p0.store, host(p0))
	wait(t, m0, create(t, m0, text), runs.Success)
	want := millracetest.Text(t, p0.tree)
	counts := map[string]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 7))
			for i := 0; i < fstest.Runs(5, 40, 400) && !t.Failed(); i++ {
				p := newPlace(t, "a.txt", "one\n")
				before := millracetest.Text(t, p.tree)
				m := manage(t, p.store, host(p))
				other := manage(t, p.open(t), host(p))
				run := create(t, m, text)
				by := m
				if r.IntN(2) == 0 {
					by = other
				}
				time.Sleep(time.Duration(r.IntN(25000)) * time.Microsecond)
				twice := r.IntN(3) == 0
				var w2 sync.WaitGroup
				if twice {
					w2.Go(func() { _, _ = m.Cancel(t.Context(), run.Ref()) })
				}
				got, err := by.Cancel(t.Context(), run.Ref())
				w2.Wait()
				var se *runs.StateError
				if err != nil && !errors.As(err, &se) {
					t.Error("cancel:", err)
				}
				if err == nil && !got.Status.Ended() {
					t.Error("not ended:", got.Status)
				}
				got, err = m.Wait(t.Context(), run.Ref())
				fstest.Must(t, err)
				mu.Lock()
				counts[string(got.Status)]++
				mu.Unlock()
				page, err := p.store.Jobs(t.Context(), run.Ref(),
					runs.JobFilter{IncludeRetried: true, Paging: runs.Paging{PerPage: 100}})
				fstest.Must(t, err)
				for _, j := range page.Items {
					if !j.Status.Ended() {
						t.Errorf("run %s: job %s %s", got.Status, j.Name, j.Status)
					}
					log, err := p.store.Logs(t.Context(), runs.JobRef{ID: j.ID}, runs.LogRange{})
					if err != nil || !log.Complete {
						t.Error(err, log)
					}
				}
				switch got.Status {
				case runs.Canceled:
					if now := millracetest.Text(t, p.tree); now != before {
						t.Errorf("canceled and changed: %s", now)
					}
					_, err := by.Retry(t.Context(), run.Ref())
					if err != nil {
						t.Error("retry:", err)
					}
					got, err = by.Wait(t.Context(), run.Ref())
					fstest.Must(t, err)
					if got.Status != runs.Success {
						t.Errorf("retried: %s %s %s", got.Status, got.Reason, jobsOf(t, p.store, run, true))
					}
					if now := millracetest.Text(t, p.tree); now != want {
						t.Errorf("retried: %s", now)
					}
				case runs.Success:
					if now := millracetest.Text(t, p.tree); now != want {
						t.Errorf("success: %s", now)
					}
				default:
					t.Errorf("%s %s %s", got.Status, got.Reason, jobsOf(t, p.store, run, true))
				}
			}
		})
	}
	wg.Wait()
	fstest.Countf(t, "canceled, or too late: %v", counts)
}

// If many callers play a job, exactly one succeeds, with any managers.
func TestPlay_once(t *testing.T) {
	t.Parallel()
	for range fstest.Runs(2, 20, 200) {
		p := newPlace(t, "a.txt", "one\n")
		m := manage(t, p.store, p.host())
		run := wait(t, m, create(t, m, manualStep), runs.Manual)
		var wg sync.WaitGroup
		var mu sync.Mutex
		ok := 0
		for i := range 6 {
			by := m
			if i%2 == 0 {
				by = manage(t, p.open(t), p.host())
			}
			wg.Go(func() {
				_, err := by.Jobs().Play(t.Context(), runs.JobRef{ID: "1/check"}, runs.PlayParams{})
				var se *runs.StateError
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					ok++
				case errors.As(err, &se) || errors.Is(err, runs.ErrBusy):
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		got := wait(t, m, run, runs.Success)
		if ok != 1 || got.Attempts != 2 {
			t.Error(ok, got.Attempts)
		}
	}
}
