package rundir_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/runs"
	"github.com/millrace-go/millrace/tool"
)

// A run that ends after the engine has kept its hold, and before the store has recorded it, waits there when it is
// retried: nobody has played it.
func TestRetry_holdNotRecorded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, held string }{
		"manual": {manualStep, "step 'check' is manual: play to run it"},
		"interrupted": {`{"name": "n", "steps": [{"id": "tell", "action": "tool", "params": {"tool": "tell"}}]}`,
			"step 'tell' was interrupted and may have had its effect: play to run it again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, "a.txt", "one\n")
			h := p.host()
			begun := make(chan bool, 1)
			set, err := tool.New(tool.Func("tell", "tells", func(ctx context.Context, _ struct{}) (string, error) {
				select {
				case begun <- true: // the first time
					<-ctx.Done()
					return "", ctx.Err()
				default:
					return "told", nil
				}
			}))
			fstest.Must(t, err)
			h.Executor.Tools = set
			var run runs.Run
			if name == "interrupted" {
				killed := manage(t, p.store, h)
				run = create(t, killed, tt.text)
				<-begun
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				_ = killed.Close(ctx)
				begun <- true
			}
			broken := h
			broken.Trees = openTree(func(string) (fleet.Tree, error) {
				return fleet.Tree{FS: p.tree, Close: func(context.Context, *millrace.Result, error) error {
					return errors.New("it cannot be closed")
				}}, nil
			})
			m := manage(t, p.open(t), broken)
			if run.ID == "" {
				run = create(t, m, tt.text)
			} else {
				_, err = m.Retry(t.Context(), run.Ref())
				fstest.Must(t, err)
			}
			wait(t, m, run, runs.Failed)
			m = manage(t, p.open(t), h)
			for range 2 { // a retry of a retry waits too
				_, err = m.Retry(t.Context(), run.Ref())
				fstest.Must(t, err)
				run = wait(t, m, run, runs.Manual)
				same(t, "reason", run.Reason, tt.held)
				_, err = m.Cancel(t.Context(), run.Ref())
				fstest.Must(t, err)
			}
			_, err = m.Retry(t.Context(), run.Ref())
			fstest.Must(t, err)
			wait(t, m, run, runs.Manual)
			_, err = m.Resume(t.Context(), run.ID)
			fstest.Must(t, err)
			wait(t, m, run, runs.Success)
		})
	}
}

// A plan that cannot be shown waits, and can be played: the view has the reason.
func TestHold_notShown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, job string }{
		"step": {`{"name": "n", "steps": [{"id": "rm", "action": "delete", "params": {"files": ["big.bin"]}},
			{"id": "deploy", "manual": true, "action": "create", "params": {"path": "x", "content": "x"}}]}`, "1002"},
		"commit": {`{"name": "n", "steps": [{"id": "rm", "action": "delete", "params": {"files": ["big.bin"]}}]}`, "1002"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, "a.txt", "one\n", "big.bin", strings.Repeat("big\x00", 500))
			h := p.host()
			h.Executor.Limits.MaxFileBytes, h.ApproveFrom = 1000, risk.Low
			m := manage(t, p.store, h)
			run := wait(t, m, create(t, m, tt.text), runs.Manual)
			same(t, "held job", run.Held.JobID, tt.job)
			diff := fstest.Read(t, fstest.OpenRoot(t, p.dir), "runs/000000/000000001/diff")
			if !strings.Contains(diff, "the diff cannot be shown: ") || !strings.Contains(diff, "big.bin") {
				t.Errorf("diff: %s", diff)
			}
			_, err := m.Resume(t.Context(), run.ID)
			fstest.Must(t, err)
			if name == "step" {
				wait(t, m, run, runs.Manual) // the commit
				_, err := m.Resume(t.Context(), run.ID)
				fstest.Must(t, err)
			}
			wait(t, m, run, runs.Success)
			if ok, _ := afero.Exists(p.tree, "big.bin"); ok {
				t.Error("it is still there")
			}
		})
	}
}
