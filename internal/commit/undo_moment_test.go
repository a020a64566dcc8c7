package commit_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/journal"
)

// TestUndo_madeDir has another program remove or replace a directory that the commit made, exactly when that is undone.
func TestUndo_madeDir(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		foul func(f afero.Fs) error
		told bool
	}{
		{"removed", func(f afero.Fs) error { return f.Remove("n") }, false},
		{"replaced", func(f afero.Fs) error {
			return errors.Join(f.Remove("n"), afero.WriteFile(f, "n", []byte(foreignText), 0o644))
		}, true},
		{"written in", func(f afero.Fs) error { return afero.WriteFile(f, "n/x", []byte(foreignText), 0o644) }, true},
	}
	for _, tt := range tests {
		fsys := rootFs(t)
		plant(t, fsys, "a=1")
		tr := &trial{fsys: fsys, hooks: &hooks{}, changes: staged(t, fsys, steps(write("a", "A"), mkdir("n")))}
		phase, met := "", false
		o := tr.options()
		o.Observe = func(p string) { phase = p }
		tr.hooks.before = func(_ int, op string, _ bool, name string) error {
			switch {
			case phase == "sync":
				return syscall.EIO
			case phase == "rollback" && op == "rename" && strings.HasSuffix(name, ".back") && !met:
				met = true
				return tt.foul(fsys)
			}
			return nil
		}
		rep, err := commit.Apply(bg, o, tr.changes)
		c, told := errors.AsType[*commit.RollbackConflict](err)
		if !met || !errors.Is(err, syscall.EIO) || told != tt.told || rep.RolledBack == told || told && (len(c.Paths) != 1 || c.Paths[0].Path != "n") {
			t.Errorf("%s: met %v, %+v, %v", tt.name, met, rep, err)
		}
		if ok, _ := afero.Exists(fsys, "n"); ok != tt.told || tt.told && !holds(t, fsys) {
			t.Errorf("%s: n is there: %v", tt.name, ok)
		}
		if data, _ := afero.ReadFile(fsys, "a"); string(data) != "a1" {
			t.Errorf("%s: a is %q", tt.name, data)
		}
	}
}

// TestUndo_lostDir cannot find the directory that was moved out. A similar one replaces it.
func TestUndo_lostDir(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	plant(t, fsys, "a=1", "d/")
	if err := fsys.Chmod("d", 0o510); err != nil {
		t.Fatal(err)
	}
	tr := &trial{fsys: fsys, hooks: &hooks{}, old: snapshot(t, fsys, true), changes: staged(t, fsys, steps(write("a", "A"), remove("d")))}
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
	if err := fsys.Remove(stateDir + "/tx/" + names[0].Name() + "/new/" + journal.Slot(1) + ".out"); err != nil {
		t.Fatal(err)
	}
	tr.hooks.before = func(_ int, op string, _ bool, name string) error {
		if op == "mkdir" && name == "d" {
			return syscall.EIO
		}
		return nil
	}
	if _, err := commit.Recover(bg, tr.options()); !errors.Is(err, syscall.EIO) || !errors.Is(err, commit.ErrRecoveryRequired) {
		t.Errorf("error is %v", err)
	}
	if tr.settled(t, "afterwards") {
		t.Error("tree is new")
	}
}

