package whole_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestRenames: any set of new names, including chains and cycles, is applied at once as a map demands, or refused
// without a change. The patch action makes the same tree from its diff, and an undo restores the old names.
func TestRenames(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(fstest.Seed(t), 7))
	made, refused := 0, 0
	for range fstest.Runs(60, 1500, 20_000) {
		names := []string{"a", "b", "d/c", "d/e", "f/g/h", "i"}
		there := make(map[string]string)
		dir, other := t.TempDir(), t.TempDir()
		for _, name := range names[:2+rnd.IntN(5)] {
			there[name] = fmt.Sprintf("text of %s\n", name)
			for _, root := range []string{dir, other} {
				fstest.Must(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755))
				fstest.Must(t, os.WriteFile(filepath.Join(root, name), []byte(there[name]), 0o644))
			}
		}
		old := slices.Sorted(maps.Keys(there))
		renames := make(map[string]string)
		for _, i := range rnd.Perm(len(old))[:1+rnd.IntN(len(old))] {
			if to := append(names, "n/new", "a2")[rnd.IntN(len(names)+2)]; to != old[i] {
				renames[old[i]] = to
			}
		}
		if len(renames) == 0 {
			continue
		}
		want, ok := renamed(there, renames)
		before := snapshot(t, dir)
		fsys, err := fsutil.OpenRoot(dir)
		fstest.Must(t, err)
		x := millrace.Executor{State: millrace.State{NoSync: true, Key: bytes.Repeat([]byte("k"), 32)}}
		plan, err := x.Plan(t.Context(), fsys, suite.One(actions.Rename{Renames: renames}))
		if (err == nil) != ok {
			t.Fatalf("%v of %v: %v", renames, old, err)
		}
		if err != nil {
			refused++
			_ = fsys.Close()
			continue
		}
		made++
		diff := plan.Diff()
		res, err := plan.Commit(t.Context())
		fstest.Must(t, err)
		after := snapshot(t, dir)
		if d := cmp.Diff(want, bare(after)); d != "" {
			t.Fatalf("%v of %v: %s", renames, old, d)
		}
		if diff != "" {
			second, err := fsutil.OpenRoot(other)
			fstest.Must(t, err)
			_, err = x.Run(t.Context(), second, suite.One(actions.Patch{Text: diff}))
			fstest.Must(t, err)
			if d := cmp.Diff(after, snapshot(t, other)); d != "" {
				t.Fatalf("the patch of %v: %s\n%s", renames, d, diff)
			}
			fstest.Must(t, second.Close())
		}
		if res.BackupID != "" {
			_, err = x.Restore(t.Context(), fsys, res.BackupID)
			fstest.Must(t, err)
			if d := cmp.Diff(before, snapshot(t, dir)); d != "" {
				t.Fatalf("the undo of %v: %s", renames, d)
			}
		}
		fstest.Must(t, fsys.Close())
	}
	if made == 0 || refused == 0 {
		t.Errorf("%d sets of names were applied, %d refused", made, refused)
	}
}

// renamed returns the texts by their new names, and false if two files would get the same name.
func renamed(there, renames map[string]string) (map[string]string, bool) {
	got := make(map[string]string)
	for name, text := range there {
		to, ok := renames[name]
		if !ok {
			to = name
		}
		if _, taken := got[to]; taken {
			return nil, false
		}
		got[to] = text
	}
	return got, true
}

// bare returns the texts of a snapshot.
func bare(of map[string]string) map[string]string {
	got := make(map[string]string, len(of))
	for name, seen := range of {
		var exec bool
		var text string
		_, _ = fmt.Sscanf(seen, "%t %q", &exec, &text)
		got[name] = text
	}
	return got
}
