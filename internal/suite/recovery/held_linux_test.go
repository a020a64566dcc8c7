package recovery_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/suite"
)

// openBelow counts the open files of this process at or below the directory. Parallel tests use other directories.
func openBelow(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	n := 0
	for _, e := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(target, dir) {
			n++
		}
	}
	return n
}

// TestNothingStaysOpen: files that a verb has opened are closed when it returns. Files that a plan keeps open are
// closed when the plan is closed or committed, not when the garbage collector runs.
func TestNothingStaysOpen(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	x := millrace.Executor{State: millrace.State{NoSync: true}}
	ctx := t.Context()
	verbs := map[string]func(fsys afero.Fs) error{
		"run": func(fsys afero.Fs) error { _, err := x.Run(ctx, fsys, suite.Edit("a.txt")); return err },
		"dry run": func(fsys afero.Fs) error {
			_, err := millrace.Executor{DryRun: true}.Run(ctx, fsys, suite.Edit("b.txt"))
			return err
		},
		"plan closed": func(fsys afero.Fs) error {
			plan, err := x.Plan(ctx, fsys, suite.Edit("b.txt"))
			return errors.Join(err, plan.Close(), plan.Close())
		},
		"plan committed": func(fsys afero.Fs) error {
			plan, err := x.Plan(ctx, fsys, suite.Edit("b.txt"))
			if err == nil {
				_, err = plan.Commit(ctx)
			}
			return err
		},
		"plan stored": func(fsys afero.Fs) error {
			plan, err := x.Plan(ctx, fsys, suite.Edit("c.txt"))
			if err != nil {
				return err
			}
			data, err := json.Marshal(plan)
			if err = errors.Join(err, plan.Close()); err != nil {
				return err
			}
			again, err := x.OpenPlan(ctx, fsys, data)
			if err == nil {
				err = again.Close()
			}
			return err
		},
		"refused": func(fsys afero.Fs) error {
			_, err := millrace.Executor{State: millrace.State{Dir: ".."}}.Run(ctx, fsys, suite.Edit("a.txt"))
			if err == nil {
				return errors.New("it is not refused")
			}
			return nil
		},
		"recover": func(fsys afero.Fs) error { _, err := x.Recover(ctx, fsys); return err },
		"inspect": func(fsys afero.Fs) error { _, err := x.Inspect(ctx, fsys); return err },
		"backups": func(fsys afero.Fs) error { _, err := x.ListBackups(ctx, fsys); return err },
		"restore, dry": func(fsys afero.Fs) error {
			res, err := x.Run(ctx, fsys, suite.Edit("a.txt"))
			if err == nil {
				_, err = millrace.Executor{DryRun: true}.Restore(ctx, fsys, res.BackupID)
			}
			return err
		},
		"stage": func(fsys afero.Fs) error { return stage.New(fsys).Close() },
	}
	for name, verb := range verbs {
		for what, fsys := range map[string]afero.Fs{"OsFs": afero.NewOsFs(), "BasePathFs": afero.NewBasePathFs(afero.NewOsFs(), dir)} {
			suite.ThreeFiles(t, fsys)
			before := openBelow(t, dir)
			if err := verb(fsys); err != nil {
				t.Errorf("%s on %s: %v", name, what, err)
			}
			if after := openBelow(t, dir); after > before { // the collector may have closed other files
				t.Errorf("%s on %s: %d files are open, %d before", name, what, after, before)
			}
		}
	}
}

// TestPlanClose: a closed plan reports that it is closed. Plans made from it before still work, and a file system that
// the caller has opened stays open.
func TestPlanClose(t *testing.T) {
	dir := t.TempDir()
	fsys := afero.NewBasePathFs(afero.NewOsFs(), dir)
	suite.ThreeFiles(t, fsys)
	plan := func(t *testing.T) *millrace.Plan {
		t.Helper()
		p, err := millrace.Executor{State: millrace.State{NoSync: true}}.Plan(t.Context(), fsys, suite.Edit("a.txt", "b.txt"))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := plan(t)
	part, err := first.Reject("b.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Close(), first.Close()); err != nil {
		t.Fatal(err)
	}
	if len(first.Changes()) != 2 || first.Result().FilesChanged.Count() != 2 {
		t.Error("it has lost its changes")
	}
	if text := first.Diff(); !strings.Contains(text, "closed") {
		t.Errorf("Diff: %q", text)
	}
	for what, use := range map[string]func() error{
		"WriteDiff":   func() error { return first.WriteDiff(io.Discard) },
		"Files":       func() error { _, err := first.Files(); return err },
		"RejectHunks": func() error { _, err := first.RejectHunks("a.txt", 0); return err },
		"MarshalJSON": func() error { _, err := first.MarshalJSON(); return err },
		"Commit":      func() error { _, err := first.Commit(context.Background()); return err },
		"WithForce":   func() error { _, err := first.WithForce(true).Commit(context.Background()); return err },
	} {
		if err := use(); !errors.Is(err, fs.ErrClosed) || !strings.Contains(err.Error(), "plan was closed") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if res, err := part.Commit(t.Context()); err != nil || res.Commit.State != millrace.CommitApplied {
		t.Errorf("the plan made from it before: %v, %v", res, err)
	}
	if _, err := part.Commit(t.Context()); !errors.Is(err, millrace.ErrCommitted) {
		t.Errorf("a second Commit: %v", err)
	}
	if n := openBelow(t, dir); n > 0 {
		t.Errorf("%d files are open", n)
	}

	root := openDir(t, dir)
	given, err := millrace.Executor{}.Plan(t.Context(), root, suite.Edit("b.txt"))
	if err = errors.Join(err, given.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := root.Stat("b.txt"); err != nil {
		t.Errorf("the caller's file system: %v", err)
	}
}
