package torture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/fstest"
)

// A writer is another program that saves the same file again and again, each time with a new number. Commits change
// another number in the file. So the file shows from which save it was made.

const contested = "contested"

func version(save, edit int) []byte { return fmt.Appendf(nil, "save %08d edit %08d\n", save, edit) }

// parseVersion returns the save that a file was made from, and false if it is not a whole version.
func parseVersion(data []byte) (int, bool) {
	var save, edit int
	n, err := fmt.Sscanf(string(data), "save %d edit %d\n", &save, &edit)
	return save, err == nil && n == 2 && string(version(save, edit)) == string(data)
}

func renumber(edit int) (millrace.Pipeline, error) {
	files := []string{contested, "before", "zafter"}
	return millrace.New("renumber").
		Step("edit", actions.Edit{Files: files, OldText: `edit \d{8}`, NewText: fmt.Sprintf("edit %08d", edit), Mode: "regex"}).
		Build()
}

// race is a writer against commits, in rounds: both stop from time to time for a check.
type race struct {
	dir   string
	rnd   *rand.Rand
	saves int // the number of the last save
	edits int
	seen  counters
}

func newRace(t *testing.T) *race {
	t.Helper()
	r := &race{dir: fstest.TempDir(t), rnd: rand.New(rand.NewPCG(4, 4))}
	for _, name := range []string{contested, "before", "zafter"} {
		if err := os.WriteFile(filepath.Join(r.dir, name), version(0, 0), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func (r *race) path(elem ...string) string {
	return filepath.Join(append([]string{r.dir}, elem...)...)
}

// run lets save race with commits for a while, and calls check while both are quiet.
func (r *race) run(t *testing.T, save func(path string, n int) error, check func() error) {
	t.Helper()
	fsys, err := open("root", r.dir)
	if err != nil {
		t.Fatal(err)
	}
	// A save through a file that was opened many commits before is in an old backup.
	x := millrace.Executor{State: millrace.State{NoSync: true, Backups: backup.Retention{Keep: -1}}}
	long := time.Duration(fstest.Runs(200, 2000, 60_000)) * time.Millisecond
	for begun := time.Now(); time.Since(begun) < long || !r.raced() && time.Since(begun) < 20*long; {
		burst, rest := 1+r.rnd.IntN(20), time.Duration(r.rnd.IntN(400)+1)
		gaps := rand.New(rand.NewPCG(5, uint64(r.saves)))
		written := make(chan error, 1)
		go func() {
			var err error
			for i := 1; i <= burst && err == nil; i++ {
				err = save(r.path(contested), r.saves+i)
				pause(time.Duration(gaps.Int64N(int64(rest))) * time.Microsecond)
			}
			written <- err
		}()
		for quiet := false; !quiet; {
			select {
			case err = <-written:
				quiet = true
			default:
			}
			if err == nil {
				r.edits++
				err = r.commit(x, fsys)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		r.saves += burst
		r.seen.add("rounds", 1)
		if err := check(); err != nil {
			t.Fatalf("after save %d: %v", r.saves, err)
		}
		if err := os.RemoveAll(r.path(stateDir)); err != nil {
			t.Fatal(err)
		}
	}
	r.seen.add("saves", r.saves)
	if !r.raced() {
		t.Errorf("there was no race: %v", r.seen.n)
	}
	fstest.Countf(t, "%v", r.seen.n)
}

// raced reports whether some commits have succeeded and others have not.
func (r *race) raced() bool { return r.seen.get("conflicts") > 0 && r.seen.get("commits") > 0 }

func (r *race) commit(x millrace.Executor, fsys afero.Fs) error {
	p, err := renumber(r.edits)
	if err != nil {
		return err
	}
	_, err = x.Run(context.Background(), fsys, p)
	if err == nil {
		r.seen.add("commits", 1)
		return nil
	}
	if _, ok := errors.AsType[*millrace.ConflictError](err); ok {
		r.seen.add("conflicts", 1)
		return nil
	}
	if e, ok := errors.AsType[*millrace.CommitError](err); ok && e.State != millrace.CommitPending {
		r.seen.add("conflicts in undoing", 1)
		return nil
	}
	if _, ok := errors.AsType[*millrace.StepError](err); ok {
		r.seen.add("steps failed", 1) // the file changed while it was read
		return nil
	}
	return err
}

// inState returns the saves in files below a directory of the state directory.
func (r *race) inState(sub string) (map[int]bool, error) {
	found := make(map[int]bool)
	err := filepath.WalkDir(r.path(stateDir, sub), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if n, ok := parseVersion(data); ok {
			found[n] = true
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return found, err
}

// checkLast checks that the last save is in the file, possibly with an edit, or in one of the directories below the
// state directory where it may have been put aside.
func (r *race) checkLast(aside ...string) error {
	data, err := os.ReadFile(r.path(contested))
	if err != nil {
		return err
	}
	if n, ok := parseVersion(data); ok && n == r.saves {
		return nil
	}
	for _, sub := range aside {
		found, err := r.inState(sub)
		if err != nil {
			return err
		}
		if found[r.saves] {
			r.seen.add("put aside in "+sub, 1)
			return nil
		}
	}
	return fmt.Errorf("lost: the file is %q", data)
}

// TestWriter_rename races with a program that saves by writing another file and renaming it. When both are quiet its
// last save is in the tree, or, after a reported conflict, where conflicts are kept.
func TestWriter_rename(t *testing.T) {
	t.Parallel()
	r := newRace(t)
	beside := fstest.TempDir(t)
	r.run(t, func(path string, n int) error {
		temp := filepath.Join(beside, "temp")
		if err := os.WriteFile(temp, version(n, 0), 0o644); err != nil {
			return err
		}
		return os.Rename(temp, path)
	}, func() error { return r.checkLast("conflicts") })
}

// TestWriter_inPlace races with a program that writes into the file. It may have it open since before a commit, and
// then writes to the before-image, which is the backup.
func TestWriter_inPlace(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string]int{"overwrite": 0, "truncate": os.O_TRUNC} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRace(t)
			r.run(t, func(path string, n int) error {
				f, err := os.OpenFile(path, os.O_WRONLY|flags, 0)
				if err != nil {
					return err
				}
				switch {
				case n%48 == 0:
					time.Sleep(60 * time.Millisecond) // for more commits than the default number of backups
				case n%4 == 0:
					pause(50 * time.Microsecond)
				}
				_, err = f.Write(version(n, 0))
				return errors.Join(err, f.Close())
			}, func() error { return r.checkLast("conflicts", "backups") })
		})
	}
}

// TestWriter_control checks commits as others make them, by reading, writing and renaming: they must lose saves, or the
// tests above could not detect a loss either.
func TestWriter_control(t *testing.T) {
	t.Parallel()
	r := newRace(t)
	beside := fstest.TempDir(t)
	lost := 0
	save := func(name, path string, data []byte) error {
		if err := os.WriteFile(filepath.Join(beside, name), data, 0o644); err != nil {
			return err
		}
		return os.Rename(filepath.Join(beside, name), path)
	}
	rounds := 0
	for enough := fstest.Runs(200, 500, 5000); rounds < enough || lost == 0 && rounds < 100*enough; rounds++ {
		done := make(chan error, 1)
		wait := time.Duration(r.rnd.IntN(100)) * time.Microsecond
		go func() {
			pause(wait)
			done <- save("foreign", r.path(contested), version(r.saves+1, 0))
		}()
		data, err := os.ReadFile(r.path(contested))
		if err == nil {
			err = save("own", r.path(contested), []byte(strings.Replace(string(data), "edit", "EDIT", 1)))
		}
		if err := errors.Join(err, <-done); err != nil {
			t.Fatal(err)
		}
		r.saves++
		if r.checkLast() != nil {
			lost++
		}
		if err := os.WriteFile(r.path(contested), version(r.saves, 0), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if lost == 0 {
		t.Errorf("no save was lost in %d rounds", rounds)
	}
	fstest.Countf(t, "%d of %d saves lost", lost, rounds)
}
