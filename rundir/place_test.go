package rundir_test

import (
	"path"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// A store must be outside of the tree, or in a state directory of it: otherwise steps would see the runs, and could
// change them.
func TestStoreInTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree := fstest.OpenRoot(t, dir)
	fstest.Must(t, tree.MkdirAll("sub/deep", 0o755))
	mem := afero.NewMemMapFs()
	for what, test := range map[string]struct {
		tree, store afero.Fs
		at, state   string
		refused     string
	}{
		"in the tree":                         {tree, tree, "one", "", "one"},
		"by another name":                     {tree, afero.NewBasePathFs(afero.NewOsFs(), dir), "two", "", "two"},
		"a root below it":                     {tree, open(t, path.Join(dir, "sub")), "deep/three", "", "sub/deep/three"},
		"in the directory of other state":     {tree, tree, ".other/runs", "", ".other/runs"},
		"in memory":                           {mem, mem, "runs", "", "runs"},
		"the state directory itself":          {tree, tree, ".state", ".state", ".state"},
		"in the state directory":              {tree, tree, "", "", ""},
		"in another state directory":          {tree, tree, ".state/runs", ".state", ""},
		"in the state directory of a subtree": {tree, tree, "sub/.millrace/runs", ".state", ""},
		"above the tree":                      {open(t, path.Join(dir, "sub")), tree, "four", "", ""},
		"elsewhere":                           {tree, open(t, t.TempDir()), "runs", "", ""},
		"elsewhere in memory":                 {mem, afero.NewMemMapFs(), "runs", "", ""},
	} {
		t.Run(what, func(t *testing.T) {
			store, err := rundir.Open(test.store, test.at, rundir.Options{Key: key, NoSync: true, SharedDir: t.TempDir()})
			fstest.Must(t, err)
			p := place{store: store}
			h := p.host()
			h.Trees, h.Executor.State.Dir = trees{"p": test.tree}, test.state
			m := manage(t, store, h)
			run := create(t, m, `{"name": "n", "steps": [{"id": "b", "action": "create", "params": {"path": "b.txt", "content": "b", "overwrite": true}}]}`)
			run, err = m.Wait(t.Context(), run.Ref())
			fstest.Must(t, err)
			if test.refused == "" {
				same(t, "status", string(run.Status), string(runs.Success))
				return
			}
			if want := "tree cannot be opened: the store of runs lies in the tree at '" + test.refused +
				"'"; run.Status != runs.Failed || !strings.HasPrefix(run.Reason, want) {
				t.Errorf("%s: %s, want %s", run.Status, run.Reason, want)
			}
		})
	}
}

func open(t *testing.T, dir string) *fsutil.RootFs {
	t.Helper()
	root, err := fsutil.OpenRoot(dir)
	fstest.Must(t, err)
	t.Cleanup(func() { _ = root.Close() })
	return root
}

// The stored result of a run in its tree is removed with the run, if the store is in the state directory of the tree.
func TestRetention_storedResult(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.txt", "one\n")
	store, err := rundir.Open(p.tree, "", rundir.Options{Key: key, NoSync: true, SharedDir: t.TempDir()})
	fstest.Must(t, err)
	m := manage(t, store, p.host())
	var all []runs.Run
	for _, word := range []string{"two", "three", "four"} {
		all = append(all, wait(t, m, create(t, m,
			`{"name": "n", "steps": [{"id": "b", "action": "create", "params": {"path": "`+word+`", "content": "b"}}]}`), runs.Success))
	}
	fstest.Must(t, m.Close(t.Context()))
	stored := func() string {
		entries, err := afero.ReadDir(p.tree, ".millrace/results")
		fstest.Must(t, err)
		var names []string
		for _, e := range entries {
			names = append(names, strings.TrimSuffix(e.Name(), ".json"))
		}
		return strings.Join(names, " ")
	}
	for _, r := range all {
		if !strings.Contains(stored(), r.RunID) {
			t.Fatalf("there is no result of %s: %s", r.RunID, stored())
		}
	}
	h := p.host()
	h.Retention.Keep = 1
	fstest.Must(t, manage(t, store, h).Close(t.Context()))
	same(t, "stored", stored(), all[2].RunID)
}
