package commit_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
)

// folding treats names that differ only by case as one, and does not report the identity of files.
func folding(plain afero.Fs) afero.Fs { return errorfs.Folding(plain, strings.ToLower) }

// TestFolding respells names where both spellings are the same file. The new name must not be mistaken for a file of
// another program, and the file must survive a crash at any moment.
func TestFolding(t *testing.T) {
	t.Parallel()
	sc := scenario{tree: []string{"readme=1", "b=2", "d/e=3"}, do: steps(rename("readme", "README"), write("b", "B"), rename("d/e", "d/E"))}
	want := []string{"README", "b", "d", "d/E"}
	respelled := func(t *testing.T) (plain afero.Fs, tr *trial) {
		t.Helper()
		plain = backends()["plain"](t)
		// The stage uses the exact names.
		tr = newTrial(t, plain, sc)
		tr.fsys = folding(plain)
		return plain, tr
	}
	plain, tr := respelled(t)
	rep, err := commit.Apply(bg, options(tr.fsys), tr.changes)
	if err != nil || len(rep.Warnings) > 0 {
		t.Fatalf("%+v, %v", rep, err)
	}
	got := snapshot(t, plain, false)
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(namesOf(got)))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !strings.Contains(got["README"], `"readme1"`) {
		t.Errorf("README is %s", got["README"])
	}
	eachMoment(t, fstest.Slowed(15, 3), func(at int) bool {
		_, tr := respelled(t)
		killed := false
		tr.hooks.before = func(n int, _ string, _ bool, _ string) error {
			if killed = n >= at; killed {
				return errKilled
			}
			return nil
		}
		_, _ = commit.Apply(bg, tr.options(), tr.changes)
		tr.settled(t, fmt.Sprintf("killed at %d", at))
		return killed
	})
}

// TestFolding_taken has another file at the new name, which only looks like another spelling. This is found before the
// first write.
func TestFolding_taken(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	plant(t, fsys, "readme=1")
	changes := staged(t, fsys, rename("readme", "README"))
	plant(t, fsys, "README=2")
	before := snapshot(t, fsys, true)
	rep, err := commit.Apply(bg, options(fsys), changes)
	c, ok := errors.AsType[*commit.Conflict](err)
	if !ok || len(c.Paths) != 1 || c.Paths[0].Path != "README" || rep.RolledBack {
		t.Errorf("%+v, error is %v", rep, err)
	}
	if diff := cmp.Diff(before, snapshot(t, fsys, true)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
