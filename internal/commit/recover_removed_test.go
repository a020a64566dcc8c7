package commit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/journal"
)

// TestRecover_removed has the user remove a file that a killed transaction had written. It stays removed.
func TestRecover_removed(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	tr, dir := interrupted(t, fsys, "sync")
	if err := fsys.Remove("a"); err != nil {
		t.Fatal(err)
	}
	_, err := commit.Recover(bg, options(fsys))
	c, ok := errors.AsType[*commit.RollbackConflict](err)
	if !ok || len(c.Paths) != 1 || c.Paths[0].Path != "a" || c.Dir != strings.Replace(dir, "/tx/", "/conflicts/", 1) {
		t.Fatalf("error is %v", err)
	}
	delete(tr.old, "a")
	if diff := cmp.Diff(tr.old, uncounted(snapshot(t, fsys, true), tr.old)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if data, _ := afero.ReadFile(fsys, c.Dir+"/old/"+journal.Slot(0)); string(data) != "a1" {
		t.Errorf("kept is %q", data)
	}
}

// TestRecover_crowd inspects, without the lock, a state directory while its owner removes it.
func TestRecover_crowd(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{stateDir, stateDir + "/tx"} {
		fsys := rootFs(t)
		plant(t, fsys, stateDir+"/tx/")
		met := false
		h := &hooks{before: func(_ int, op string, _ bool, name string) error {
			if op == "open" && name == dir && !met {
				met = true
				return fsys.RemoveAll(stateDir)
			}
			return nil
		}}
		r, err := commit.Recover(bg, options(withHooks(fsys, h)))
		if !met || err != nil || len(r.Leftovers) > 0 {
			t.Errorf("%s: met %v, %+v, %v", dir, met, r, err)
		}
	}
}
