package commit_test

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/journal"
)

// interrupted leaves a transaction that was killed in the phase, and returns the trial and the directory of the
// transaction.
func interrupted(t *testing.T, fsys afero.Fs, phase string) (*trial, string) {
	t.Helper()
	sc := scenario{tree: []string{"a=1", "b=2", "d/e=3"}, do: steps(write("a", "A"), remove("b"), write("n", "N"), rename("d/e", "d/f"))}
	tr := newTrial(t, fsys, sc)
	dead, ops := false, 0
	most := 2
	if phase == "stage" {
		most = 12 // before that, the directory of the transaction does not exist
	}
	tr.hooks.before = func(_ int, op string, writes bool, _ string) error {
		// Not at once, so that the phase has done something.
		if dead && writes {
			ops++
		}
		if ops > most {
			return errKilled
		}
		return nil
	}
	o := tr.options()
	o.RunID, o.Result = "run", []byte("{}")
	o.Observe = func(p string) { dead = dead || p == phase }
	_, _ = commit.Apply(bg, o, tr.changes)
	tr.unlock()
	names, err := afero.ReadDir(fsys, stateDir+"/tx")
	if err != nil || len(names) != 1 {
		t.Fatalf("left over: %v, %v", names, err)
	}
	return tr, stateDir + "/tx/" + names[0].Name()
}

