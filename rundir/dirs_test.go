package rundir_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// A host with Dirs needs no other Trees: a run of a project changes the directory with that name, and no other.
func TestDirs(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for _, dir := range []string{"trees/team/shop", "trees/blog", "out", "store"} {
		fstest.Must(t, os.MkdirAll(filepath.Join(top, dir), 0o755))
		fstest.Must(t, os.WriteFile(filepath.Join(top, dir, "a.txt"), []byte("one\n"), 0o644))
	}
	store, err := rundir.Open(fstest.OpenRoot(t, filepath.Join(top, "store")), "runs",
		rundir.Options{Key: key, NoSync: true, SharedDir: t.TempDir()})
	fstest.Must(t, err)
	trees := rundir.Dirs(filepath.Join(top, "trees"))
	m := manage(t, store, rundir.Host{Executor: millrace.Executor{State: millrace.State{Key: key, NoSync: true}}, Trees: trees})
	p, err := millrace.Decode([]byte(`{"name": "n", "steps": [{"id": "a", "action": "edit",
		"params": {"files": ["a.txt"], "old_text": "one", "new_text": "two"}}]}`))
	fstest.Must(t, err)
	run, err := m.Create(t.Context(), runs.CreateParams{Project: "team/shop", Pipeline: p})
	fstest.Must(t, err)
	wait(t, m, run, runs.Success)
	for dir, want := range map[string]string{"trees/team/shop": "two\n", "trees/blog": "one\n", "out": "one\n"} {
		if text, err := os.ReadFile(filepath.Join(top, dir, "a.txt")); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v, want %q", dir, text, err, want)
		}
	}
	for _, test := range []struct {
		target fleet.Target
		opens  bool
	}{
		{fleet.Target{ID: "blog"}, true},
		{fleet.Target{ID: "."}, true},
		{fleet.Target{ID: "7", Root: "blog"}, true},
		{fleet.Target{ID: "blog", Root: "none"}, false},
		{fleet.Target{ID: "none"}, false},
		{fleet.Target{}, false},
		{fleet.Target{ID: "../out"}, false},
		{fleet.Target{ID: "blog/../../out"}, false},
		{fleet.Target{ID: filepath.Join(top, "out")}, false},
		{fleet.Target{ID: "link"}, false},
		{fleet.Target{ID: "blog/a.txt"}, false},
	} {
		if test.target.ID == "link" {
			if runtime.GOOS == "windows" {
				continue // creating links needs a privilege
			}
			fstest.Must(t, os.Symlink("../out", filepath.Join(top, "trees", "link")))
		}
		tree, err := trees.Open(t.Context(), test.target)
		if (err == nil) != test.opens {
			t.Errorf("%+v: %v", test.target, err)
		}
		if err == nil {
			fstest.Must(t, tree.Close(t.Context(), nil, nil))
		}
	}
}
