package commit_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
)

const foreignText = "written by somebody else"

// foreignWrite saves a file as another program: in place, or as a new file that is renamed, as most editors do. It
// reports whether that was possible.
func foreignWrite(fsys afero.Fs, name string, inPlace bool) bool {
	if info, _, err := lstat(fsys, name); err == nil && !info.Mode().IsRegular() {
		return false
	}
	if _, err := fsys.Stat(path.Dir(name)); err != nil {
		return false // a MemMapFs would make the directory
	}
	if inPlace {
		return afero.WriteFile(fsys, name, []byte(foreignText), 0o644) == nil
	}
	if afero.WriteFile(fsys, name+"~", []byte(foreignText), 0o644) != nil {
		return false
	}
	if fsys.Rename(name+"~", name) != nil {
		_ = fsys.Remove(name + "~")
		return false
	}
	return true
}

// holds reports whether the foreign text is in the tree or where conflicts are kept. A backup does not count.
func holds(t *testing.T, fsys afero.Fs) bool {
	t.Helper()
	found := false
	err := afero.Walk(fsys, ".", func(p string, info fsInfo, err error) error {
		if err != nil || found || !info.Mode().IsRegular() {
			return err
		}
		if inState := strings.HasPrefix(p, stateDir+"/"); inState && !strings.HasPrefix(p, stateDir+"/conflicts/") {
			return nil
		}
		data, err := afero.ReadFile(fsys, p)
		found = string(data) == foreignText
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestForeignWriter has another program write to a path before each operation. Its bytes must be found afterwards,
// everything else must be old or new, and the result must report it if it is neither.
func TestForeignWriter(t *testing.T) {
	t.Parallel()
	runs, told := 0, 0
	for _, backend := range []string{"root", "memory"} {
		for _, sc := range crashScenarios() {
			if sc.links && backend == "memory" {
				continue
			}
			rnd := rand.New(rand.NewPCG(1, uint64(len(sc.name))))
			eachMoment(t, fstest.Slowed(25, fstest.ByItself(15, 5)), func(at int) bool {
				// The process lives; it is killed soon afterwards; or an operation has failed shortly before, so that it is
				// undoing.
				for _, fate := range []string{"live", "kill", "fail"} {
					fsys := backends()[backend](t)
					tr := newTrial(t, fsys, sc)
					names := slices.Sorted(maps.Keys(tr.old))
					for n := range tr.new {
						names = append(names, n, n+"/foreign")
					}
					slices.Sort(names)
					name, inPlace := names[rnd.IntN(len(names))], rnd.IntN(2) == 0
					killAfter, failAt := at+1+rnd.IntN(40), at-1-rnd.IntN(60)
					reached, wrote := false, false
					tr.hooks.before = func(n int, op string, writes bool, _ string) error {
						if n == at {
							reached, wrote = true, foreignWrite(fsys, name, inPlace)
						}
						if fate == "kill" && n >= killAfter || fate == "fail" && n == failAt {
							return errKilled
						}
						return nil
					}
					rep, err := commit.Apply(bg, tr.options(), tr.changes)
					what := fmt.Sprintf("%s/%s: %s at %d (in place %v, %s): %v", backend, sc.name, name, at, inPlace, fate, err)
					tr.unlock()
					rec, rerr := commit.Recover(bg, options(fsys))
					if _, conflict := errors.AsType[*commit.RollbackConflict](rerr); rerr != nil && !conflict {
						t.Fatalf("%s: recover: %v", what, rerr)
					}
					if !reached {
						return fate == "fail"
					}
					if runs++; wrote && !holds(t, fsys) {
						t.Fatalf("%s: lost; report %+v; recovery %+v", what, rep, rec)
					}
					if err != nil || rerr != nil {
						told++
					}
					checkRest(t, tr, what, wrote, name, err != nil || rerr != nil)
				}
				return true
			})
		}
	}
	if told == 0 || told == runs {
		t.Errorf("%d of %d runs met a conflict", told, runs)
	}
	fstest.Countf(t, "%d runs, %d with conflicts", runs, told)
}

// checkRest compares all paths that the other program has not touched: they are all old or all new, except that a
// directory in which it has written may remain.
func checkRest(t *testing.T, tr *trial, what string, wrote bool, name string, told bool) {
	t.Helper()
	got := untimed(snapshot(t, tr.fsys, false))
	// Through a link that the commit made, the bytes may have reached another name.
	spots := []string{name}
	for p, d := range got {
		if strings.Contains(d, foreignText) {
			spots = append(spots, p)
		}
	}
	isForeign := func(p string) bool {
		return wrote && slices.ContainsFunc(spots, func(s string) bool { return names.Within(p, s) || names.Within(s, p) })
	}
	differs := func(want map[string]string) []string {
		var bad []string
		for _, m := range []map[string]string{got, want} {
			for p := range m {
				if got[p] != want[p] && !isForeign(p) {
					bad = append(bad, p)
				}
			}
		}
		return bad
	}
	old := make(map[string]string)
	for p, d := range tr.old {
		old[p] = d
		if id := strings.LastIndex(d, " #"); id > 0 {
			old[p] = d[:id]
		}
	}
	fromOld, fromNew := differs(untimed(old)), differs(tr.new)
	if len(fromOld) > 0 && len(fromNew) > 0 && !told {
		t.Fatalf("%s: neither old (%v) nor new (%v), without an error or a warning", what, fromOld, fromNew)
	}
	if len(fromOld) > 0 && len(fromNew) > 0 {
		t.Logf("%s: neither old (%v) nor new (%v)", what, fromOld, fromNew)
		t.Fail()
	}
}
