package restore_test

import (
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
)

// committed edits a.txt, b.txt and d/c.txt, renames m.txt to n.txt, and returns the id of the commit.
func committed(t *testing.T, fsys afero.Fs) string {
	t.Helper()
	p := millrace.New("change").
		Step("edit", actions.Edit{Files: []string{"a.txt", "b.txt", "d/c.txt"}, OldText: "x", NewText: "y"}).
		Step("move", actions.Rename{Files: []string{"m.txt"}, To: "n.txt"}).MustBuild()
	res, err := millrace.Executor{}.Run(t.Context(), fsys, p)
	fstest.Must(t, err)
	return res.BackupID
}

func conflictTree() afero.Fs {
	return suite.Tree("a.txt", "x\n", "b.txt", "x\n", "d/c.txt", "x\n", "m.txt", "m\n")
}

// doors are the ways to carry out or inspect a plan.
var doors = map[string]func(t *testing.T, x millrace.Executor, fsys afero.Fs, id string, p *millrace.Plan) error{
	"commit": func(t *testing.T, _ millrace.Executor, _ afero.Fs, _ string, p *millrace.Plan) error {
		_, err := p.Commit(t.Context())
		return err
	},
	"diff": func(_ *testing.T, _ millrace.Executor, _ afero.Fs, _ string, p *millrace.Plan) error {
		var text strings.Builder
		if err := p.WriteDiff(&text); err != nil && text.Len() > 0 {
			return errors.New("a part of the diff was written")
		} else if err != nil {
			return err
		}
		return nil
	},
	"files": func(_ *testing.T, _ millrace.Executor, _ afero.Fs, _ string, p *millrace.Plan) error {
		_, err := p.Files()
		return err
	},
	"store": func(_ *testing.T, _ millrace.Executor, _ afero.Fs, _ string, p *millrace.Plan) error {
		_, err := p.MarshalJSON()
		return err
	},
	"restore": func(t *testing.T, x millrace.Executor, fsys afero.Fs, id string, _ *millrace.Plan) error {
		_, err := x.Restore(t.Context(), fsys, id)
		return err
	},
	"dry restore": func(t *testing.T, x millrace.Executor, fsys afero.Fs, id string, _ *millrace.Plan) error {
		x.DryRun = true
		_, err := x.Restore(t.Context(), fsys, id)
		return err
	},
}

