package commit_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/fstest"
)

var errKilled = errors.New("killed")

// trial is one run of a scenario on its own file system.
type trial struct {
	sc       scenario
	fsys     afero.Fs
	hooks    *hooks
	old, new map[string]string
	changes  []change.Change
	copies   bool            // whether files may become copies, with the same bytes in another inode
	told     map[string]bool // the bytes of the files for which a discarded transaction was kept
	// kept reduces a snapshot to the attributes that the file system keeps; nil reduces nothing.
	kept func(snapshot map[string]string) map[string]string
}

func newTrial(t *testing.T, fsys afero.Fs, sc scenario) *trial {
	t.Helper()
	plant(t, fsys, sc.tree...)
	tr := &trial{sc: sc, fsys: fsys, hooks: &hooks{}, old: snapshot(t, fsys, true), new: preview(t, fsys, sc.do)}
	tr.changes = staged(t, fsys, sc.do)
	return tr
}

// options returns options for a commit that goes through the hooks, one operation after the other.
func (tr *trial) options() commit.Options {
	o := options(withHooks(tr.fsys, tr.hooks))
	o.NoSync = false
	o.Workers = 1
	return o
}

// unlock removes a lock file, because its process seems to be alive: it is this one.
func (tr *trial) unlock() { _ = tr.fsys.RemoveAll(stateDir + "/lock") }

// settled recovers without hooks and reports whether the tree is new; it fails the test if the tree is neither old nor
// new, or if anything is left over.
func (tr *trial) settled(t *testing.T, what string) (isNew bool) {
	t.Helper()
	tr.unlock()
	r, err := commit.Recover(bg, options(tr.fsys))
	if err != nil {
		t.Fatalf("%s: recover: %v", what, err)
	}
	if names, _ := afero.ReadDir(tr.fsys, stateDir+"/tx"); len(names) > 0 {
		t.Fatalf("%s: left over: %v", what, names)
	}
	if ok, _ := afero.Exists(tr.fsys, stateDir+"/conflicts"); ok {
		t.Fatalf("%s: conflicts: %+v", what, r)
	}
	kept := tr.kept
	if kept == nil {
		kept = maps.Clone[map[string]string]
	}
	got := kept(snapshot(t, tr.fsys, !tr.copies))
	if maps.Equal(got, kept(tr.old)) {
		return false
	}
	if maps.Equal(kept(untimed(snapshot(t, tr.fsys, false))), kept(tr.new)) {
		return true
	}
	t.Fatalf("%s: neither old nor new (-old +got):\n%s(-new +got):\n%s", what, cmp.Diff(tr.old, got), cmp.Diff(tr.new, untimed(snapshot(t, tr.fsys, false))))
	return false
}

// eachMoment calls test for 1, 2, 3... until test reports that there were fewer operations. It runs only every step-th
// of them, different ones in each test, and all of them under torture.
func eachMoment(t *testing.T, step int, test func(n int) (more bool)) {
	t.Helper()
	step = fstest.Runs(step, step, 1)
	h := fnv.New32()
	h.Write([]byte(t.Name()))
	for n := 1 + int(h.Sum32()&0xffff)%step; ; n += step {
		if t.Failed() || !test(n) {
			return
		}
	}
}

func crashScenarios() []scenario {
	var list []scenario
	for _, sc := range scenarios() {
		switch sc.name {
		case "all", "swap", "directory to file", "file to directory", "links", "directory to link", "chmod", "cycle", "rename a tree",
			"rename and chmod", "file to link and back":
			list = append(list, sc)
		}
	}
	return list
}

func eachCrashCase(t *testing.T, test func(t *testing.T, sc scenario, make func() afero.Fs)) {
	for name, make := range backends() {
		for _, sc := range crashScenarios() {
			t.Run(name+"/"+sc.name, func(t *testing.T) {
				t.Parallel()
				if _, ok := make(t).(afero.Linker); sc.links && !ok {
					t.Skip("no symbolic links")
				}
				test(t, sc, func() afero.Fs { return make(t) })
			})
		}
	}
}

