package recovery_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// inspect also checks that the Inspection is the same after JSON.
func inspect(t *testing.T, fsys afero.Fs) *millrace.Inspection {
	t.Helper()
	found, err := millrace.Executor{}.Inspect(t.Context(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(found)
	var again millrace.Inspection
	if err == nil {
		err = json.Unmarshal(data, &again)
	}
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(found, &again); d != "" {
		t.Errorf("as JSON it differs (-want +got):\n%s", d)
	}
	return found
}

// allFiles returns a file system with its state directory as text, to compare.
func allFiles(t *testing.T, fsys afero.Fs) string {
	t.Helper()
	files, err := txtarfs.Read(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return txtarfs.Format(files)
}

func TestInspectNothing(t *testing.T) {
	for name, open := range suite.Backends() {
		t.Run(name, func(t *testing.T) {
			fsys := open(t)
			suite.ThreeFiles(t, fsys)
			for _, fsys := range []afero.Fs{fsys, afero.NewReadOnlyFs(fsys)} {
				if found := inspect(t, fsys); !found.Clean() || found.Blocked() {
					t.Errorf("in a fresh tree: %+v", found)
				}
			}
			if ok, _ := afero.Exists(fsys, ".millrace"); ok {
				t.Error("the state directory was made")
			}
			if _, err := millrace.Run(t.Context(), fsys, suite.Edit("a.txt")); err != nil {
				t.Fatal(err)
			}
			if found := inspect(t, fsys); !found.Clean() {
				t.Errorf("after a run: %+v", found)
			}
		})
	}
}

// TestInspectErrors: only a wrong call or a bad state directory is an error.
func TestInspectErrors(t *testing.T) {
	if _, err := (millrace.Executor{}).Inspect(t.Context(), nil); !errors.Is(err, millrace.ErrNoFs) {
		t.Errorf("on nil: %v", err)
	}
	for name, open := range suite.Backends() {
		t.Run(name, func(t *testing.T) {
			fsys := open(t)
			suite.ThreeFiles(t, fsys)
			if err := afero.WriteFile(fsys, ".millrace", []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
			refused(t, fsys, millrace.ErrStateDir)
		})
	}
}

// refused checks that Inspect returns that error and that nothing is written as long as it does.
func refused(t *testing.T, fsys afero.Fs, want error) {
	t.Helper()
	before := allFiles(t, fsys)
	if found, err := (millrace.Executor{}).Inspect(t.Context(), fsys); !errors.Is(err, want) {
		t.Errorf("Inspect: %+v, %v", found, err)
	}
	blocked(t, fsys, want)
	if d := cmp.Diff(before, allFiles(t, fsys)); d != "" {
		t.Errorf("something was written (-before +after):\n%s", d)
	}
}

// blocked checks that everything that writes is refused, and that a dry run still works. The refusal is that error, and
// not a *CommitError; if want is nil, it is a *CommitError.
func blocked(t *testing.T, fsys afero.Fs, want error) {
	t.Helper()
	var x millrace.Executor
	plan, err := x.Plan(t.Context(), fsys, suite.Edit("c.txt"))
	if err != nil || plan.Result().TotalEdits != 1 || plan.Diff() == "" {
		t.Fatalf("a dry run fails: %v", err)
	}
	if res, err := (millrace.Executor{DryRun: true}).Run(t.Context(), fsys, suite.Edit("c.txt")); err != nil || res.TotalEdits != 1 {
		t.Errorf("a dry run fails: %v", err)
	}
	writes := map[string]func() error{
		"Recover": func() error { _, err := x.Recover(t.Context(), fsys); return err },
		"Run":     func() error { _, err := x.Run(t.Context(), fsys, suite.Edit("c.txt")); return err },
		"Commit":  func() error { _, err := plan.Commit(t.Context()); return err },
	}
	for name, do := range writes {
		err := do()
		failed, ok := errors.AsType[*millrace.CommitError](err)
		if want != nil && (ok || !errors.Is(err, want)) || want == nil && (!ok || failed.State != millrace.CommitPending) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestInspectInMemory finds the remains of a failed rollback, on the file system and through a read-only view of it.
func TestInspectInMemory(t *testing.T) {
	disk := errorfs.Wrap(afero.NewMemMapFs(), nil)
	files := suite.ThreeFiles(t, disk)
	if _, err := millrace.Run(t.Context(), suite.BreakAfter(disk, ""), suite.Edit("a.txt", "b.txt", "c.txt")); err == nil {
		t.Fatal("it did not fail")
	}
	before := allFiles(t, disk)
	for _, fsys := range []afero.Fs{disk, afero.NewReadOnlyFs(disk)} {
		found := inspect(t, fsys)
		if len(found.Leftovers) != 1 || found.Clean() || found.Blocked() {
			t.Fatalf("found %+v", found)
		}
		l := found.Leftovers[0]
		want := backup.Leftover{
			ID: l.ID, Directory: ".millrace/tx/" + l.ID, Status: backup.LeftoverInterrupted, Pipeline: "edit", Paths: []string{"a.txt", "b.txt", "c.txt"},
		}
		if d := cmp.Diff(want, l); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	}
	if d := cmp.Diff(before, allFiles(t, disk)); d != "" {
		t.Errorf("something was written (-before +after):\n%s", d)
	}
	if _, err := (millrace.Executor{}).Recover(t.Context(), disk); err != nil {
		t.Fatal(err)
	}
	suite.CheckTree(t, "after the recovery", disk, files)
	if found := inspect(t, disk); !found.Clean() {
		t.Errorf("after the recovery: %+v", found)
	}
}

// TestInspectConflict finds the texts that are kept for the user when another program has written to a file before the
// recovery.
func TestInspectConflict(t *testing.T) {
	disk := errorfs.Wrap(afero.NewMemMapFs(), nil)
	suite.ThreeFiles(t, disk)
	if _, err := millrace.Run(t.Context(), suite.BreakAfter(disk, ""), suite.Edit("a.txt", "b.txt", "c.txt")); err == nil {
		t.Fatal("it did not fail")
	}
	if err := afero.WriteFile(disk, "a.txt", []byte("by hand\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := (millrace.Executor{}).Recover(t.Context(), disk); err == nil {
		t.Fatal("the recovery does not report a conflict")
	}
	before := allFiles(t, disk)
	found := inspect(t, disk)
	if len(found.Leftovers) != 0 || len(found.Conflicts) != 1 || found.Clean() || found.Blocked() {
		t.Fatalf("found %+v", found)
	}
	c := found.Conflicts[0]
	if c.Status != backup.LeftoverConflict || c.Directory != ".millrace/conflicts/"+c.ID || c.Pipeline != "edit" || len(c.Paths) != 3 || c.Reason != "" {
		t.Errorf("conflict %+v", c)
	}
	if ok, err := afero.DirExists(disk, c.Directory); !ok || err != nil {
		t.Errorf("no directory %s: %v", c.Directory, err)
	}
	if d := cmp.Diff(before, allFiles(t, disk)); d != "" {
		t.Errorf("something was written (-before +after):\n%s", d)
	}
	// A kept conflict blocks no run.
	if _, err := millrace.Run(t.Context(), disk, suite.Edit("c.txt")); err != nil {
		t.Error(err)
	}
}

func TestInspectCancelled(t *testing.T) {
	disk := errorfs.Wrap(afero.NewMemMapFs(), nil)
	suite.ThreeFiles(t, disk)
	if _, err := millrace.Run(t.Context(), suite.BreakAfter(disk, ""), suite.Edit("a.txt", "b.txt")); err == nil {
		t.Fatal("it did not fail")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (millrace.Executor{}).Inspect(ctx, disk); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := (millrace.Executor{State: millrace.State{Dir: "../x"}}).Inspect(t.Context(), disk); !errors.Is(err, names.ErrEscape) {
		t.Errorf("a state directory elsewhere: %v", err)
	}
}
