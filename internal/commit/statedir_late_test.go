package commit_test

import (
	"errors"
	"path"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/journal"
)

// TestStateDir_inside has something else in the place of a directory that is needed only at the end of a commit. It has to
// be found before the first write.
func TestStateDir_inside(t *testing.T) {
	t.Parallel()
	link := func(f afero.Fs, name string) error { return f.(afero.Linker).SymlinkIfPossible("../elsewhere", name) }
	file := func(f afero.Fs, name string) error { return afero.WriteFile(f, name, []byte("x"), 0o644) }
	for _, name := range []string{"backups", "runs"} {
		for kind, put := range map[string]func(f afero.Fs, name string) error{"link": link, "file": file} {
			t.Run(name+" a "+kind, func(t *testing.T) {
				t.Parallel()
				fsys := rootFs(t)
				plant(t, fsys, "a=1", "elsewhere/", stateDir+"/.gitignore")
				if err := put(fsys, stateDir+"/"+name); err != nil {
					t.Fatal(err)
				}
				before := everything(t, fsys)
				if _, err := commit.Apply(bg, options(fsys), staged(t, fsys, write("a", "A"))); !errors.Is(err, commit.ErrControlDir) {
					t.Errorf("error is %v", err)
				}
				if diff := cmp.Diff(before, everything(t, fsys)); diff != "" {
					t.Errorf("something was touched:\n%s", diff)
				}
			})
		}
	}
}

// TestStateDir_conflicts has something else in the place of the directory for conflicts, which is needed in the middle of undoing.
// It is moved away, and blocks nothing: neither undoing nor looking.
func TestStateDir_conflicts(t *testing.T) {
	t.Parallel()
	conflicts := stateDir + "/conflicts"
	for kind, put := range map[string]func(f afero.Fs) error{
		"file":            func(f afero.Fs) error { return afero.WriteFile(f, conflicts, []byte("x"), 0o644) },
		"link":            func(f afero.Fs) error { return f.(afero.Linker).SymlinkIfPossible("../elsewhere", conflicts) },
		"link to nothing": func(f afero.Fs) error { return f.(afero.Linker).SymlinkIfPossible("nowhere", conflicts) },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			fsys := rootFs(t)
			interrupted(t, fsys, "sync")
			if err := errors.Join(fsys.Remove("a"), fsys.Mkdir("elsewhere", 0o755), put(fsys)); err != nil {
				t.Fatal(err)
			}
			if list, err := commit.Conflicts(bg, options(fsys)); err != nil || len(list) > 0 {
				t.Errorf("conflicts before: %+v, %v", list, err)
			}
			_, err := commit.Recover(bg, options(fsys))
			c, ok := errors.AsType[*commit.RollbackConflict](err)
			if !ok || len(c.Paths) != 1 || c.Paths[0].Path != "a" {
				t.Fatalf("error is %v", err)
			}
			if data, _ := afero.ReadFile(fsys, c.Dir+"/old/"+journal.Slot(0)); path.Dir(c.Dir) != conflicts || string(data) != "a1" {
				t.Errorf("in %s is %q", c.Dir, data)
			}
			if names, err := afero.ReadDir(fsys, "elsewhere"); err != nil || len(names) > 0 {
				t.Errorf("the link was followed: %v, %v", names, err)
			}
			if aside, err := afero.Glob(fsys, conflicts+"-*"); err != nil || len(aside) != 1 {
				t.Errorf("moved away: %v, %v", aside, err)
			}
			if _, err := commit.Apply(bg, options(fsys), staged(t, fsys, write("b", "after"))); err != nil {
				t.Errorf("the next commit: %v", err)
			}
		})
	}
}