// everything is a snapshot with the state directory.
func everything(t *testing.T, fsys afero.Fs) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := afero.Walk(fsys, ".", func(p string, info fs.FileInfo, err error) error {
		if err == nil && p != "." {
			all[p] = describe(t, fsys, p, true)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRecover_table covers all states in which a transaction can be found, and checks that Inspect sees them and
// changes nothing.
func TestRecover_table(t *testing.T) {
	t.Parallel()
	edit := func(name string, change func(data []byte) []byte) func(*testing.T, afero.Fs, string) {
		return func(t *testing.T, fsys afero.Fs, dir string) {
			t.Helper()
			data, err := afero.ReadFile(fsys, path.Join(dir, name))
			if err == nil {
				err = afero.WriteFile(fsys, path.Join(dir, name), change(data), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	resign := func(change func(p *journal.Plan)) func(*testing.T, afero.Fs, string) {
		return edit("plan", func(data []byte) []byte {
			p, err := journal.Decode(data, testKey)
			if err != nil {
				panic(err)
			}
			change(p)
			data, err = journal.Encode(p, testKey)
			if err != nil {
				panic(err)
			}
			return data
		})
	}
	reason := func(r journal.Reason) error { return &journal.Error{Reason: r} }
	none := func(*testing.T, afero.Fs, string) {}
	tests := []struct {
		name, phase string
		harm        func(t *testing.T, fsys afero.Fs, dir string)
		status      backup.LeftoverStatus
		isNew       bool
		err         error // of a suspicious transaction
	}{
		{"staging", "stage", none, backup.LeftoverUntouched, false, nil},
		{"backing up", "backup", none, backup.LeftoverUntouched, false, nil},
		{"plan being written", "journal", none, backup.LeftoverUntouched, false, nil},
		{"applying", "apply", none, backup.LeftoverInterrupted, false, nil},
		{"syncing", "sync", none, backup.LeftoverInterrupted, false, nil},
		{"cleaning", "clean", none, backup.LeftoverCommitted, true, nil},
		{"empty directory", "apply", func(t *testing.T, fsys afero.Fs, dir string) {
			t.Helper()
			if err := errors.Join(fsys.RemoveAll(dir), fsys.Mkdir(dir, 0o700)); err != nil {
				t.Fatal(err)
			}
		}, backup.LeftoverUntouched, true, nil},
		{"bit flipped", "apply", edit("plan", func(d []byte) []byte { d[len(d)/2] ^= 4; return d }), backup.LeftoverSuspicious, false, reason(journal.BadChecksum)},
		{"truncated", "apply", edit("plan", func(d []byte) []byte { return d[:len(d)/2] }), backup.LeftoverSuspicious, false, reason(journal.BadChecksum)},
		{"newer", "apply", edit("plan", func(d []byte) []byte { return []byte(strings.Replace(string(d), "plan 1", "plan 9", 1)) }), backup.LeftoverSuspicious, false, reason(journal.BadVersion)},
		{"other key", "apply", edit("plan", func(d []byte) []byte {
			p, _ := journal.Decode(d, testKey)
			d, _ = journal.Encode(p, []byte("key of somebody else"))
			return d
		}), backup.LeftoverSuspicious, false, reason(journal.BadKey)},
		{"not signed", "apply", edit("plan", func(d []byte) []byte {
			p, _ := journal.Decode(d, testKey)
			d, _ = journal.Encode(p, nil)
			return d
		}), backup.LeftoverSuspicious, false, reason(journal.BadKey)},
		{"other directory", "apply", resign(func(p *journal.Plan) { p.Ino++ }), backup.LeftoverSuspicious, false, reason(journal.BadIdentity)},
		{"other id", "apply", resign(func(p *journal.Plan) { p.ID = "20200101_000000_0123456789abcdef" }), backup.LeftoverSuspicious, false, reason(journal.BadIdentity)},
		{"plan and done", "apply", func(t *testing.T, fsys afero.Fs, dir string) {
			t.Helper()
			data, err := afero.ReadFile(fsys, dir+"/plan")
			if err == nil {
				err = afero.WriteFile(fsys, dir+"/done", data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, backup.LeftoverSuspicious, false, nil},
		{"damaged done", "clean", edit("done", func(d []byte) []byte { d[20] ^= 4; return d }), backup.LeftoverSuspicious, true, reason(journal.BadChecksum)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fsys := rootFs(t)
			tr, dir := interrupted(t, fsys, tt.phase)
			tt.harm(t, fsys, dir)
			before := everything(t, fsys)

			seen, err := commit.Inspect(bg, options(fsys))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, everything(t, fsys)); diff != "" {
				t.Fatalf("Inspect has changed something:\n%s", diff)
			}
			r, err := commit.Recover(bg, options(fsys))
			for _, rec := range []commit.Recovery{seen, r} {
				if len(rec.Leftovers) != 1 || rec.Leftovers[0].Status != tt.status || rec.Leftovers[0].Directory != dir {
					t.Fatalf("leftovers %+v", rec.Leftovers)
				}
			}
			if tt.status == backup.LeftoverSuspicious {
				if !errors.Is(err, commit.ErrRecoveryRequired) || tt.err != nil && !errors.Is(err, tt.err) || !strings.Contains(err.Error(), dir) {
					t.Errorf("error is %v", err)
				}
				if diff := cmp.Diff(before, everything(t, fsys)); diff != "" {
					t.Errorf("something was touched:\n%s", diff)
				}
				_, err = commit.Apply(bg, options(fsys), staged(t, fsys, write("other", "x")))
				if !errors.Is(err, commit.ErrRecoveryRequired) {
					t.Errorf("another commit: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if tt.name == "empty directory" {
				return // the tree was half written, which recovery cannot detect
			}
			if got := tr.settled(t, tt.name); got != tt.isNew {
				t.Errorf("tree is new: %v, want %v", got, tt.isNew)
			}
			if ok, _ := afero.Exists(fsys, stateDir+"/results/run.json"); ok != tt.isNew {
				t.Errorf("result is there: %v, want %v", ok, tt.isNew)
			}
			if ok, _ := afero.Exists(fsys, stateDir); ok != tt.isNew {
				t.Errorf("state directory is there: %v", ok)
			}
		})
	}
}

// TestRecover_nothing must not make anything.
func TestRecover_nothing(t *testing.T) {
	t.Parallel()
	for name, make := range backends() {
		fsys := make(t)
		r, err := commit.Recover(bg, options(fsys))
		if err != nil || len(r.Leftovers) != 0 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if ok, _ := afero.Exists(fsys, stateDir); ok {
			t.Errorf("%s: state directory was made", name)
		}
	}
}

func copyTree(t *testing.T, from, to afero.Fs, dir string) {
	t.Helper()
	err := afero.Walk(from, dir, func(p string, info fs.FileInfo, err error) error {
		switch {
		case err != nil:
			return err
		case info.IsDir():
			return to.MkdirAll(p, 0o755)
		}
		data, err := afero.ReadFile(from, p)
		if err != nil {
			return err
		}
		return afero.WriteFile(to, p, data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRecover_damagedImage loses one before-image: that path is reported, and the others are restored.
func TestRecover_damagedImage(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	plant(t, fsys, "a=1", "b=2", "c=3")
	tr := &trial{fsys: fsys, hooks: &hooks{}, changes: staged(t, fsys, steps(write("a", "A"), write("b", "B"), write("c", "C")))}
	o := tr.options()
	o.Observe = func(p string) {
		if p == "sync" {
			tr.hooks.before = func(int, string, bool, string) error { return errKilled }
		}
	}
	_, _ = commit.Apply(bg, o, tr.changes)
	names, err := afero.ReadDir(fsys, stateDir+"/tx")
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	dir := stateDir + "/tx/" + names[0].Name()
	// The file itself is also in the slot with which it was exchanged.
	image := dir + "/old/" + journal.Slot(1)
	err = errors.Join(fsys.Remove(image), afero.WriteFile(fsys, image, []byte("rotten"), 0o644), fsys.Remove(dir+"/new/"+journal.Slot(1)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = commit.Recover(bg, options(fsys))
	c, ok := errors.AsType[*commit.RollbackConflict](err)
	if !ok || len(c.Paths) == 0 || c.Paths[0].Path != "b" || !strings.Contains(err.Error(), "damaged") {
		t.Fatalf("error is %v", err)
	}
	for name, want := range map[string]string{"a": "a1", "c": "c3"} {
		if data, _ := afero.ReadFile(fsys, name); string(data) != want {
			t.Errorf("%s is %q", name, data)
		}
	}
	if ok, _ := afero.Exists(fsys, c.Dir+"/plan"); !ok {
		t.Errorf("nothing is kept in %s", c.Dir)
	}
	if r, err := commit.Recover(bg, options(fsys)); err != nil || len(r.Leftovers) > 0 {
		t.Errorf("again: %+v, %v", r, err)
	}
}

// uncounted removes from want the link counts that differ because the directory for conflicts adds links.
func uncounted(got, want map[string]string) map[string]string {
	for p, d := range got {
		have, _, _ := strings.Cut(d, "/")
		if strings.HasPrefix(want[p], have+"/") {
			got[p] = want[p]
		}
	}
	return got
}

// TestForget checks that undoing removes the plan before the files that the plan needs.
func TestForget(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	plant(t, fsys, "a=1", "b=2")
	tr := &trial{fsys: fsys, hooks: &hooks{}, changes: staged(t, fsys, steps(write("a", "A"), remove("b")))}
	var removed []string
	undoing := false
	o := tr.options()
	o.Observe = func(p string) { undoing = p == "rollback" }
	tr.hooks.before = func(_ int, op string, _ bool, name string) error {
		switch {
		case op == "remove" && undoing && !strings.Contains(path.Base(name), "."):
			removed = append(removed, path.Base(name))
		case op == "syncdir" && undoing && path.Dir(name) == stateDir+"/tx":
			removed = append(removed, op)
		case op == "exchange" && !undoing && name == "a":
			return errKilled
		}
		return nil
	}
	if _, err := commit.Apply(bg, o, tr.changes); err == nil {
		t.Fatal("it did not fail")
	}
	if len(removed) < 4 || removed[0] != journal.PlanFile || removed[1] != "syncdir" {
		t.Errorf("removed in the order %v", removed)
	}
}
