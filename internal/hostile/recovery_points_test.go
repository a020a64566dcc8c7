//go:build linux

package hostile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/stage"
)

// diskPipelines returns the pipelines of the other processes.
func diskPipelines() map[string]millrace.Pipeline {
	swap := func(s *stage.Stage) error {
		return errors.Join(s.Rename("swap/a", "swap/t"), s.Rename("swap/b", "swap/a"), s.Rename("swap/t", "swap/b"))
	}
	return map[string]millrace.Pipeline{
		// Every kind of change of a path, once.
		"everything": altering(put("edit", "edited"), drop("gone"), move("from", "moved/to"), chmodded("mode", 0o600), swap,
			put("made/new", "new"), drop("kind"), put("kind", "now a file"), drop("leaf"), put("leaf/below", "now a directory"),
			drop("deep")),
		"edit":         altering(put("edit", "edited")),
		"edits":        altering(editAll("edited")),
		"longer":       altering(editAll(strings.Repeat("y", 200))),
		"mounted file": altering(put("f", "new"), put("g", "new")),
		"mounted": altering(put("near", "edited"), put("m/edit", "edited"), put("m/made/new", "new"), drop("m/gone"),
			move("m/moved", "moved"), move("here", "m/there")),
	}
}

// editAll writes the same content to all files in the directory "files".
func editAll(content string) func(s *stage.Stage) error {
	return func(s *stage.Stage) error {
		infos, err := afero.ReadDir(s, "files")
		for _, info := range infos {
			err = errors.Join(err, afero.WriteFile(s, "files/"+info.Name(), []byte(content), info.Mode()))
		}
		return err
	}
}

// everything plants the tree for the pipeline "everything".
func everything(t testing.TB, dir string) {
	t.Helper()
	plantDir(t, dir, "edit=old", "gone=old gone", "from=moves", "mode=m", "swap/a=A", "swap/b=B", "kind/x=in a directory", "leaf=a file",
		"deep/er/file=deep", "deep/empty/", "kept=kept", "link -> edit")
	must(t, os.Link(filepath.Join(dir, "edit"), filepath.Join(dir, "twin")))
}

// after returns the result of a pipeline on the tree that plant makes, without times.
func after(t *testing.T, plant func(t testing.TB, dir string), p millrace.Pipeline) map[string]string {
	t.Helper()
	dir := fstest.TempDir(t)
	plant(t, dir)
	_, err := millrace.Executor{State: millrace.State{NoSync: true}}.Run(t.Context(), openDir(t, dir), p)
	must(t, err, os.RemoveAll(filepath.Join(dir, stateName)))
	return treeOf(t, dir, contents)
}

// point is a moment of the protocol: right before the first operation that matches at and follows an operation that
// matches after.
type point struct {
	name, after, at string
	// real means that the point only exists on a file system with all abilities.
	real  bool
	isNew bool // recovery keeps the new tree
}

// killed kills a process at each point, once before a call of Recover and once before another run, which recovers
// first, and checks the tree.
func killed(t *testing.T, points ...point) {
	t.Helper()
	want := after(t, everything, diskPipelines()["everything"])
	for _, p := range points {
		for _, plain := range []bool{false, true} {
			if plain && p.real {
				continue
			}
			for _, byRun := range []bool{false, true} {
				name := p.name
				if plain {
					name += "/plain"
				}
				if byRun {
					if fstest.Runs(0, 1, 1) == 0 {
						continue
					}
					name += "/next run"
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					killedAt(t, p, plain, byRun, want)
				})
			}
		}
	}
}

func killedAt(t *testing.T, p point, plain, byRun bool, want map[string]string) {
	dir := fstest.TempDir(t)
	everything(t, dir)
	compare := exact
	if plain {
		compare = contents | times
	}
	old := treeOf(t, dir, compare)
	j := diskJob{Dir: dir, Pipeline: "everything", Sigkill: p.at, SigkillAfter: p.after, Plain: plain}
	if r := j.start(t); !r.Killed {
		t.Fatalf("it was not killed: %+v", r)
	}
	var fsys afero.Fs = openDir(t, dir)
	if plain {
		fsys = errorfs.Plain(openDir(t, dir))
	}
	x := millrace.Executor{State: millrace.State{NoSync: true}}
	if byRun {
		_, err := x.Run(t.Context(), fsys, altering(put("another", "run")))
		must(t, err, os.Remove(filepath.Join(dir, "another")))
		backups, err := x.ListBackups(t.Context(), fsys)
		must(t, err)
		must(t, os.RemoveAll(filepath.Join(dir, stateName, "backups", backups[0].ID)))
		if len(backups) == 1 {
			must(t, os.RemoveAll(filepath.Join(dir, stateName))) // the recovered tree has no state directory
		}
	} else if _, err := x.Recover(t.Context(), fsys); err != nil {
		t.Fatal(err)
	}
	if !p.isNew {
		sameTree(t, "recovered", dir, old, compare)
		return
	}
	got := treeOf(t, dir, contents)
	delete(got, stateName)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("the tree is not new (-want +got):\n%s", diff)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, stateName, "tx")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	backups, err := x.ListBackups(t.Context(), fsys)
	if err != nil || len(backups) != 1 || backups[0].Err != nil {
		t.Fatalf("backups: %+v, %v", backups, err)
	}
	_, err = x.Restore(t.Context(), fsys, backups[0].ID)
	must(t, err)
	got = treeOf(t, dir, contents)
	delete(got, stateName)
	if diff := cmp.Diff(contentOnly(t), got); diff != "" {
		t.Errorf("after the restore (-want +got):\n%s", diff)
	}
}

func contentOnly(t *testing.T) map[string]string {
	t.Helper()
	dir := fstest.TempDir(t)
	everything(t, dir)
	return treeOf(t, dir, contents)
}
