package commit_test

import (
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/stage"
)

// scenario is a tree and the changes to it.
type scenario struct {
	name  string
	tree  []string
	links bool // needs symbolic links
	do    func(s *stage.Stage) error
}

func scenarios() []scenario {
	base := []string{"a=1", "b=2", "x.sh 755=run", "d/e=3", "d/f=4", "d/sub/g=5", "empty/", "ro 444=6"}
	linked := append([]string{"l -> a", "dl -> d"}, base...)
	return []scenario{
		{"edit", base, false, steps(write("a", "new a"), write("d/e", "new e"), write("ro", "new ro"))},
		{"create", base, false, steps(write("n", "n"), mkdir("m"), mkdir("m/m"), write("m/m/n", "n"), write("d/n", ""))},
		{"delete", base, false, steps(remove("a"), remove("d/e"), remove("empty"))},
		{"delete a tree", base, false, steps(remove("d"))},
		{"rename", base, false, steps(rename("a", "z"), rename("d/e", "empty/e"))},
		{"rename and edit", base, false, steps(rename("a", "z"), write("z", "new z"), rename("x.sh", "y.sh"))},
		{"rename a tree", base, false, rename("d", "q")},
		{"rename a tree into a new directory", base, false, steps(mkdir("q"), rename("d", "q/d"))},
		{"rename over", base, false, rename("a", "b")},
		{"swap", base, false, steps(rename("a", "t"), rename("b", "a"), rename("t", "b"))},
		{"cycle", base, false, steps(rename("a", "t"), rename("b", "a"), rename("d/e", "b"), rename("t", "d/e"))},
		{"swap trees", append([]string{"w/e=w"}, base...), false, steps(rename("d", "t"), rename("w", "d"), rename("t", "w"))},
		{"chmod", base, false, steps(chmod("a", 0o600), chmod("x.sh", 0o644), chmod("empty", 0o700))},
		{"rename and chmod", base, false, steps(rename("a", "z"), chmod("z", 0o755))},
		{"touch", base, false, touch("a", time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC))},
		{"file to directory", base, false, steps(remove("a"), mkdir("a"), write("a/x", "x"))},
		{"directory to file", base, false, steps(remove("d"), write("d", "now a file"))},
		{"file into its own name", base, false, steps(rename("a", "t"), mkdir("a"), rename("t", "a/t"))},
		{"replace and keep name", base, false, steps(rename("a", "z"), write("a", "another a"))},
		{"links", linked, true, steps(symlink("b", "nl"), remove("l"), symlink("b", "l"), remove("dl"))},
		{"file to link and back", linked, true, steps(remove("a"), symlink("b", "a"), remove("dl"), write("dl", "file"))},
		{"directory to link", linked, true, steps(rename("d", "e"), symlink("e", "d"))},
		{"rename a link", linked, true, rename("l", "k")},
		{"all", base, false, steps(write("a", "new"), rename("b", "bb"), remove("d/e"), write("d/n", "n"), chmod("ro", 0o600),
			remove("empty"), mkdir("k"), rename("d/sub", "k/sub"), write("k/sub/g", "gg"))},
	}
}

// eachCase runs a test for every scenario on every file system that supports it.
func eachCase(t *testing.T, test func(t *testing.T, fsys afero.Fs, sc scenario)) {
	for name, make := range backends() {
		for _, sc := range scenarios() {
			t.Run(name+"/"+sc.name, func(t *testing.T) {
				t.Parallel()
				fsys := make(t)
				if _, ok := fsys.(afero.Linker); sc.links && !ok {
					t.Skip("no symbolic links")
				}
				plant(t, fsys, sc.tree...)
				test(t, fsys, sc)
			})
		}
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	eachCase(t, func(t *testing.T, fsys afero.Fs, sc scenario) {
		want := preview(t, fsys, sc.do)
		rep, err := commit.Apply(bg, options(fsys), staged(t, fsys, sc.do))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, untimed(snapshot(t, fsys, false))); diff != "" {
			t.Errorf("tree is not what the stage showed (-want +got):\n%s", diff)
		}
		if !rep.Committed || rep.BackupID != rep.ID || len(rep.Warnings) > 0 {
			t.Errorf("report: %+v", rep)
		}
		if ok, _ := afero.Exists(fsys, stateDir+"/backups/"+rep.ID+"/done"); !ok {
			t.Error("no backup")
		}
		for _, gone := range []string{"/backups/" + rep.ID + "/new", "/tx/" + rep.ID, "/lock"} {
			if ok, _ := afero.Exists(fsys, stateDir+gone); ok {
				t.Errorf("%s is left", gone)
			}
		}
	})
}

