package commit_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/journal"
)

// TestCrash_withoutPlan kills the recovery right after it removed the plan, before that is durable. The next recovery
// finds a transaction without a plan and removes it. A program saves a file, and the power fails: the plan must not
// come back, because it would be undone once more, over the saved file.
func TestCrash_withoutPlan(t *testing.T) {
	t.Parallel()
	tried := 0
	for number := range uint64(fstest.Runs(12, 60, 600)) {
		s := newStory(t, number+1)
		moments, _, err := s.moments()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range moments {
			disk := withoutPlan(s, m.disk)
			if disk == nil {
				continue
			}
			if _, err := commit.Recover(bg, s.on(disk)); err != nil {
				t.Fatalf("story %d, %+v: %v", s.number, m.op, err)
			}
			name := saveAny(t, disk, s.changes)
			if name == "" {
				continue
			}
			later := disk.PowerCut(rand.New(rand.NewPCG(s.number, 1)), 1)
			tried++
			if _, err := commit.Recover(bg, s.on(later)); err != nil {
				t.Fatalf("story %d, %+v: after the power cut: %v", s.number, m.op, err)
			}
			if data, err := afero.ReadFile(later, name); err != nil || string(data) != foreignText {
				t.Fatalf("story %d, %+v: what was saved as %s is %q, %v", s.number, m.op, name, data, err)
			}
		}
	}
	fstest.Countf(t, "%d recoveries killed after they took the plan away", tried)
	if tried == 0 {
		t.Error("nothing was tried")
	}
}

// withoutPlan recovers a disk and returns it as of right after the plan was removed, nil if that does not happen.
func withoutPlan(s *story, disk *crashfs.Fs) *crashfs.Fs {
	var left *crashfs.Fs
	taken := false
	disk.Before(func(op crashfs.Op) error {
		if taken && left == nil {
			left = disk.Kill()
		}
		if left != nil {
			return errKilled
		}
		taken = op.Writes && strings.HasPrefix(op.Name, "re") && path.Base(op.Path) == journal.PlanFile
		return nil
	})
	_, _ = commit.Recover(bg, s.on(disk))
	return left
}

// saveAny durably saves a changed file and returns its name, "" if none exists.
func saveAny(t *testing.T, disk *crashfs.Fs, changes []change.Change) string {
	t.Helper()
	for _, c := range changes {
		info, _, err := lstat(disk, c.Path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		f, err := disk.OpenFile(c.Path, os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			continue
		}
		_, err = f.WriteString(foreignText)
		if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
			t.Fatal(err)
		}
		return c.Path
	}
	return ""
}
