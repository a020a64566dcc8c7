package rundir_test

import (
	"errors"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// A run that has ended is removed with its files, but a waiting run is not.
func TestRemove(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	m := manage(t, p.store, p.host())
	pipeline, err := millrace.New("x").Variables(millrace.Variable{Name: "to", Type: "string"}).
		Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "one", NewText: "{{vars.to}}"}).
		Add(millrace.Step{ID: "wait", Action: actions.List{}, Manual: true}).Build()
	fstest.Must(t, err)
	run, err := m.Create(t.Context(), runs.CreateParams{Project: "p", Pipeline: pipeline, Variables: []runs.Variable{{Key: "to", Value: "two"}}})
	fstest.Must(t, err)
	run, err = m.Wait(t.Context(), run.Ref())
	fstest.Must(t, err)

	// The pipeline of the run has the given values.
	again, err := p.store.Pipeline(t.Context(), run.Ref(), millrace.Decoder{})
	if valued, verr := pipeline.WithVariables(map[string]any{"to": "two"}); err != nil || verr != nil || !again.Equal(valued) {
		t.Errorf("the pipeline of the run is %v, %v", again, err)
	}
	if _, err := p.store.Pipeline(t.Context(), runs.RunRef{ID: "9"}, millrace.Decoder{}); !errors.Is(err, runs.ErrNotFound) {
		t.Errorf("the pipeline of no run: %v", err)
	}
	if _, err := p.store.Pipeline(t.Context(), run.Ref(), millrace.Decoder{MaxBytes: 1}); err == nil {
		t.Error("the pipeline is longer than the decoder reads")
	}

	var refused *runs.StateError
	if err := m.Remove(t.Context(), run.Ref()); !errors.As(err, &refused) || refused.Status != runs.Manual {
		t.Errorf("a run that waits: %v", err)
	}
	_, err = m.Cancel(t.Context(), run.Ref())
	fstest.Must(t, err)
	fstest.Must(t, m.Remove(t.Context(), run.Ref()))
	if _, err := p.store.Get(t.Context(), run.Ref()); !errors.Is(err, runs.ErrNotFound) {
		t.Errorf("the run is still there: %v", err)
	}
	if page, err := p.store.List(t.Context(), runs.Filter{}); err != nil || page.Total != 0 {
		t.Errorf("the list has %d runs, %v", page.Total, err)
	}
	if there, err := afero.DirExists(fstest.OpenRoot(t, p.dir), "shared/"+run.RunID); err != nil || there {
		t.Errorf("the shared directory is there: %v, %v", there, err)
	}
	if err := m.Remove(t.Context(), run.Ref()); !errors.Is(err, runs.ErrNotFound) {
		t.Errorf("once more: %v", err)
	}
	foreign, err := rundir.Open(fstest.OpenRoot(t, p.dir), "runs", rundir.Options{Key: []byte("another key of 16 bytes"), NoSync: true, SharedDir: p.dir})
	fstest.Must(t, err)
	run, err = m.Create(t.Context(), runs.CreateParams{Project: "p", Pipeline: pipeline, Variables: []runs.Variable{{Key: "to", Value: "two"}}})
	fstest.Must(t, err)
	_, err = m.Wait(t.Context(), run.Ref())
	fstest.Must(t, err)
	if err := manage(t, foreign, p.host()).Remove(t.Context(), run.Ref()); !errors.Is(err, runs.ErrForeign) {
		t.Errorf("a run of another key: %v", err)
	}
}
