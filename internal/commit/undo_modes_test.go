package commit_test

import (
	"errors"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
)

// TestApply_modeOfOthers has a directory whose mode both the commit and another program change. The other program's
// mode stays when the commit is undone, and a path that is no longer a directory is left alone.
func TestApply_modeOfOthers(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	plant(t, fsys, "a=1", "d/e=2")
	tr := &trial{fsys: fsys, hooks: &hooks{}, changes: staged(t, fsys, steps(write("a", "A"), chmod("d", 0o700)))}
	o := tr.options()
	o.Observe = func(phase string) {
		if phase == "sync" {
			if err := fsys.Chmod("d", 0o711); err != nil {
				t.Error(err)
			}
			tr.hooks.before = func(_ int, op string, _ bool, _ string) error {
				tr.hooks.before = nil
				return errKilled
			}
		}
	}
	if rep, err := commit.Apply(bg, o, tr.changes); !errors.Is(err, errKilled) || !rep.RolledBack {
		t.Fatalf("%+v, %v", rep, err)
	}
	if info, err := fsys.Stat("d"); err != nil || info.Mode().Perm() != 0o711 {
		t.Errorf("d: %v, %v", info.Mode(), err)
	}

	if err := fsys.Chmod("d", 0o500); err != nil {
		t.Fatal(err)
	}
	changes := staged(t, fsys, chmod("d", 0o755))
	o = options(fsys)
	o.Observe = func(phase string) {
		if phase == "apply" {
			if err := errors.Join(fsys.Rename("d", "dd"), afero.WriteFile(fsys, "d", []byte(foreignText), 0o444)); err != nil {
				t.Error(err)
			}
		}
	}
	_, err := commit.Apply(bg, o, changes)
	if c, ok := errors.AsType[*commit.Conflict](err); !ok || len(c.Paths) != 1 || c.Paths[0].Path != "d" {
		t.Errorf("error is %v", err)
	}
	if info, err := fsys.Stat("d"); err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("d: %v, %v", info.Mode(), err)
	}
}
