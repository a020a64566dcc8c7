package whole_test

import (
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestDeleted: a file that a step deletes comes back with an undo, whatever later steps do at its name or with its
// directory, with and without a backup. A file that was deleted permanently does not.
func TestDeleted(t *testing.T) {
	t.Parallel()
	remove := func(permanent bool, names ...string) actions.Action {
		return actions.Delete{Files: names, Recursive: true, Permanent: permanent}
	}
	rename := actions.Rename{Renames: map[string]string{"x": "f"}}
	tests := []struct {
		name     string
		steps    []actions.Action
		noBackup bool
		lost     []string // after the undo
	}{
		{name: "then its directory, permanently", steps: []actions.Action{remove(false, "d/notes"), remove(true, "d")}, lost: []string{"d/rest"}},
		{name: "permanently, then its directory", steps: []actions.Action{remove(true, "d/notes"), remove(false, "d")}, lost: []string{"d/notes"}},
		{name: "then its name, permanently", steps: []actions.Action{remove(false, "f"), writes("f"), remove(true, "f")}},
		{name: "permanently, then its name", steps: []actions.Action{remove(true, "f"), writes("f"), remove(false, "f")}, lost: []string{"f"}},
		{name: "then a new file", steps: []actions.Action{remove(false, "f"), writes("f")}, noBackup: true},
		{name: "then a renamed file", steps: []actions.Action{remove(false, "f"), rename}, noBackup: true},
		{name: "renamed files in a row", steps: []actions.Action{
			remove(false, "f"), rename, actions.Rename{Renames: map[string]string{"y": "x"}},
		}, noBackup: true},
		{name: "permanently, then a new file", steps: []actions.Action{remove(true, "f"), writes("f")}, noBackup: true, lost: []string{"f"}},
		{name: "under its later name, then a new file", steps: []actions.Action{
			actions.Rename{Renames: map[string]string{"f": "z"}}, remove(false, "z"), writes("f"),
		}, noBackup: true},
		{name: "a directory, then a renamed directory", steps: []actions.Action{
			remove(false, "d"), actions.Rename{Renames: map[string]string{"e": "d"}},
		}, noBackup: true},
		{name: "then its directory, permanently, then a file", steps: []actions.Action{
			remove(false, "d/notes"), remove(true, "d"), writes("d"),
		}, noBackup: true, lost: []string{"d/rest"}},
		{name: "a directory, then a file", steps: []actions.Action{remove(false, "d"), writes("d")}, noBackup: true},
	}
	for i, tt := range append(tests, tests...) {
		stored := i >= len(tests) // the plan
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, root := suite.Rooted(t, "d/notes", "text of d/notes\n", "d/rest", "text of d/rest\n",
				"e/notes", "text of e/notes\n",
				"f", "text of f\n", "x", "text of x\n", "y", "text of y\n")
			want := snapshot(t, dir)
			b := millrace.New("p").Options(millrace.Options{NoBackup: tt.noBackup})
			for i, a := range tt.steps {
				b = b.Step(string(rune('a'+i)), a).Builder
			}
			x := millrace.Executor{State: millrace.State{NoSync: true}}
			plan, err := x.Plan(t.Context(), root, b.MustBuild())
			fstest.Must(t, err)
			if stored {
				data, err := json.Marshal(plan)
				fstest.Must(t, err)
				again, err := x.OpenPlan(t.Context(), root, data)
				fstest.Must(t, err)
				was, errWas := plan.Digest()
				is, errIs := again.Digest()
				if fstest.Must(t, errors.Join(errWas, errIs)); is != was {
					t.Errorf("stored, the plan has the digest %s, before %s", is, was)
				}
				plan = again
			}
			res, err := plan.Commit(t.Context())
			fstest.Must(t, err)
			for _, name := range tt.lost {
				if exec.Command("grep", "-rqF", "text of "+name, filepath.Join(dir, ".millrace")).Run() == nil {
					t.Errorf("%s is in the trash", name)
				}
			}
			if res.BackupID != "" {
				_, err = x.Restore(t.Context(), root, res.BackupID)
				fstest.Must(t, err)
			}
			got := snapshot(t, dir)
			for _, name := range tt.lost {
				delete(want, name)
				delete(got, name)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("after the undo (-want +got):\n%s", d)
			}
		})
	}
}

// TestOverwritten: a file that a step overwrites is not in the trash, even if it was removed for that.
func TestOverwritten(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]actions.Action{
		"copy":   actions.Copy{Files: []string{"x"}, To: "f", Overwrite: true},
		"rename": actions.Rename{Files: []string{"x"}, To: "f", Overwrite: true},
	} {
		_, root := suite.Rooted(t, "f", "text\n", "x", "of x\n")
		p := suite.One(a).WithOptions(millrace.Options{NoBackup: true})
		res, err := millrace.Executor{State: millrace.State{NoSync: true}}.Run(t.Context(), root, p)
		fstest.Must(t, err)
		if res.BackupID != "" {
			t.Errorf("%s: the trash is %s", name, res.BackupID)
		}
	}
}

// writes makes a file.
func writes(name string) actions.Action {
	return suite.Action{Do: staged(func(s afero.Fs) error { return afero.WriteFile(s, name, []byte("new\n"), 0o644) })}
}
