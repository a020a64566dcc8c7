package commit_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/journal"
)

// TestConflicts lists what is kept for the user after a file that was written had been removed by somebody else.
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
	want := []commit.Leftover{{ID: c.ID, Dir: c.Dir, Status: commit.Interrupted, RunID: "run", Paths: []string{"a", "b", "d/e", "d/f", "n"}}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	o := options(fsys)
	o.Key = []byte("key of somebody else")
	list, err = commit.Conflicts(bg, o)
	if err != nil || len(list) != 1 || list[0].Status != commit.Suspicious || !errors.Is(list[0].Err, &journal.Error{Reason: journal.BadKey}) {
		t.Errorf("with another key: %+v, %v", list, err)
	}
	if diff := cmp.Diff(before, everything(t, fsys)); diff != "" {
		t.Errorf("something was changed:\n%s", diff)
	}
}

// TestUserKey has plans signed with the key of the user, which is made when there is something to sign and not by those who
// only look.
func TestUserKey(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the directory for settings is set as Linux has it")
	}
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	fsys := rootFs(t)
	own := func() commit.Options {
		o := options(fsys)
		o.Key = nil
		return o
	}
	interrupted(t, fsys, "sync")
	before := everything(t, fsys)
	r, err := commit.Inspect(bg, own())
	if err != nil || len(r.Leftovers) != 1 || !errors.Is(r.Leftovers[0].Err, &journal.Error{Reason: journal.BadKey}) {
		t.Errorf("without a key: %+v, %v", r, err)
	}
	if made, _ := os.ReadDir(config); len(made) > 0 {
		t.Errorf("Inspect has made %v", made)
	}
	file := filepath.Join(config, "millrace", "key")
	key := slices.Repeat([]byte("k"), journal.KeySize)
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, key[1:], 0o600)); err != nil {
		t.Fatal(err)
	}
	_, ierr := commit.Inspect(bg, own())
	_, cerr := commit.Conflicts(bg, own())
	_, rerr := commit.Recover(bg, own())
	if ierr == nil || cerr == nil || rerr == nil {
		t.Errorf("with a short key: inspect %v, conflicts %v, recover %v", ierr, cerr, rerr)
	}
	if diff := cmp.Diff(before, everything(t, fsys)); diff != "" {
		t.Errorf("something was changed:\n%s", diff)
	}
	if _, err := commit.Recover(bg, options(fsys)); err != nil {
		t.Fatal(err)
	}
	if _, err := commit.Apply(bg, own(), staged(t, fsys, write("x", "X"))); err == nil {
		t.Error("something was signed with a short key")
	}
	if ok, _ := afero.Exists(fsys, stateDir); ok {
		t.Error("state directory is left")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	rep, err := commit.Apply(bg, own(), staged(t, fsys, write("x", "X")))
	if err != nil {
		t.Fatal(err)
	}
	if key, err = os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	plan, err := afero.ReadFile(fsys, stateDir+"/backups/"+rep.ID+"/done")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Decode(plan, key); err != nil {
		t.Errorf("the plan is not signed with the key that was made: %v", err)
	}
}

// TestRecover_notADirectory finds a link among the transactions: it is not followed, and not removed.
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
	if l := r.Leftovers[0]; l.Dir != link || l.Status != commit.Suspicious {
		t.Errorf("link: %+v", l)
	}
	if l := r.Leftovers[1]; l.Dir != dir || l.Status != commit.Interrupted || l.Err != nil {
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

// TestRecover_damagedResult does not hand out a result that is not the one that was committed.
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
	if ok, _ := afero.Exists(fsys, stateDir+"/runs/run.json"); ok {
		t.Error("it was handed out")
	}
	if err := afero.WriteFile(fsys, result, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !tr.settled(t, "repaired") {
		t.Error("tree is old")
	}
}
