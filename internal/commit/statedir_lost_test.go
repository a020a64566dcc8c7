package commit_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/names"
)

// TestLost has another program remove the state directory, or its content, before each operation from the first write
// on. The report about the tree must be true, and nothing blocks the next commit.
func TestLost(t *testing.T) {
	t.Parallel()
	many := steps(write("a", "A"), write("b", "B"), remove("c"), write("n", "N"), rename("g", "h"), mkdir("d"), write("d/x", "X"))
	for name, open := range map[string]func(testing.TB) afero.Fs{
		"root":   func(t testing.TB) afero.Fs { return rootFs(t) },
		"memory": func(testing.TB) afero.Fs { return afero.NewMemMapFs() },
	} {
		for _, gone := range []string{stateDir, stateDir + "/tx"} {
			t.Run(name+" "+gone, func(t *testing.T) {
				t.Parallel()
				outcomes := make(map[string]int)
				for at, more := -1, true; more; at++ {
					do := many
					if at < 0 {
						do = write("a", "A") // nothing could be done without the directory
					}
					more = false
					fsys := open(t)
					plant(t, fsys, "a=1", "b=2", "c=3", "g=4")
					old, want := untimed(snapshot(t, fsys, false)), preview(t, fsys, do)
					tr := &trial{fsys: fsys, hooks: &hooks{}, changes: staged(t, fsys, do)}
					o := tr.options()
					phase, n := "", 0
					o.Observe = func(p string) { phase = p }
					tr.hooks.before = func(int, string, bool, string) error {
						if phase != "apply" && phase != "sync" && phase != "commit" {
							return nil
						}
						if n++; n == max(at, 0)+1 {
							more = true
							return fsys.RemoveAll(gone)
						}
						return nil
					}
					rep, err := commit.Apply(bg, o, tr.changes)
					tr.hooks.before = nil
					if _, pending := errors.AsType[*commit.PendingError](err); pending || errors.Is(err, commit.ErrIndeterminate) {
						t.Errorf("operation %d: the error asks for Recover, which can do nothing: %v", at, err)
					}
					is := untimed(snapshot(t, fsys, false))
					for _, tree := range []map[string]string{is, old, want} {
						for p := range tree {
							if names.Within(p, stateDir) {
								delete(tree, p)
							}
						}
					}
					lost, conflict := errors.AsType[*commit.RollbackConflict](err)
					switch {
					case rep.Committed:
						outcomes["committed"]++
						if diff := cmp.Diff(want, is); diff != "" || err != nil || more && (rep.BackupID != "" || len(rep.Warnings) == 0) {
							t.Errorf("operation %d: committed, %+v, %v\n%s", at, rep, err, diff)
						}
					case rep.RolledBack:
						outcomes["rolled back"]++
						if diff := cmp.Diff(old, is); diff != "" || err == nil {
							t.Errorf("operation %d: rolled back, %v\n%s", at, err, diff)
						}
					case conflict:
						outcomes["told"]++
						var differ, told []string
						for _, p := range []string{"a", "b", "c", "d", "d/x", "g", "h", "n"} {
							if old[p] != is[p] {
								differ = append(differ, p)
							}
						}
						for _, p := range lost.Paths {
							told = append(told, p.Path)
						}
						if !slices.Equal(differ, told) {
							t.Errorf("operation %d: %v are not as before: %v", at, differ, err)
						}
					default:
						t.Errorf("operation %d: %+v, %v", at, rep, err)
					}
					if _, err := commit.Recover(bg, tr.options()); err != nil {
						t.Errorf("operation %d: recover: %v", at, err)
					}
					if _, err := commit.Apply(bg, tr.options(), staged(t, fsys, write("next", "N"))); err != nil {
						t.Errorf("operation %d: the next commit: %v", at, err)
					}
				}
				if outcomes["committed"] < 2 || outcomes["rolled back"] == 0 || outcomes["told"] == 0 {
					t.Errorf("outcomes are %v", outcomes)
				}
			})
		}
	}
}
