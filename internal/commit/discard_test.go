package commit_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
)

// TestDiscard_last kills commits before each operation and discards the rest. Every file must be in the tree or in a
// kept transaction.
func TestDiscard_last(t *testing.T) {
	t.Parallel()
	for _, sc := range []scenario{
		{tree: []string{"d/a=1", "d/b=2", "d/e/c=3"}, do: remove("d")},
		{tree: []string{"F.txt=1", "g=2"}, do: steps(rename("F.txt", "f.txt"), remove("g"))},
		{name: "always somewhere", tree: []string{"d/a=1", "d/e/b=2"}, do: rename("d", "k")},
	} {
		for _, make := range []func(t testing.TB) afero.Fs{rootFs, func(t testing.TB) afero.Fs { return overMount(t, 7, 0) }} {
			kept, killed := 0, true
			for at := 1; killed; at++ {
				tr := newTrial(t, make(t), sc)
				tr.killed(at)
				rep, err := commit.Apply(bg, tr.options(), tr.changes)
				if killed = err != nil || len(rep.Warnings) > 0; !killed {
					break
				}
				tr.unlock()
				left, err := commit.Inspect(bg, options(tr.fsys))
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range left.Leftovers {
					err := commit.Discard(bg, options(tr.fsys), l.ID)
					if k, ok := errors.AsType[*commit.KeptError](err); ok {
						kept++
						checkKept(t, tr, k)
						err = commit.Discard(bg, options(tr.fsys), l.ID)
					}
					if err != nil {
						t.Fatalf("killed at %d: %v", at, err)
					}
				}
				if err := commit.Discard(bg, options(tr.fsys), "20250213_120530_abc123def4567890"); !errors.Is(err, fs.ErrNotExist) {
					t.Fatalf("killed at %d: %v", at, err)
				}
				if len(left.Leftovers) > 0 && left.Leftovers[0].Status == "committed" {
					continue
				}
				lost := maps.Clone(tr.old)
				for name, is := range snapshot(t, tr.fsys, false) {
					maps.DeleteFunc(lost, func(old, was string) bool { return old == name || bytesOf(was) == bytesOf(is) })
				}
				maps.DeleteFunc(lost, func(_, was string) bool { return !strings.HasPrefix(was, "file") || tr.told[bytesOf(was)] })
				if len(lost) > 0 {
					t.Fatalf("killed at %d: out of the tree, and not named: %v", at, lost)
				}
			}
			if (kept == 0) != (sc.name != "") {
				t.Errorf("%d were kept", kept)
			}
		}
	}
}

// bytesOf returns the bytes of a file in a snapshot.
func bytesOf(is string) string {
	is, _, _ = strings.Cut(is, " #")
	return is[strings.LastIndex(is, " ")+1:]
}

// checkKept checks that the files are where the error reports them.
func checkKept(t *testing.T, tr *trial, k *commit.KeptError) {
	t.Helper()
	tr.told = make(map[string]bool)
	for _, f := range k.Files {
		name := strings.TrimPrefix(f.Reason, "is ")
		data, err := afero.ReadFile(tr.fsys, name)
		if err != nil || !strings.Contains(k.Error(), f.Path) {
			t.Fatalf("%v: %v", k, err)
		}
		tr.told[fmt.Sprintf("%q", data)] = true
	}
	if r, err := commit.Recover(bg, options(tr.fsys)); err != nil || len(r.Leftovers) > 0 {
		t.Fatalf("it still blocks: %+v, %v", r, err)
	}
}
