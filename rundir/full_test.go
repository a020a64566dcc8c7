package rundir_test

import (
	"context"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
	"github.com/millrace-go/millrace/tool"
)

// If the disk of a store is full, the process that could not record the end of a run does not report its own death.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	var full atomic.Bool
	fsys := errorfs.Wrap(fstest.OpenRoot(t, p.dir), errorfs.Before(func(op *errorfs.Op) error {
		if full.Load() && (op.Kind == "pwrite" || op.Kind == "write") {
			return syscall.ENOSPC
		}
		return nil
	}))
	store, err := rundir.Open(fsys, "runs", rundir.Options{Key: key, NoSync: true, SharedDir: p.dir + "/shared"})
	fstest.Must(t, err)
	h := p.host()
	h.Executor.Tools, err = tool.New(tool.Func("fill", "fills the disk", func(context.Context, struct{}) (string, error) {
		full.Store(true)
		return "", nil
	}))
	fstest.Must(t, err)
	m := manage(t, store, h)
	run := create(t, m, `{"name": "n", "steps": [{"id": "fill", "action": "tool", "params": {"tool": "fill"}}]}`)
	got, err := m.Wait(t.Context(), run.Ref())
	if err != nil || got.Status != runs.Failed || !strings.HasPrefix(got.Reason, "its end could not be recorded: ") ||
		!strings.Contains(got.Reason, "no space left") {
		t.Errorf("%s: %s, %v", got.Status, got.Reason, err)
	}
	got, err = p.open(t).Get(t.Context(), run.Ref())
	fstest.Must(t, err)
	same(t, "another process", string(got.Status)+": "+got.Reason, "failed: its process died")
}
