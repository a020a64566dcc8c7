package backups_test

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/stage"
)

func TestPrune(t *testing.T) {
	t.Parallel()
	for name, fsys := range backends(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := open(t, fsys)
			if list, err := store.List(bg); err != nil || len(list) != 0 {
				t.Fatalf("%v, %v", list, err)
			}
			put(t, fsys, "a", strings.Repeat("x", 100), 0o644)
			var ids []string
			for i := range 6 {
				ids = append(ids, change(t, options(fsys), func(s *stage.Stage) error {
					return write(s, "a", strings.Repeat("y", 100+i))
				}))
			}
			left := func() int {
				list, err := store.List(bg)
				must(t, err)
				return len(list)
			}
			for _, step := range []struct {
				keep backup.Retention
				now  time.Time
				left int
			}{
				{backup.Retention{}, time.Now(), 6},
				{backup.Retention{Keep: -1}, time.Now(), 6},
				{backup.Retention{MaxBytes: 4*104 - 6}, time.Now(), 4},
				{backup.Retention{Keep: 2}, time.Now(), 2},
				{backup.Retention{MaxAge: time.Hour}, time.Now().Add(2 * time.Hour), 1},
				{backup.Retention{MaxBytes: 1}, time.Now(), 1},
			} {
				before := left()
				gone, err := store.Prune(bg, step.keep, step.now, "")
				must(t, err)
				if left() != step.left || len(gone) != before-step.left {
					t.Errorf("%+v: %d are left, want %d; gone %v", step.keep, left(), step.left, gone)
				}
			}
			// Half removed backups are cleaned up.
			list, err := store.List(bg)
			must(t, err)
			must(t, fsys.Remove(path.Join(stateDir, "backups", list[0].ID, "done")))
			_, err = store.Prune(bg, backup.Retention{}, time.Now(), "")
			must(t, err)
			if ok, _ := afero.Exists(fsys, path.Join(stateDir, "backups", list[0].ID)); ok || !slices.Contains(ids, list[0].ID) {
				t.Error("half a backup is left")
			}
			if err := store.Remove(ids[0]); !errors.Is(err, backup.ErrNotFound) {
				t.Error(err)
			}
		})
	}
}

// TestPrune_reads: plans are read only if a limit makes a difference, and the records only for the number of bytes.
func TestPrune_reads(t *testing.T) {
	t.Parallel()
	for name, fsys := range backends(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			put(t, fsys, "a", "x", 0o644)
			var ids []string
			for i := range 4 {
				ids = append(ids, change(t, options(fsys), func(s *stage.Stage) error {
					return write(s, "a", strings.Repeat("y", i+2))
				}))
			}
			// A damaged plan is counted last, so it is not the second to be kept.
			plan := path.Join(stateDir, "backups", ids[3], "done")
			data, err := afero.ReadFile(fsys, plan)
			must(t, err)
			data[len(data)/2] ^= 1
			must(t, afero.WriteFile(fsys, plan, data, 0o600))
			for _, keep := range []backup.Retention{{}, {Keep: 4}, {Keep: -1}} {
				if gone, err := open(t, fsys).Prune(bg, keep, time.Now(), ""); err != nil || gone != nil {
					t.Errorf("%+v: %v, %v", keep, gone, err)
				}
			}
			gone, err := open(t, fsys).Prune(bg, backup.Retention{Keep: 2}, time.Now(), ids[1])
			if want := []string{ids[0], ids[3]}; err != nil || !slices.Equal(gone, want) {
				t.Errorf("gone %v, %v; want %v", gone, err, want)
			}
			gone, err = open(t, fsys).Prune(bg, backup.Retention{MaxBytes: 3}, time.Now(), ids[1])
			if err != nil || !slices.Equal(gone, ids[2:3]) {
				t.Errorf("gone %v, %v; want %v", gone, err, ids[2:3])
			}
		})
	}
}

// TestPrune_canceled: pruning stops when its context is done, even while it reads plans, and removes nothing based on
// an incomplete list.
func TestPrune_canceled(t *testing.T) {
	t.Parallel()
	mem := memory(t)
	edits(t, mem, 4)
	keep := backup.Retention{Keep: 1}
	for after := range 4 {
		ctx, cancel := context.WithCancelCause(bg)
		stopped, opened := errors.New("stopped"), 0
		store := open(t, errorfs.Wrap(mem, func(op *errorfs.Op, do func() error) error {
			if op.Kind == "open" && path.Base(op.Name) == "done" {
				if opened++; opened == after {
					cancel(stopped)
				}
			}
			return do()
		}))
		if after == 0 {
			cancel(stopped)
		}
		if gone, err := store.Prunable(ctx, keep, time.Now()); gone != nil || !errors.Is(err, stopped) || opened != after {
			t.Errorf("after %d plans: Prunable: %v, %v; %d were opened", after, gone, err, opened)
		}
		gone, err := store.Prune(ctx, keep, time.Now(), "")
		if gone != nil || !errors.Is(err, stopped) {
			t.Errorf("after %d plans: Prune: %v, %v", after, gone, err)
		}
		if list, err := store.List(bg); err != nil || len(list) != 4 {
			t.Errorf("after %d plans: %d are left, %v", after, len(list), err)
		}
	}
	canceled, cancel := context.WithCancel(bg)
	cancel()
	put(t, mem, path.Join(stateDir, "results", "a.json"), "{}", 0o600)
	put(t, mem, path.Join(stateDir, "results", "b.json"), "{}", 0o600)
	if err := open(t, mem).PruneRuns(canceled, keep, time.Now(), "none"); !errors.Is(err, context.Canceled) {
		t.Errorf("PruneRuns: %v", err)
	}
	if names := namesIn(t, mem, path.Join(stateDir, "results")); len(names) != 2 {
		t.Errorf("PruneRuns has left %v", names)
	}
}
