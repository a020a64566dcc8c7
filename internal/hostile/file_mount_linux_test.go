package hostile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/capability"
)

// mountedFile plants a tree with another file mounted on the file f, as docker run -v FILE:FILE does.
func mountedFile(t testing.TB) (dir, below string) {
	t.Helper()
	top := t.TempDir()
	dir, below = filepath.Join(top, "tree"), filepath.Join(top, "outside")
	plantDir(t, dir, "f=", "g=old", "d/f=")
	plantDir(t, top, "outside=old bytes", "outside2=old bytes")
	mounted(t, below, filepath.Join(dir, "f"), "", unix.MS_BIND, "")
	mounted(t, filepath.Join(top, "outside2"), filepath.Join(dir, "d/f"), "", unix.MS_BIND, "")
	return dir, below
}

// TestHostile_mounted_file: each step that would replace, move or remove a file that is a mount point fails before the
// commit, and names the file.
func TestHostile_mounted_file(t *testing.T) {
	t.Parallel()
	needRoot(t)
	dir, _ := mountedFile(t)
	before := treeOf(t, dir, contents|times)
	fsys := openDir(t, dir)
	for _, inPlace := range []bool{false, true} {
		x := host()
		x.InPlace = inPlace
		steps := map[string]obj{
			"delete":             act("delete", obj{"files": []string{"f"}}),
			"rename":             act("rename", obj{"files": []string{"f"}, "to": "h"}),
			"rename over it":     act("rename", obj{"files": []string{"g"}, "to": "f", "overwrite": true}),
			"rename a directory": act("rename", obj{"files": []string{"d"}, "to": "e"}),
			"delete a directory": act("delete", obj{"files": []string{"d"}, "recursive": true}),
			"edit":               act("edit", obj{"files": []string{"f"}, "old_text": "old", "new_text": "new"}),
			"edit in it":         act("edit", obj{"files": []string{"d/f"}, "old_text": "old", "new_text": "new"}),
			"edit both":          act("edit", obj{"files": []string{"g", "f"}, "old_text": "old", "new_text": "new"}),
		}
		for name, step := range steps {
			if inPlace && strings.HasPrefix(name, "edit") {
				continue
			}
			_, err := x.Run(t.Context(), fsys, decoded(t, step))
			if !errors.Is(err, capability.ErrMountPoint) || !strings.Contains(err.Error(), "f: is a mount point") && !strings.Contains(err.Error(), "f is a mount point") {
				t.Errorf("%s, in place %v: %v", name, inPlace, err)
			}
			sameTree(t, name, dir, before, contents|times)
		}
	}
}

// TestHostile_mounted_file_in_place: such a file is overwritten if the host allows it, and has its old bytes again
// after a kill at each operation, and after a restore.
func TestHostile_mounted_file_in_place(t *testing.T) {
	t.Parallel()
	needRoot(t)
	for _, p := range []point{
		{name: "committed", isNew: true},
		{name: "opened", at: `^write f`},
		{name: "cut", at: `^chtimes f`},
		{name: "not marked", at: `^rename T/done$`},
		{name: "marked", after: `^rename T/done$`, at: `^syncdir T$`, isNew: true},
	} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			dir, below := mountedFile(t)
			before := treeOf(t, dir, contents|times)
			r := diskJob{Dir: dir, Pipeline: "mounted file", InPlace: true, Sigkill: p.at, SigkillAfter: p.after}.start(t)
			if p.at == "" && (r.Error != "" || len(r.Warnings) > 0) || r.Killed != (p.at != "") {
				t.Fatalf("report %+v", r)
			}
			x, fsys := host(), openDir(t, dir)
			x.InPlace = true
			_, err := x.Recover(t.Context(), fsys)
			must(t, err)
			if p.isNew {
				bytes, err := os.ReadFile(below)
				if string(bytes) != "new" || err != nil {
					t.Fatalf("the mounted file holds %q: %v", bytes, err)
				}
				backups, err := x.ListBackups(t.Context(), fsys)
				must(t, err)
				if _, err = host().Restore(t.Context(), fsys, backups[0].ID); !errors.Is(err, capability.ErrMountPoint) {
					t.Errorf("a restore that may not overwrite: %v", err)
				}
				_, err = x.Restore(t.Context(), fsys, backups[0].ID)
				must(t, err, os.RemoveAll(filepath.Join(dir, stateName)))
			}
			sameTree(t, "recovered or restored", dir, before, contents|times)
		})
	}
}