// TestApply_dropBackup also checks that nothing is left if nothing has to be kept.
func TestApply_dropBackup(t *testing.T) {
	t.Parallel()
	eachCase(t, func(t *testing.T, fsys afero.Fs, sc scenario) {
		o := options(fsys)
		o.DropBackup = true
		changes := staged(t, fsys, sc.do)
		trash := deletes(changes)
		rep, err := commit.Apply(bg, o, changes)
		if err != nil {
			t.Fatal(err)
		}
		left, _ := afero.Exists(fsys, stateDir)
		if left != trash || (rep.BackupID != "") != trash {
			t.Errorf("state directory is left: %v, backup %q, deleted something: %v", left, rep.BackupID, trash)
		}
	})
}

func TestApply_keepsInodes(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	plant(t, fsys, "a=1", "b=2", "c=3")
	before := snapshot(t, fsys, true)
	o := options(fsys)
	o.DropBackup = true
	_, err := commit.Apply(bg, o, staged(t, fsys, steps(rename("a", "t"), rename("b", "a"), rename("t", "b"), rename("c", "d"))))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a": before["b"], "b": before["a"], "d": before["c"]}
	if diff := cmp.Diff(want, snapshot(t, fsys, true)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestApply_keepsMeta(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	plant(t, fsys, "s 755=x", "a 600=y")
	if err := fsys.Chown("a", 12, 34); err != nil {
		t.Skip(err)
	}
	if err := errors.Join(fsys.Chown("s", 12, 34), fsys.Chmod("s", 0o755|fs.ModeSetuid)); err != nil {
		t.Skip(err)
	}
	if _, err := commit.Apply(bg, options(fsys), staged(t, fsys, steps(write("a", "A"), write("s", "S")))); err != nil {
		t.Fatal(err)
	}
	info, err := fsys.Stat("a")
	if err != nil {
		t.Fatal(err)
	}
	if id, _ := fsys.(capability.Identifier).IdentityOf(info); id.UID != 12 || id.GID != 34 {
		t.Errorf("owner is %d:%d", id.UID, id.GID)
	}
	if info, _ := fsys.Stat("s"); info.Mode()&modes.PermBits != 0o755|fs.ModeSetuid {
		t.Errorf("mode is %v", info.Mode())
	}
}

func TestApply_nothing(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	rep, err := commit.Apply(bg, options(fsys), nil)
	if err != nil || rep.ID != "" {
		t.Errorf("%+v, %v", rep, err)
	}
	if ok, _ := afero.Exists(fsys, stateDir); ok {
		t.Error("state directory was made")
	}
}

func TestApply_result(t *testing.T) {
	t.Parallel()
	for name, make := range backends() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := make(t)
			plant(t, fsys, "a=1")
			o := options(fsys)
			o.RunID, o.Result, o.DropBackup = "run-1", []byte(`{"ok":true}`), true
			for _, changes := range [][]change.Change{staged(t, fsys, write("a", "A")), nil} {
				if _, err := commit.Apply(bg, o, changes); err != nil {
					t.Fatal(err)
				}
				got, err := afero.ReadFile(fsys, stateDir+"/results/run-1.json")
				if err != nil || string(got) != `{"ok":true}` {
					t.Fatalf("%q, %v", got, err)
				}
				if err := fsys.RemoveAll(stateDir + "/results"); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