// TestLeave_fails has the disk fail, or the file system panic, at the end of undoing. The transaction stays, and is dealt with
// by the next.
func TestLeave_fails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		foreign bool // somebody else has removed a file
		at      func(op, name string) bool
		fail    func() error
	}{
		{"moving to the conflicts", true, func(op, name string) bool { return op == "rename" && path.Dir(name) == stateDir+"/conflicts" },
			func() error { return syscall.EIO }},
		{"making the move durable", true, func(op, name string) bool { return op == "syncdir" && name == stateDir+"/conflicts" },
			func() error { return syscall.EIO }},
		{"removing the plan", false, func(op, name string) bool { return op == "remove" && path.Base(name) == "plan" },
			func() error { return syscall.EIO }},
		{"removing the plan, with a panic", false, func(op, name string) bool { return op == "remove" && path.Base(name) == "plan" },
			func() error { panic(syscall.EIO) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fsys := rootFs(t)
			tr, dir := interrupted(t, fsys, "sync")
			if tt.foreign {
				if err := fsys.Remove("a"); err != nil {
					t.Fatal(err)
				}
			}
			met := false
			tr.hooks.before = func(_ int, op string, _ bool, name string) error {
				if met || !tt.at(op, name) {
					return nil
				}
				met = true
				return tt.fail()
			}
			_, err := commit.Recover(bg, tr.options())
			p, ok := errors.AsType[*commit.PendingError](err)
			if !met || !ok || p.Dir != dir {
				t.Fatalf("met %v, error is %v", met, err)
			}
			if pe, ok := errors.AsType[*fsutil.PanicError](err); !errors.Is(err, syscall.EIO) && (!ok || pe.Value != syscall.EIO) {
				t.Errorf("cause is lost: %v", err)
			}
			if !tt.foreign {
				if tr.settled(t, "afterwards") {
					t.Error("tree is new")
				}
				return
			}
			_, err = commit.Recover(bg, options(fsys))
			c, ok := errors.AsType[*commit.RollbackConflict](err)
			if moved := tt.name == "making the move durable"; ok == moved || ok && (len(c.Paths) != 1 || c.Paths[0].Path != "a") {
				t.Errorf("again: %v", err)
			}
			if list, err := commit.Conflicts(bg, options(fsys)); err != nil || len(list) != 1 || list[0].Status != commit.Interrupted {
				t.Errorf("kept: %+v, %v", list, err)
			}
		})
	}
}

// TestStateDir_owner has a tree of another user, whose state directory then is his too.
func TestStateDir_owner(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	plant(t, fsys, "a=1", stateDir+"/")
	if err := errors.Join(fsys.Chown(stateDir, 4242, 4242), fsys.Chown(".", 4242, 4242)); err != nil {
		t.Skip(err)
	}
	changes := staged(t, fsys, write("a", "A"))
	h := &hooks{before: func(_ int, op string, _ bool, name string) error {
		if op == "stat" && name == "." {
			return syscall.EIO
		}
		return nil
	}}
	if _, err := commit.Apply(bg, options(withHooks(fsys, h)), changes); !errors.Is(err, syscall.EIO) {
		t.Errorf("whose the tree is cannot be told: %v", err)
	}
	if _, err := commit.Apply(bg, options(fsys), changes); err != nil {
		t.Error(err)
	}
	if err := errors.Join(fsys.Chown(stateDir, 4242, 4242), fsys.Chown(".", 4243, 4242)); err != nil {
		t.Fatal(err)
	}
	if _, err := commit.Apply(bg, options(fsys), staged(t, fsys, write("a", "B"))); !errors.Is(err, commit.ErrControlDir) {
		t.Errorf("between two other users: %v", err)
	}
}

// TestRecover_crowd looks, without the lock, at a state directory that the one who has it is just removing.
func TestRecover_crowd(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{stateDir, stateDir + "/tx"} {
		fsys := rootFs(t)
		plant(t, fsys, stateDir+"/tx/")
		met := false
		h := &hooks{before: func(_ int, op string, _ bool, name string) error {
			if op == "open" && name == dir && !met {
				met = true
				return fsys.RemoveAll(stateDir)
			}
			return nil
		}}
		r, err := commit.Recover(bg, options(withHooks(fsys, h)))
		if !met || err != nil || len(r.Leftovers) > 0 {
			t.Errorf("%s: met %v, %+v, %v", dir, met, r, err)
		}
	}
}
