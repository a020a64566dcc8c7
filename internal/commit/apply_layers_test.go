package commit_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/stage"
)

// layers are file systems in which an entry that is removed from the upper layer reappears from the lower one.
func layers() map[string]func(t *testing.T) (base, all afero.Fs) {
	return map[string]func(t *testing.T) (base, all afero.Fs){
		"disk": func(t *testing.T) (base, all afero.Fs) {
			base = afero.NewBasePathFs(afero.NewOsFs(), fstest.TempDir(t))
			return base, afero.NewCopyOnWriteFs(base, afero.NewMemMapFs())
		},
		"disk over disk": func(t *testing.T) (base, all afero.Fs) {
			base = afero.NewBasePathFs(afero.NewOsFs(), fstest.TempDir(t))
			return base, afero.NewCopyOnWriteFs(base, afero.NewBasePathFs(afero.NewOsFs(), fstest.TempDir(t)))
		},
		"memory": func(*testing.T) (base, all afero.Fs) {
			base = afero.NewMemMapFs()
			return base, afero.NewCopyOnWriteFs(base, afero.NewMemMapFs())
		},
		"two above": func(*testing.T) (base, all afero.Fs) {
			base = afero.NewMemMapFs()
			return base, afero.NewCopyOnWriteFs(base, afero.NewCopyOnWriteFs(afero.NewMemMapFs(), afero.NewMemMapFs()))
		},
	}
}

// TestLayers_removed removes files that the upper layer has a copy of. The lower layer then shows its own: Apply
// reports this as a failure, and the tree is as it was, even if the process dies before it notices.
func TestLayers_removed(t *testing.T) {
	t.Parallel()
	for name, make := range layers() {
		for what, do := range map[string]func(*stage.Stage) error{
			"delete":            remove("b"),
			"rename":            rename("b", "c"),
			"rename over other": rename("b", "z"),
			"into a directory":  steps(remove("b"), mkdir("b"), write("b/x", "X")),
			"edits too":         steps(write("a", "A"), write("n", "N"), remove("b"), write("z", "Z")),
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				base, cow := make(t)
				plant(t, base, "a=1", "b=old", "z=1")
				fsys := raised(t, cow)
				if rep, err := commit.Apply(bg, options(fsys), staged(t, fsys, write("b", "newer"))); err != nil {
					t.Fatal(rep, err)
				}
				before := snapshot(t, fsys, false)
				changes := staged(t, fsys, do)
				rep, err := commit.Apply(bg, options(fsys), changes)
				op, ok := errors.AsType[*commit.OpError](err)
				if !ok || !errors.Is(err, capability.ErrShowsThrough) || op.Path != "b" || !rep.RolledBack {
					t.Errorf("%+v, %v", rep, err)
				}
				if diff := cmp.Diff(before, snapshot(t, fsys, false)); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				killedEverywhere(t, fsys, changes, before)
			})
		}
	}
}

// killedEverywhere kills the process before each operation of a failing commit, and of its undoing, and checks that the
// tree is as it was.
func killedEverywhere(t *testing.T, fsys afero.Fs, changes []change.Change, before map[string]string) {
	t.Helper()
	o := options(fsys)
	lock, err := commit.Lock(bg, o)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	o.Lock = lock
	last := 0
	eachMoment(t, fstest.Slowed(5, fstest.ByItself(3, 1)), func(at int) bool {
		h := &hooks{}
		h.before = func(n int, _ string, _ bool, _ string) error {
			if n >= at {
				return errKilled
			}
			return nil
		}
		dying := o
		dying.FS = withHooks(fsys, h)
		if _, err := commit.Apply(bg, dying, changes); !errors.Is(err, errKilled) && h.n < at {
			last = at
			return false
		}
		if r, err := commit.Recover(bg, o); err != nil {
			t.Fatalf("%d: %+v, %v", at, r, err)
		}
		if diff := cmp.Diff(before, snapshot(t, fsys, false)); diff != "" {
			t.Fatalf("%d: -want +got:\n%s", at, diff)
		}
		return true
	})
	if last < 50 {
		t.Errorf("it ended after %d operations", last)
	}
}

// TestLayers_createdBySomebody has another program make a file where one was just removed. It stays, and the commit
// succeeds.
func TestLayers_createdBySomebody(t *testing.T) {
	t.Parallel()
	for _, backend := range []string{"plain", "rawmem"} {
		fsys := backends()[backend](t)
		plant(t, fsys, "b=old")
		changes := staged(t, fsys, remove("b"))
		h, wrote := &hooks{}, false
		h.before = func(_ int, op string, _ bool, name string) error {
			if _, _, err := lstat(fsys, "b"); err != nil && !wrote {
				wrote = foreignWrite(fsys, "b", true)
			}
			return nil
		}
		rep, err := commit.Apply(bg, options(withHooks(fsys, h)), changes)
		if data, rerr := afero.ReadFile(fsys, "b"); err != nil || !wrote || string(data) != foreignText {
			t.Errorf("%s: %+v, %v; wrote %v; %q, %v", backend, rep, err, wrote, data, rerr)
		}
	}
}

// TestLayers_directories writes into directories that only the lower layer has. They stay unchanged, and so does the
// lower layer.
func TestLayers_directories(t *testing.T) {
	t.Parallel()
	for name, make := range layers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, cow := make(t)
			plant(t, base, "d/e/b=old", "d/f/z=1")
			for _, dir := range []string{"d", "d/e", "d/f"} {
				if err := base.Chmod(dir, 0o750); err != nil {
					t.Fatal(err)
				}
			}
			before, fsys := snapshot(t, base, false), raised(t, cow)
			modes := func() (list []string) {
				for _, dir := range []string{"d", "d/e", "d/f"} {
					info, err := fsys.Stat(dir)
					if err != nil {
						t.Fatal(err)
					}
					list = append(list, info.Mode().String())
				}
				return list
			}
			was := modes()
			rep, err := commit.Apply(bg, options(fsys), staged(t, fsys, steps(write("d/e/b", "newer"), write("d/f/n", "N"), mkdir("d/new"), write("d/new/m", "M"))))
			if err != nil {
				t.Fatal(rep, err)
			}
			for name, want := range map[string]string{"d/e/b": "newer", "d/f/n": "N", "d/f/z": "d/f/z1", "d/new/m": "M"} {
				if got, err := afero.ReadFile(fsys, name); err != nil || string(got) != want {
					t.Errorf("%s: %q, %v", name, got, err)
				}
			}
			if diff := cmp.Diff(before, snapshot(t, base, false)); diff != "" {
				t.Errorf("the lower layer (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(was, modes()); diff != "" {
				t.Errorf("modes of the directories (-want +got):\n%s", diff)
			}
		})
	}
}
