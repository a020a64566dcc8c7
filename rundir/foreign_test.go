package rundir_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// A run that another user has signed, or that was copied, can only be read.
func TestForeign(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	m := manage(t, p.store, p.host())
	held := wait(t, m, create(t, m, manualStep), runs.Manual)
	fstest.Must(t, m.Close(t.Context()))
	other, err := rundir.Open(fstest.OpenRoot(t, p.dir), "runs",
		rundir.Options{Key: []byte("another key of 32 bytes.........")})
	fstest.Must(t, err)
	copied := &place{dir: t.TempDir(), tree: p.tree}
	if out, err := exec.Command("cp", "-r", filepath.Join(p.dir, "runs"), copied.dir).CombinedOutput(); err != nil {
		t.Skipf("no cp: %v %s", err, out)
	}
	for name, store := range map[string]*rundir.Store{"key": other, "copy": copied.open(t)} {
		t.Run(name, func(t *testing.T) {
			run, err := store.Get(t.Context(), held.Ref())
			fstest.Must(t, err)
			if !run.Foreign || run.Status != runs.Manual {
				t.Errorf("foreign %v, %s", run.Foreign, run.Status)
			}
			m := manage(t, store, p.host())
			ctx, job := t.Context(), runs.JobRef{ID: held.Held.JobID}
			for verb, err := range map[string]error{
				"retry": fstest.ErrOf(m.Retry(ctx, held.Ref())), "cancel": fstest.ErrOf(m.Cancel(ctx, held.Ref())),
				"resume": fstest.ErrOf(m.Resume(ctx, held.ID)), "held": fstest.ErrOf(m.Held(ctx, held.Ref())),
				"play": fstest.ErrOf(m.Jobs().Play(ctx, job, runs.PlayParams{})), "retry job": fstest.ErrOf(m.Jobs().Retry(ctx, job)),
				"cancel job": fstest.ErrOf(m.Jobs().Cancel(ctx, job)),
			} {
				if !errors.Is(err, runs.ErrForeign) {
					t.Errorf("%s: %v", verb, err)
				}
			}
		})
	}
	// With AcceptMoved, a host accepts a store that was moved.
	fstest.Must(t, os.RemoveAll(filepath.Join(p.dir, "runs")))
	h := p.host()
	h.AcceptMoved = true
	m = manage(t, copied.open(t), h)
	_, err = m.Resume(t.Context(), held.ID)
	fstest.Must(t, err)
	wait(t, m, held, runs.Success)
}
