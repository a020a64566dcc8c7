package policy_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestReservedLater: another program makes a repository of git after a plan was made, stored or committed. Changes of
// the repository are refused then: at the commit, when the stored plan is opened, and when the run is undone.
func TestReservedLater(t *testing.T) {
	t.Parallel()
	x := millrace.Executor{State: millrace.State{NoSync: true, Key: bytes.Repeat([]byte("k"), 32)}}
	edit := suite.Edit("gs/config")
	link := func(t *testing.T, dir string) { suite.Link(t, "gs", filepath.Join(dir, ".git")) }
	refused := func(t *testing.T, err error) {
		t.Helper()
		if !errors.Is(err, names.ErrProtected) {
			t.Errorf("error = %v, want ErrProtected", err)
		}
	}
	t.Run("commit", func(t *testing.T) {
		t.Parallel()
		dir, root := suite.Rooted(t, "gs/config", "x\n")
		plan, err := x.Plan(t.Context(), root, edit)
		fstest.Must(t, err)
		link(t, dir)
		_, err = plan.Commit(t.Context())
		refused(t, err)
		if text := suite.Read(t, root, "gs/config"); text != "x\n" {
			t.Errorf("gs/config is %q", text)
		}
	})
	t.Run("commit that completes a repository", func(t *testing.T) {
		t.Parallel()
		dir, root := suite.Rooted(t, "r/a.txt", "x\n")
		plan, err := x.Plan(t.Context(), root, suite.One(actions.Create{Path: "r/refs/x", Content: "x"}))
		fstest.Must(t, err)
		fstest.Must(t, os.WriteFile(filepath.Join(dir, "r/HEAD"), []byte("ref: refs/x\n"), 0o600))
		fstest.Must(t, os.Mkdir(filepath.Join(dir, "r/objects"), 0o700))
		_, err = plan.Commit(t.Context())
		refused(t, err)
	})
	t.Run("stored plan", func(t *testing.T) {
		t.Parallel()
		dir, root := suite.Rooted(t, "gs/config", "x\n")
		plan, err := x.Plan(t.Context(), root, edit)
		fstest.Must(t, err)
		data := suite.Stored(t, plan)
		link(t, dir)
		_, err = x.OpenPlan(t.Context(), root, data)
		refused(t, err)
	})
	t.Run("undo", func(t *testing.T) {
		t.Parallel()
		dir, root := suite.Rooted(t, "gs/config", "x\n")
		res, err := x.Run(t.Context(), root, edit)
		fstest.Must(t, err)
		link(t, dir)
		_, err = x.PlanRestore(t.Context(), root, res.BackupID)
		refused(t, err)
	})
}
