package backups_test

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/stage"
)

// TestPruneRuns keeps the newest results, and the result of the latest run at any time. Results with a time in the
// future are removed first. Files with another name are not touched.
func TestPruneRuns(t *testing.T) {
	t.Parallel()
	for name, fsys := range backends(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := open(t, fsys)
			must(t, store.PruneRuns(bg, backup.Retention{}, time.Now(), "none")) // there are none
			runs, now := path.Join(stateDir, "results"), time.Now()
			must(t, fsys.MkdirAll(runs, 0o700))
			for i := range 5 {
				file := path.Join(runs, fmt.Sprintf("run-%d.json", i))
				must(t, afero.WriteFile(fsys, file, []byte("0123456789"), 0o600))
				at := now.Add(-time.Duration(i) * time.Hour)
				if i == 4 {
					at = now.Add(100 * time.Hour)
				}
				must(t, fsys.Chtimes(file, at, at))
			}
			must(t, afero.WriteFile(fsys, path.Join(runs, "note.txt"), nil, 0o600))
			for _, step := range []struct {
				keep backup.Retention
				left []string
			}{
				{backup.Retention{}, []string{"note.txt", "run-0.json", "run-1.json", "run-2.json", "run-3.json", "run-4.json"}},
				{backup.Retention{Keep: 4}, []string{"note.txt", "run-0.json", "run-1.json", "run-2.json", "run-3.json"}},
				{backup.Retention{MaxBytes: 35}, []string{"note.txt", "run-0.json", "run-1.json", "run-3.json"}},
				{backup.Retention{Keep: -1, MaxAge: 30 * time.Minute}, []string{"note.txt", "run-0.json", "run-3.json"}},
			} {
				must(t, store.PruneRuns(bg, step.keep, now, "run-3"))
				if got := namesIn(t, fsys, runs); !slices.Equal(got, step.left) {
					t.Errorf("%+v: %v are left, want %v", step.keep, got, step.left)
				}
			}
		})
	}
}

// TestPruneConflicts uses the times in the ids, and counts the content of the directories.
func TestPruneConflicts(t *testing.T) {
	t.Parallel()
	for name, fsys := range backends(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := open(t, fsys)
			dir := path.Join(stateDir, "conflicts")
			now := time.Date(2025, 2, 20, 12, 0, 0, 0, time.UTC)
			ids := []string{"20250213_120530_abc123def", "20250214_120530_abc123def", "20250215_120530_abc123def", "29990101_000000_abc123def"}
			for _, id := range ids {
				must(t, fsys.MkdirAll(path.Join(dir, id, "old"), 0o700))
				must(t, afero.WriteFile(fsys, path.Join(dir, id, "old", "f"), []byte("0123456789"), 0o600))
			}
			must(t, fsys.MkdirAll(path.Join(dir, "mine"), 0o700))
			for _, step := range []struct {
				keep backup.Retention
				left []string
			}{
				{backup.Retention{}, append(slices.Clone(ids), "mine")},
				{backup.Retention{Keep: 3}, append(slices.Clone(ids[:3]), "mine")},
				{backup.Retention{MaxBytes: 25}, []string{ids[1], ids[2], "mine"}},
				{backup.Retention{Keep: 1}, []string{ids[2], "mine"}},
			} {
				must(t, store.PruneConflicts(bg, step.keep, now))
				if got := namesIn(t, fsys, dir); !slices.Equal(got, step.left) {
					t.Errorf("%+v: %v are left, want %v", step.keep, got, step.left)
				}
			}
		})
	}
}

// TestPrunable checks that Prunable returns what Prune would remove, and that Find finds existing backups.
func TestPrunable(t *testing.T) {
	t.Parallel()
	for name, fsys := range backends(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := open(t, fsys)
			put(t, fsys, "a", "0", 0o644)
			var ids []string
			for i := range 3 {
				ids = append(ids, change(t, options(fsys), func(s *stage.Stage) error { return write(s, "a", fmt.Sprint("x", i)) }))
			}
			would, err := store.Prunable(bg, backup.Retention{Keep: 1}, time.Now())
			must(t, err)
			for _, id := range ids {
				must(t, store.Find(id)) // nothing is removed yet
			}
			gone, err := store.Prune(bg, backup.Retention{Keep: 1}, time.Now(), "")
			must(t, err)
			if !slices.Equal(would, gone) || len(gone) != 2 {
				t.Errorf("%v would be removed, %v were", would, gone)
			}
			for _, id := range append(gone, "../x", "20250213_120530_abc123def") {
				if err := store.Find(id); !errors.Is(err, backup.ErrNotFound) {
					t.Errorf("%s: %v", id, err)
				}
			}
		})
	}
}

func namesIn(t *testing.T, fsys afero.Fs, dir string) []string {
	t.Helper()
	entries, err := afero.ReadDir(fsys, dir)
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return names
}
