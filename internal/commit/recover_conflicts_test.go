package commit_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/journal"
)

// TestConflicts lists the files kept for the user after another program removed a file that was written.
func TestConflicts(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	if list, err := commit.Conflicts(bg, options(fsys)); err != nil || len(list) > 0 {
		t.Fatalf("of nothing: %+v, %v", list, err)
	}
	interrupted(t, fsys, "sync")
	if list, err := commit.Conflicts(bg, options(fsys)); err != nil || len(list) > 0 {
		t.Fatalf("before it is undone: %+v, %v", list, err)
	}
	if err := fsys.Remove("a"); err != nil {
		t.Fatal(err)
	}
	_, err := commit.Recover(bg, options(fsys))
	c, ok := errors.AsType[*commit.RollbackConflict](err)
	if !ok {
		t.Fatalf("error is %v", err)
	}
	before := everything(t, fsys)
	list, err := commit.Conflicts(bg, options(fsys))
	if err != nil {
		t.Fatal(err)
	}
	want := []commit.Leftover{{Leftover: backup.Leftover{
		ID: c.ID, Directory: c.Dir, Status: backup.LeftoverInterrupted, RunID: "run", Paths: []string{"a", "b", "d/e", "d/f", "n"},
	}}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	o := options(fsys)
	o.Key = []byte("key of somebody else")
	list, err = commit.Conflicts(bg, o)
	if err != nil || len(list) != 1 || list[0].Status != backup.LeftoverSuspicious || !errors.Is(list[0].Err, &journal.Error{Reason: journal.BadKey}) {
		t.Errorf("with another key: %+v, %v", list, err)
	}
	if diff := cmp.Diff(before, everything(t, fsys)); diff != "" {
		t.Errorf("something was changed:\n%s", diff)
	}
}

// TestRecover_notADirectory finds a link among the transactions: it is neither followed nor removed.
func TestRecover_notADirectory(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	_, dir := interrupted(t, fsys, "apply")
	link := stateDir + "/tx/20200101_000000_0123456789abcdef"
	if err := fsys.(afero.Linker).SymlinkIfPossible(filepath.Base(dir), link); err != nil {
		t.Fatal(err)
	}
	r, err := commit.Recover(bg, options(fsys))
	if !errors.Is(err, commit.ErrControlDir) || !errors.Is(err, commit.ErrRecoveryRequired) || len(r.Leftovers) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	if l := r.Leftovers[0]; l.Directory != link || l.Status != backup.LeftoverSuspicious {
		t.Errorf("link: %+v", l)
	}
	if l := r.Leftovers[1]; l.Directory != dir || l.Status != backup.LeftoverInterrupted || l.Err != nil {
		t.Errorf("transaction: %+v", l)
	}
	if _, _, err := lstat(fsys, link); err != nil {
		t.Errorf("link: %v", err)
	}
}

// TestRecover_cancelled stops before the first transaction.
func TestRecover_cancelled(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	tr, _ := interrupted(t, fsys, "apply")
	before := everything(t, fsys)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(bg)
	cancel(why)
	o := options(fsys)
	var err error
	if o.Lock, err = commit.Lock(bg, o); err != nil {
		t.Fatal(err)
	}
	_, err = commit.Recover(ctx, o)
	if cerr := o.Lock.Close(); !errors.Is(err, why) || cerr != nil {
		t.Errorf("%v, %v", err, cerr)
	}
	if diff := cmp.Diff(before, everything(t, fsys)); diff != "" {
		t.Errorf("something was changed:\n%s", diff)
	}
	if tr.settled(t, "afterwards") {
		t.Error("tree is new")
	}
}

// TestRecover_damagedResult does not return a result that differs from the committed result.
func TestRecover_damagedResult(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	tr, dir := interrupted(t, fsys, "commit")
	result := dir + "/" + journal.Result
	if err := afero.WriteFile(fsys, result, []byte("{?}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := commit.Recover(bg, options(fsys)); !errors.Is(err, commit.ErrRecoveryRequired) {
		t.Errorf("error is %v", err)
	}
	if ok, _ := afero.Exists(fsys, stateDir+"/results/run.json"); ok {
		t.Error("it was handed out")
	}
	if err := afero.WriteFile(fsys, result, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !tr.settled(t, "repaired") {
		t.Error("tree is old")
	}
}