// TestPlanRestore_conflicts: each way to restore returns the same conflicts before it writes a byte. The plan without
// these paths can be carried out.
func TestPlanRestore_conflicts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		harm func(t *testing.T, fsys afero.Fs, id string)
		at   []string
	}{
		"edited":  {func(t *testing.T, fsys afero.Fs, _ string) { write(t, fsys, "b.txt", "later\n") }, []string{"b.txt"}},
		"removed": {func(t *testing.T, fsys afero.Fs, _ string) { fstest.Must(t, fsys.Remove("d/c.txt")) }, []string{"d/c.txt"}},
		"another mode": {
			func(t *testing.T, fsys afero.Fs, _ string) { fstest.Must(t, fsys.Chmod("a.txt", 0o600)) }, []string{"a.txt"},
		},
		"moved file edited": {func(t *testing.T, fsys afero.Fs, _ string) { write(t, fsys, "n.txt", "later\n") }, []string{"n.txt"}},
		"old name in use":   {func(t *testing.T, fsys afero.Fs, _ string) { write(t, fsys, "m.txt", "later\n") }, []string{"m.txt"}},
		"damaged": {func(t *testing.T, fsys afero.Fs, id string) {
			fstest.Must(t, fsys.RemoveAll(path.Join(".millrace/backups", id, "old")))
		}, []string{"a.txt", "b.txt", "d/c.txt", "m.txt"}},
		"both": {func(t *testing.T, fsys afero.Fs, id string) {
			fstest.Must(t, fsys.RemoveAll(path.Join(".millrace/backups", id, "old")))
			write(t, fsys, "n.txt", "later\n")
		}, []string{"a.txt", "b.txt", "d/c.txt", "m.txt", "n.txt"}},
	} {
		for door, open := range doors {
			t.Run(name+"/"+door, func(t *testing.T) {
				t.Parallel()
				var x millrace.Executor
				fsys := conflictTree()
				id := committed(t, fsys)
				test.harm(t, fsys, id)
				before := snapshot(t, fsys)
				plan, err := x.PlanRestore(t.Context(), fsys, id)
				fstest.Must(t, err)
				defer plan.Close()
				err = open(t, x, fsys, id, plan)
				conflict, ok := errors.AsType[*millrace.ConflictError](err)
				if !ok || millrace.ErrorCode(err) != "conflict" {
					t.Fatalf("the error is %v, with the code %s", err, millrace.ErrorCode(err))
				}
				if diff := cmp.Diff(conflict.Conflicts, plan.Conflicts()); diff != "" {
					t.Errorf("the plan has other conflicts (-door +plan):\n%s", diff)
				}
				var at []string
				for _, c := range conflict.Conflicts {
					at = append(at, c.Path)
				}
				if diff := cmp.Diff(test.at, at); diff != "" {
					t.Errorf("conflicts (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(before, snapshot(t, fsys)); diff != "" {
					t.Errorf("the tree has changed:\n%s", diff)
				}
				rest, err := plan.Reject(at...)
				fstest.Must(t, err)
				if left := rest.Conflicts(); len(left) > 0 {
					t.Errorf("left %v", left)
				}
				if _, err := rest.Commit(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func write(t *testing.T, fsys afero.Fs, name, text string) {
	t.Helper()
	fstest.Must(t, afero.WriteFile(fsys, name, []byte(text), 0o644))
}

// TestRestore_grownImage: a program that still had the old file open has written more to it. The file is restored
// without those bytes.
func TestRestore_grownImage(t *testing.T) {
	t.Parallel()
	dir, fsys := suite.Rooted(t, "a.txt", "x\n", "b.txt", "x x\n", "d/c.txt", "x\n", "m.txt", "m\n")
	old, err := os.OpenFile(filepath.Join(dir, "b.txt"), os.O_APPEND|os.O_WRONLY, 0)
	fstest.Must(t, err)
	defer old.Close()
	id := committed(t, fsys)
	_, err = io.WriteString(old, "late\n")
	fstest.Must(t, err)
	var x millrace.Executor
	fstest.Must(t, x.VerifyBackup(t.Context(), fsys, id))
	_, err = x.Restore(t.Context(), fsys, id)
	fstest.Must(t, err)
	if got := text(t, fsys, "b.txt"); got != "x x\n" {
		t.Errorf("b.txt is %q", got)
	}
}

// TestRestore_perPath: each path is undone or not. A second undo takes back the paths that the first has left out, and
// leaves the rest alone, even if it was edited since then.
func TestRestore_perPath(t *testing.T) {
	t.Parallel()
	var x millrace.Executor
	fsys := conflictTree()
	id := committed(t, fsys)
	plan, err := x.PlanRestore(t.Context(), fsys, id)
	fstest.Must(t, err)
	some, err := plan.Reject("b.txt", "d")
	fstest.Must(t, err)
	first, err := some.Commit(t.Context())
	fstest.Must(t, err)
	state(t, fsys, id, first.BackupID, 2)
	write(t, fsys, "a.txt", "later\n")
	second, err := x.Restore(t.Context(), fsys, id)
	fstest.Must(t, err)
	if a, b, c := text(t, fsys, "a.txt"), text(t, fsys, "b.txt"), text(t, fsys, "d/c.txt"); a != "later\n" || b != "x\n" || c != "x\n" {
		t.Errorf("a %q, b %q, c %q", a, b, c)
	}
	state(t, fsys, id, second.BackupID, 0)
	for door := range map[string]bool{"restore": true, "dry restore": true} {
		err := doors[door](t, x, fsys, id, nil)
		if !errors.Is(err, backup.ErrUndone) || millrace.ErrorCode(err) != "conflict" ||
			!strings.HasSuffix(err.Error(), " is undone already, by "+second.BackupID) {
			t.Errorf("%s: %v", door, err)
		}
	}
	if _, err := x.Restore(t.Context(), fsys, second.BackupID); err != nil { // a redo of that part
		t.Fatal(err)
	}
	state(t, fsys, id, first.BackupID, 2)
	if b := text(t, fsys, "b.txt"); b != "y\n" {
		t.Errorf("redone: b.txt is %q", b)
	}
}

// state compares the entry of a commit in the list of backups.
func state(t *testing.T, fsys afero.Fs, id, undoneBy string, left int) {
	t.Helper()
	list, err := millrace.Executor{}.ListBackups(t.Context(), fsys)
	fstest.Must(t, err)
	for _, info := range list {
		if info.ID == id && (info.UndoneBy != undoneBy || info.Left != left) {
			t.Errorf("undone by %q but for %d paths, want %q, %d", info.UndoneBy, info.Left, undoneBy, left)
		}
	}
}

// TestRestore_asBefore: a path that a user has restored by hand is not a conflict.
func TestRestore_asBefore(t *testing.T) {
	t.Parallel()
	var x millrace.Executor
	fsys := conflictTree()
	id := committed(t, fsys)
	write(t, fsys, "b.txt", "x\n")
	fstest.Must(t, fsys.Rename("n.txt", "m.txt"))
	res, err := x.Restore(t.Context(), fsys, id)
	fstest.Must(t, err)
	if n := res.FilesChanged.Count(); n != 2 {
		t.Errorf("%d files changed, want the paths that were not restored by hand", n)
	}
	for name, want := range map[string]string{"a.txt": "x\n", "b.txt": "x\n", "d/c.txt": "x\n", "m.txt": "m\n"} {
		if got := text(t, fsys, name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
}
