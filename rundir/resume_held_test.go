package rundir_test

import (
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/runs"
)

// A resume with a step does not play a run: the job that waits is refused, and nothing is written.
func TestResume_heldStep(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, step, want string }{
		"commit": {threeSteps, "commit", "cannot retry job 1004 (commit): it is manual, play or cancel it"},
		"step":   {manualStep, "check", "cannot retry job 1002 (step 'check'): it is manual, play or cancel it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, "a.txt", "one\n")
			h := p.host()
			h.ApproveFrom = risk.Low
			m := manage(t, p.store, h)
			run := wait(t, m, create(t, m, tt.text), runs.Manual)
			_, err := m.Resume(t.Context(), "1/"+tt.step)
			refusal(t, err, tt.want)
			wait(t, m, run, runs.Manual)
			same(t, "tree", fstest.Read(t, p.tree, "a.txt"), "one\n")
		})
	}
}
