package rundir_test

import (
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/runs"
)

// severalHunks changes three places of a file, moves two files, the second to the name of the first, and creates a
// file.
const severalHunks = `{"name": "parts", "steps": [
	{"id": "edit", "action": "edit", "params": {"files": ["a.txt"], "old_text": "one", "new_text": "two"}},
	{"id": "away", "action": "rename", "params": {"files": ["b.txt"], "to": "c.txt"}},
	{"id": "there", "action": "rename", "params": {"files": ["d.txt"], "to": "b.txt"}},
	{"id": "odd", "action": "pattern_replace", "params": {"file_pattern": "*.odd", "sed_pattern": ["s/odd/even/"]}},
	{"id": "new", "action": "create", "params": {"path": "dir/new.txt", "content": "new\n"}}]}`

// A run leaves out the hunks and changes that the decision about its plan names, and no other process needs to know.
func TestPlayPart(t *testing.T) {
	t.Parallel()
	gap := strings.Repeat("-\n", 8)
	p := newPlace(t, "a.txt", "one\n"+gap+"one\n"+gap+"one\n", "b.txt", "b\n", "d.txt", "d\n", "\xff.odd", "odd\n")
	h := p.host()
	h.ApproveFrom = risk.Low
	m := manage(t, p.store, h)
	run := wait(t, m, create(t, m, severalHunks), runs.Manual)
	held := runs.JobRef{ID: run.Held.JobID}
	play := func(digest string, leave map[string][]int) error {
		_, err := m.Jobs().Play(t.Context(), held, runs.PlayParams{PlanDigest: digest, Leave: leave})
		return err
	}
	for _, wrong := range []struct {
		digest, want string
		leave        map[string][]int
	}{
		{"", "only before the commit, and of the plan of a plan_digest", map[string][]int{"a.txt": nil}},
		{"stale", "its plan differs from the reviewed plan", map[string][]int{"a.txt": nil}},
	} {
		if err := play(wrong.digest, wrong.leave); err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	for _, missing := range []map[string][]int{{"c.txt": nil}, {"gone": nil}, {"a.txt": {3}}} {
		fstest.Must(t, play(run.Held.PlanDigest, missing))
		if run = wait(t, m, run, runs.Manual); !strings.HasPrefix(run.Reason, "this cannot be left alone: ") {
			t.Errorf("%v: %s", missing, run.Reason)
		}
	}
	same(t, "tree", fstest.Read(t, p.tree, "b.txt"), "b\n")

	fstest.Must(t, play(run.Held.PlanDigest,
		map[string][]int{"a.txt": {1}, "dir/new.txt": nil, "dir": nil, "\xff.odd": nil}))
	run = wait(t, m, run, runs.Success)
	same(t, "tree", fstest.Read(t, p.tree, "a.txt"), "two\n"+gap+"one\n"+gap+"two\n")
	same(t, "odd", fstest.Read(t, p.tree, "\xff.odd"), "odd\n")
	same(t, "moved", fstest.Read(t, p.tree, "b.txt")+fstest.Read(t, p.tree, "c.txt"), "d\nb\n")
	if there, _ := afero.Exists(p.tree, "dir"); there {
		t.Error("a change that was left is made")
	}
	got := run.Result
	if got.TotalEdits != 2 || len(got.FilesChanged.Modified) != 1 || len(got.FilesChanged.Created) != 0 {
		t.Errorf("the result has %d edits, %+v", got.TotalEdits, got.FilesChanged)
	}
}

// Before a step nothing can be left: the step goes on with all that is staged.
func TestPlayPartOfStep(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	m := manage(t, p.store, p.host())
	run := wait(t, m, create(t, m, manualStep), runs.Manual)
	_, err := m.Jobs().Play(t.Context(), runs.JobRef{ID: run.Held.JobID},
		runs.PlayParams{PlanDigest: run.Held.PlanDigest, Leave: map[string][]int{"a.txt": nil}})
	if err == nil || !strings.Contains(err.Error(), "only before the commit") {
		t.Error(err)
	}
}
