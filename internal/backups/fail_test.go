package backups_test

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/backups"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/raise"
	"github.com/millrace-go/millrace/internal/stage"
)

var errDisk = errors.New("disk is broken")

// failing is a file system in which one operation fails, after left successful ones. It counts checks, listings, reads,
// opens and removals.
type failing struct {
	left   int
	failed string // the operation that failed, "" if none yet
}

func (f *failing) over(fsys afero.Fs) afero.Fs {
	return errorfs.Wrap(fsys, func(op *errorfs.Op, do func() error) error {
		switch op.Kind {
		case "open", "remove", "lstat", "read", "readdir":
			if f.left--; f.left == -1 {
				f.failed = op.Kind + " " + path.Base(op.Name)
				return op.Error(errDisk)
			}
		}
		err := do()
		slices.Reverse(op.Names) // any order is permitted; this one removes the plan last
		return err
	})
}

func memory(t *testing.T) afero.Fs {
	t.Helper()
	mem, err := raise.FS(afero.NewMemMapFs())
	must(t, err)
	return mem
}

// edits makes n backups of one file, with the final content "edit n", and returns their ids.
func edits(t *testing.T, fsys afero.Fs, n int) []string {
	t.Helper()
	put(t, fsys, "a", "edit 0", 0o644)
	var ids []string
	for i := range n {
		ids = append(ids, change(t, options(fsys), func(s *stage.Stage) error { return write(s, "a", fmt.Sprintf("edit %d", i+1)) }))
	}
	return ids
}

// TestReading_fails breaks each operation of every method that reads, one at a time. No method may mistake a failing
// disk for a missing or damaged backup.
func TestReading_fails(t *testing.T) {
	t.Parallel()
	mem := memory(t)
	id := edits(t, mem, 1)[0]
	load := func(s *backups.Store) (*backups.Backup, error) { return s.Load(id) }
	total := 0
	for name, do := range map[string]func(s *backups.Store) error{
		"list": func(s *backups.Store) error {
			list, err := s.List(bg)
			if err == nil && len(list) != 1 {
				t.Errorf("list %+v", list)
			}
			if err == nil {
				err = list[0].Err
			}
			return err
		},
		"load": func(s *backups.Store) error { _, err := load(s); return err },
		"verify": func(s *backups.Store) error {
			b, err := load(s)
			if err == nil {
				err = b.Verify(bg)
			}
			return err
		},
		"changes": func(s *backups.Store) error {
			b, err := load(s)
			if err != nil {
				return err
			}
			changes, err := b.Changes(bg, nil)
			if err != nil && changes != nil {
				t.Errorf("%v and changes %v", err, changes)
			}
			return err
		},
		"remove": func(s *backups.Store) error { return s.Remove("20200101_000000_0123456789abcdef") },
	} {
		for k := 0; ; k++ {
			f := &failing{left: k}
			err := do(open(t, f.over(mem)))
			if f.failed == "" {
				if err != nil && name != "remove" {
					t.Errorf("%s: nothing failed, and there is error %v", name, err)
				}
				break
			}
			total++
			if !errors.Is(err, errDisk) || errors.Is(err, backup.ErrNotFound) {
				t.Errorf("%s: %s failed, and the error is %v", name, f.failed, err)
			}
			if _, ok := errors.AsType[*backups.DamagedError](err); ok {
				t.Errorf("%s: %s failed, and the backup is reported as damaged", name, f.failed)
			}
		}
	}
	t.Logf("%d operations failed", total)
	if total < 20 {
		t.Error("too few: some operations were not tried")
	}
}

// TestPrune_fails breaks each operation of pruning and removing, one at a time. A remaining backup must be complete or
// not listed at all, the newest must stay, and the backups reported as removed must be gone. A second attempt must
// finish.
func TestPrune_fails(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(s *backups.Store, ids []string) ([]string, error){
		"by number": func(s *backups.Store, _ []string) ([]string, error) {
			return s.Prune(bg, backup.Retention{Keep: 1}, time.Now(), "")
		},
		"by age": func(s *backups.Store, _ []string) ([]string, error) {
			return s.Prune(bg, backup.Retention{MaxAge: time.Minute}, time.Now().Add(time.Hour), "")
		},
		"by bytes": func(s *backups.Store, _ []string) ([]string, error) {
			return s.Prune(bg, backup.Retention{MaxBytes: 6}, time.Now(), "")
		},
		"remove": func(s *backups.Store, ids []string) ([]string, error) { return nil, s.Remove(ids[0]) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for k := 0; ; k++ {
				mem := memory(t)
				ids := edits(t, mem, 3)
				// A half removed backup, to be cleaned up.
				must(t, mem.Remove(path.Join(stateDir, "backups", ids[1], "done")))
				f := &failing{left: k}
				gone, err := do(open(t, f.over(mem)), ids)
				if f.failed == "" {
					must(t, err)
					t.Logf("%d operations failed", k)
					break
				}
				// The age of an unreadable plan is unknown, so its backup is left alone, without an error.
				if err == nil && !strings.HasSuffix(f.failed, " done") && !strings.HasPrefix(f.failed, "lstat ") || err != nil && !errors.Is(err, errDisk) {
					t.Errorf("%s failed: %v", f.failed, err)
				}
				list, err := open(t, mem).List(bg)
				must(t, err)
				if len(list) == 0 || list[0].ID != ids[2] {
					t.Fatalf("%s failed: left are %+v", f.failed, list)
				}
				for _, info := range list {
					b, err := open(t, mem).Load(info.ID)
					must(t, err, b.Verify(bg))
				}
				for _, id := range gone {
					if ok, _ := afero.Exists(mem, path.Join(stateDir, "backups", id)); ok || id == ids[2] {
						t.Errorf("%s failed: %s is reported as removed", f.failed, id)
					}
				}
				_, err = open(t, mem).Prune(bg, backup.Retention{Keep: 1}, time.Now(), "")
				must(t, err)
				names, err := afero.ReadDir(mem, path.Join(stateDir, "backups"))
				must(t, err)
				if len(names) != 1 || names[0].Name() != ids[2] {
					t.Errorf("%s failed: %d are left after a second attempt", f.failed, len(names))
				}
				_, err = restore(t, mem, ids[2])
				must(t, err)
				if data, _ := afero.ReadFile(mem, "a"); string(data) != "edit 2" {
					t.Errorf("%s failed: restored %q", f.failed, data)
				}
			}
		})
	}
}
