package commit_test

import (
	"errors"
	"path"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/stage"
)

// smalls are all kinds of entries at a path in a small tree.
var smalls = [...]string{"nothing", "file", "other file", "link", "empty directory", "directory with a file", "directory with a link", "directory in a directory"}

// makeSmall makes the named kind of entry at a free path.
func makeSmall(fsys afero.Fs, name, what string) error {
	inside := path.Join(name, "in")
	file := func(name, text string) error { return afero.WriteFile(fsys, name, []byte(text), 0o644) }
	link := func(name string) error { return fsys.(afero.Linker).SymlinkIfPossible("to", name) }
	switch what {
	case "file", "other file":
		return file(name, what)
	case "link":
		return link(name)
	case "empty directory":
		return fsys.Mkdir(name, 0o755)
	case "directory with a file":
		return errors.Join(fsys.Mkdir(name, 0o755), file(inside, "inside"))
	case "directory with a link":
		return errors.Join(fsys.Mkdir(name, 0o755), link(inside))
	case "directory in a directory":
		return errors.Join(fsys.Mkdir(name, 0o755), fsys.Mkdir(inside, 0o700))
	}
	return nil
}

// smallStory returns the story with a number, in which two paths become something else.
func smallStory(t *testing.T, number int) *story {
	t.Helper()
	s := &story{number: uint64(number), disk: crashfs.New(), options: commit.Options{
		StateDir: stateDir, Key: testKey, Workers: 1, ID: "20250213_120530_abc123def4567890", DropBackup: true,
	}}
	names := [...]string{"a", "b"}
	var edits []func(*stage.Stage) error
	for _, name := range names {
		old, now := smalls[number%len(smalls)], smalls[number/len(smalls)%len(smalls)]
		number /= len(smalls) * len(smalls)
		if err := makeSmall(s.disk, name, old); err != nil {
			t.Fatal(err)
		}
		if old != now {
			edits = append(edits, remove(name), func(s *stage.Stage) error { return makeSmall(s, name, now) })
		}
	}
	s.disk.Settle()
	s.old = s.disk.Listing(stateDir)
	s.changes = staged(t, s.disk.Kill(), steps(edits...))
	return s
}

// TestCrash_small crashes changes of two paths from each kind to each other.
func TestCrash_small(t *testing.T) {
	t.Parallel()
	const all = len(smalls) * len(smalls) * len(smalls) * len(smalls)
	var count tally
	some := fstest.Runs(16, 64, all)
	t.Cleanup(func() {
		fstest.Countf(t, "%d of %d changes, %d crashes, and %d more in recovery", some, all, count.runs.Load(), count.nested.Load())
	})
	eachStory(t, stories(some), func(t *testing.T, number uint64) {
		// They are spread evenly over all combinations, and not in step with the number of kinds.
		s := smallStory(t, int(number)*(all/min(some, all)|1)%all)
		if len(s.changes) == 0 {
			return
		}
		if err := s.sweep(&count); err != nil {
			t.Error(err)
		}
	})
}
