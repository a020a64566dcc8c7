package restore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestStored_owner: a stored undo returns each file to its owner too, and warns if its backup is gone.
func TestStored_owner(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	for name, action := range map[string]actions.Action{
		"delete":      actions.Delete{Files: []string{"a.txt", "b.txt"}},
		"rename over": actions.Rename{Files: []string{"a.txt"}, To: "b.txt", Overwrite: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := suite.OpenRoot(t, t.TempDir())
			owners := map[string]uint32{"a.txt": 1234, "b.txt": 2345}
			for file, owner := range owners {
				if err := afero.WriteFile(root, file, []byte(file), 0o640); err != nil {
					t.Fatal(err)
				}
				if err := root.Chown(file, int(owner), int(owner)+1); err != nil {
					t.Fatal(err)
				}
			}
			var x millrace.Executor
			res, err := x.Run(t.Context(), root, millrace.New("gone").Step("s", action).MustBuild())
			if err != nil {
				t.Fatal(err)
			}
			plan, err := x.PlanRestore(t.Context(), root, res.BackupID)
			if err != nil {
				t.Fatal(err)
			}
			stored := suite.Stored(t, plan)
			if plan, err = x.OpenPlan(t.Context(), root, stored); err != nil {
				t.Fatal(err)
			}
			if res, err = plan.Commit(t.Context()); err != nil || len(res.Warnings) > 0 {
				t.Fatal(res.Warnings, err)
			}
			for file, owner := range owners {
				info, err := root.Stat(file)
				if err != nil {
					t.Fatal(err)
				}
				is, ok := identity(root, info)
				if !ok || is.UID != owner || is.GID != owner+1 {
					t.Errorf("%s belongs to %d:%d, want %d:%d", file, is.UID, is.GID, owner, owner+1)
				}
			}
		})
	}
}

// identity returns the identity of a file, where the system has owners.
func identity(fsys afero.Fs, info os.FileInfo) (capability.Identity, bool) {
	identifier, ok := fsys.(capability.Identifier)
	if !ok {
		return capability.Identity{}, false
	}
	return identifier.IdentityOf(info)
}

// TestRestore_damagedRename: the file at the new name of a renamed file stays if the backup of the file is damaged, even
// if the user leaves the damaged path out.
func TestRestore_damagedRename(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("old\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, "a.txt"), filepath.Join(dir, "twin")); err != nil {
		t.Skip("no hard links here:", err)
	}
	root := suite.OpenRoot(t, dir)
	var x millrace.Executor
	res, err := x.Run(t.Context(), root, millrace.New("move").
		Step("move", actions.Rename{Files: []string{"a.txt"}, To: "b.txt"}).
		Step("edit", actions.Edit{Files: []string{"b.txt"}, OldText: "old", NewText: "new"}).MustBuild())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "twin"), []byte("x\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	plan, err := x.PlanRestore(t.Context(), root, res.BackupID)
	if err != nil {
		t.Fatal(err)
	}
	if c := plan.Conflicts(); len(c) != 1 || c[0].Path != "a.txt" {
		t.Skip("the backup is a copy here, and is not damaged:", c)
	}
	if plan, err = plan.Reject("a.txt"); err != nil {
		t.Fatal(err)
	}
	_, _ = plan.Commit(t.Context())
	if got, err := os.ReadFile(filepath.Join(dir, "b.txt")); err != nil || string(got) != "new\n" {
		t.Errorf("b.txt is %q, %v", got, err)
	}
}
