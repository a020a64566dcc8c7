package commit_test

import (
	"errors"
	"path"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/journal"
)

// TestStateDir_inside has something else in place of a directory that is needed only at the end of a commit. It must be
// found before the first write.
func TestStateDir_inside(t *testing.T) {
	t.Parallel()
	link := func(f afero.Fs, name string) error { return f.(afero.Linker).SymlinkIfPossible("../elsewhere", name) }
	file := func(f afero.Fs, name string) error { return afero.WriteFile(f, name, []byte("x"), 0o644) }
	for _, name := range []string{"backups", "results"} {
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

// TestStateDir_conflicts has something else in place of the directory for conflicts, which is needed in the middle of
// undoing. It is moved away, and blocks neither undoing nor inspecting.
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

// TestStateDir_owner has a tree of another user, who then also owns its state directory.
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
		t.Errorf("the owner of the tree is unknown: %v", err)
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

// TestStateDir_store: an empty store of runs does not keep the state directory, a filled one does.
func TestStateDir_store(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"", "runs/format"} {
		fsys := backends()["plain"](t)
		held, err := commit.Lock(bg, options(fsys))
		if err == nil {
			err = fsys.Mkdir(stateDir+"/runs", 0o700)
		}
		if err == nil && file != "" {
			err = afero.WriteFile(fsys, stateDir+"/"+file, []byte("x"), 0o600)
		}
		if err == nil {
			err = held.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if ok, _ := afero.Exists(fsys, stateDir); ok != (file != "") {
			t.Errorf("with %q in it: state directory is left: %v", file, ok)
		}
	}
}
