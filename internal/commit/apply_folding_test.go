package commit_test

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
)

// foldFs takes names that differ by case only for one, as the file systems of macOS and Windows do. Which file is which it
// does not say.
type foldFs struct{ plainFs }

// spelled returns the name as the directories have it.
func (f foldFs) spelled(name string) string {
	at := "."
	for part := range strings.SplitSeq(path.Clean(name), "/") {
		d, err := f.plainFs.Open(at)
		if err != nil {
			return name
		}
		names, _ := d.Readdirnames(-1)
		d.Close()
		if i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, part) }); i >= 0 {
			part = names[i]
		}
		at = path.Join(at, part)
	}
	return at
}

func (f foldFs) OpenFile(n string, flag int, m os.FileMode) (afero.File, error) {
	return f.plainFs.OpenFile(f.spelled(n), flag, m)
}
func (f foldFs) Open(n string) (afero.File, error)   { return f.plainFs.Open(f.spelled(n)) }
func (f foldFs) Mkdir(n string, m os.FileMode) error { return f.plainFs.Mkdir(f.spelled(n), m) }
func (f foldFs) Remove(n string) error               { return f.plainFs.Remove(f.spelled(n)) }
func (f foldFs) Stat(n string) (os.FileInfo, error)  { return f.plainFs.Stat(f.spelled(n)) }
func (f foldFs) Chmod(n string, m os.FileMode) error { return f.plainFs.Chmod(f.spelled(n), m) }
func (f foldFs) Chtimes(n string, a, m time.Time) error {
	return f.plainFs.Chtimes(f.spelled(n), a, m)
}
func (f foldFs) LstatIfPossible(n string) (os.FileInfo, bool, error) {
	return f.plainFs.LstatIfPossible(f.spelled(n))
}
func (f foldFs) ReadlinkIfPossible(n string) (string, error) {
	return f.plainFs.ReadlinkIfPossible(f.spelled(n))
}
func (f foldFs) SymlinkIfPossible(a, b string) error {
	return f.plainFs.SymlinkIfPossible(a, f.spelled(b))
}

// Rename gives what is moved the new spelling, and what replaces something the old one.
func (f foldFs) Rename(a, b string) error {
	to := f.spelled(b)
	if f.spelled(a) == to {
		to = path.Join(path.Dir(to), path.Base(b))
	}
	return f.plainFs.Rename(f.spelled(a), to)
}

// TestFolding respells names where both spellings are one file: the new name must not be taken for one that somebody else
// has made, nor must the file be lost on the way, at whatever moment that ends.
func TestFolding(t *testing.T) {
	t.Parallel()
	sc := scenario{tree: []string{"readme=1", "b=2", "d/e=3"}, do: steps(rename("readme", "README"), write("b", "B"), rename("d/e", "d/E"))}
	want := []string{"README", "b", "d", "d/E"}
	respelled := func(t *testing.T) (plain plainFs, tr *trial) {
		t.Helper()
		plain = backends()["plain"](t).(plainFs)
		// The stage works by the exact names.
		tr = newTrial(t, plain, sc)
		tr.fsys = foldFs{plain}
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
	eachMoment(t, 3, func(at int) bool {
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

// TestFolding_taken has another file under the name that is to be made: it only looks like another spelling. That is
// found out before the first write.
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
