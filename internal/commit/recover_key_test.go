package commit_test

import (
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

// TestUserKey has plans signed with the key of the user. The key is made when there is something to sign, not by a
// process that only reads.
func TestUserKey(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the test sets the configuration directory as on Linux")
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