// TestUndo_noRoom has a disk, with fewer abilities, on which undoing needs a new entry that cannot be made. The
// transaction stays until that is possible.
func TestUndo_noRoom(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, op string
		without  crashfs.Ability
	}{
		{"a second name", "link", crashfs.Exchanges},
		{"a link", "symlink", crashfs.Exchanges | crashfs.NoReplaces | crashfs.Links | crashfs.Identities},
		{"a copy", "create", crashfs.Exchanges | crashfs.NoReplaces | crashfs.Links | crashfs.Identities},
	}
	for _, tt := range tests {
		disk := crashfs.New()
		disk.Without(tt.without)
		plant(t, disk, "a=1", "l -> a", "z=2")
		disk.Settle()
		old := disk.Listing(stateDir)
		changes := staged(t, disk.Kill(), steps(write("a", "A"), remove("l"), write("z", "Z")))
		o := crashOptions(disk)
		phase, failed := "", 0
		o.Observe = func(p string) { phase = p }
		disk.Before(func(op crashfs.Op) error {
			switch {
			case phase == "sync":
				return syscall.EIO
			case phase == "rollback" && op.Name == tt.op:
				failed++
				return syscall.ENOSPC
			}
			return nil
		})
		_, err := commit.Apply(bg, o, changes)
		if _, ok := errors.AsType[*commit.PendingError](err); failed == 0 || !ok || !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: failed %d times, %v", tt.name, failed, err)
		}
		disk.Before(nil)
		if _, err := commit.Recover(bg, crashOptions(disk)); err != nil {
			t.Errorf("%s: recover: %v", tt.name, err)
		}
		if diff := cmp.Diff(old, disk.Listing(stateDir)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", tt.name, diff)
		}
	}
}

// TestUndo_notBroughtNear has another program change two files. The second is on another mount, where the transaction
// had nothing when it failed at the first. So nothing has to be kept for it.
func TestUndo_notBroughtNear(t *testing.T) {
	t.Parallel()
	fsys := mounted(t)
	plant(t, fsys, "a=1", "m/a=2")
	o := options(fsys)
	o.Observe = func(phase string) {
		if phase == "apply" && (!foreignWrite(fsys, "a", false) || !foreignWrite(fsys, "m/a", false)) {
			t.Error("could not write")
		}
	}
	rep, err := commit.Apply(bg, o, staged(t, fsys, steps(write("a", "A"), write("m/a", "B"))))
	c, ok := errors.AsType[*commit.Conflict](err)
	if !ok || len(c.Paths) != 1 || c.Paths[0].Path != "a" || !rep.RolledBack {
		t.Errorf("%+v, %v", rep, err)
	}
	for _, name := range []string{"a", "m/a"} {
		if data, _ := afero.ReadFile(fsys, name); string(data) != foreignText {
			t.Errorf("%s is %q", name, data)
		}
	}
	if ok, _ := afero.Exists(fsys, stateDir); ok {
		t.Error("state directory is left")
	}
}

// TestUndo_late has another program write a file at the moment when it is about to be undone.
func TestUndo_late(t *testing.T) {
	t.Parallel()
	tests := []struct {
		op, path string // before this operation, on this path or a name for the entry that is undone
	}{{"exchange", "a"}, {"rename", "n"}}
	for _, tt := range tests {
		for _, inPlace := range []bool{true, false} {
			fsys := rootFs(t)
			plant(t, fsys, "a=1", "z=2")
			tr := &trial{fsys: fsys, hooks: &hooks{}, changes: staged(t, fsys, steps(write("a", "A"), write("n", "N"), write("z", "Z")))}
			var phase string
			wrote := false
			o := tr.options()
			o.Observe = func(p string) { phase = p }
			tr.hooks.before = func(_ int, op string, _ bool, name string) error {
				if phase == "sync" {
					return errKilled
				}
				if phase == "rollback" && op == tt.op && !wrote && (name == tt.path || tt.op == "rename" && strings.HasSuffix(name, ".back")) {
					wrote = foreignWrite(fsys, tt.path, inPlace)
				}
				return nil
			}
			_, err := commit.Apply(bg, o, tr.changes)
			c, ok := errors.AsType[*commit.RollbackConflict](err)
			if !wrote || !ok || len(c.Paths) != 1 || c.Paths[0].Path != tt.path {
				t.Fatalf("%+v: error is %v", tt, err)
			}
			if data, _ := afero.ReadFile(fsys, tt.path); string(data) != foreignText {
				t.Errorf("%+v: is %q", tt, data)
			}
			if data, _ := afero.ReadFile(fsys, "z"); string(data) != "z2" {
				t.Errorf("%+v: z is %q", tt, data)
			}
		}
	}
}