// killAt makes every operation from the n-th on fail, as if the process were gone. If the n-th operation is a write,
// half of it is done.
func killAt(at int) func(n int, op string, writes bool, name string) error {
	return func(n int, op string, writes bool, name string) error {
		switch {
		case n == at && op == "write":
			return errors.Join(errKilled, errTorn)
		case n >= at:
			return errKilled
		}
		return nil
	}
}

// TestKill stops a commit before each of its changing operations.
func TestKill(t *testing.T) {
	t.Parallel()
	eachCrashCase(t, func(t *testing.T, sc scenario, make func() afero.Fs) {
		var olds, news int
		eachMoment(t, 11, func(at int) bool {
			tr := newTrial(t, make(), sc)
			kill, killed, change := killAt(at), false, 0
			// Only changing operations are counted: between them the tree is the same.
			tr.hooks.before = func(_ int, op string, writes bool, name string) error {
				if writes {
					change++
				}
				err := kill(change, op, writes, name)
				killed = killed || err != nil
				return err
			}
			_, err := commit.Apply(bg, tr.options(), tr.changes)
			isNew := tr.settled(t, fmt.Sprintf("killed at %d", at))
			if isNew {
				news++
			} else {
				olds++
			}
			if err == nil && !isNew {
				t.Fatalf("killed at %d: committed, but the tree is old", at)
			}
			return killed
		})
		if olds == 0 || news == 0 {
			t.Errorf("%d times old, %d times new: not every phase was met", olds, news)
		}
	})
}

// TestKill_recovery also stops the recovery, and the recovery after that.
func TestKill_recovery(t *testing.T) {
	t.Parallel()
	eachCrashCase(t, func(t *testing.T, sc scenario, make func() afero.Fs) {
		eachMoment(t, 29, func(at int) bool {
			killed := false
			eachMoment(t, 31, func(seed int) bool {
				tr := newTrial(t, make(), sc)
				tr.hooks.before = killAt(at + 60)
				_, err := commit.Apply(bg, tr.options(), tr.changes)
				killed = err != nil
				died := false
				for round := range 3 {
					died = false
					tr.hooks.n = 0
					tr.unlock()
					kill := killAt(seed + round*13)
					tr.hooks.before = func(n int, op string, writes bool, name string) error {
						err := kill(n, op, writes, name)
						died = died || err != nil
						return err
					}
					_, _ = commit.Recover(bg, tr.options())
				}
				tr.settled(t, fmt.Sprintf("killed at %d, then from %d", at+60, seed))
				return died
			})
			return killed
		})
	})
}

// TestFault makes each operation fail once, a few times, or from then on, while the process lives.
func TestFault(t *testing.T) {
	t.Parallel()
	eachCrashCase(t, func(t *testing.T, sc scenario, make func() afero.Fs) {
		for times, errno := range map[int]error{1: syscall.EIO, 2: syscall.ENOSPC, 1 << 30: syscall.EIO, 5: syscall.EACCES} {
			eachMoment(t, 67, func(at int) bool {
				tr := newTrial(t, make(), sc)
				failed, first := 0, ""
				tr.hooks.before = func(n int, op string, writes bool, name string) error {
					if n < at || failed >= times {
						return nil
					}
					if failed++; failed == 1 {
						first = op + " " + name
					}
					return errno
				}
				rep, err := commit.Apply(bg, tr.options(), tr.changes)
				what := fmt.Sprintf("%v, %d times from operation %d (%s): %v", errno, times, at, first, err)
				if failed > 0 && err == nil && len(rep.Warnings) == 0 {
					t.Fatalf("%s: there is no error and no warning", what)
				}
				if err != nil && !errors.Is(err, errno) && !strings.Contains(err.Error(), "content") {
					t.Fatalf("%s: cause is lost", what)
				}
				if rep.RolledBack && !maps.Equal(snapshot(t, tr.fsys, true), tr.old) {
					t.Fatalf("%s: reported as rolled back: %s", what, cmp.Diff(tr.old, snapshot(t, tr.fsys, true)))
				}
				isNew := tr.settled(t, what)
				if isNew && err != nil && !errors.Is(err, commit.ErrIndeterminate) {
					t.Fatalf("%s: failed, but the tree is new", what)
				}
				if !isNew && err == nil {
					t.Fatalf("%s: committed, but the tree is old", what)
				}
				return failed > 0
			})
		}
	})
}
