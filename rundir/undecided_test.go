package rundir_test

import (
	"context"
	"errors"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
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
