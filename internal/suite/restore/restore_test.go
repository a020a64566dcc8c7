package restore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/backups"
	"github.com/millrace-go/millrace/internal/suite"
)

func text(t *testing.T, fsys afero.Fs, name string) string {
	t.Helper()
	data, err := afero.ReadFile(fsys, name)
	if err != nil {
		t.Error(err)
	}
	return string(data)
}

// lines returns a text whose first and last lines are in separate hunks.
func lines(first, last string) string { return first + "\n" + strings.Repeat("-\n", 20) + last + "\n" }

func edited(t *testing.T, fsys afero.Fs, x millrace.Executor) *millrace.Result {
	t.Helper()
	res, err := x.Run(t.Context(), fsys, millrace.New("edit").
		Step("edit", actions.Edit{Files: []string{"a.txt", "b.txt"}, OldText: "old", NewText: "new"}).
		Step("gone", actions.Delete{Files: []string{"c.txt"}}).MustBuild())
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestPlanRestore_parts undoes one hunk and one file of a commit, then undoes that undo.
func TestPlanRestore_parts(t *testing.T) {
	t.Parallel()
	var x millrace.Executor
	fsys := suite.Tree("a.txt", lines("old", "old"), "b.txt", "old\n", "c.txt", "c\n")
	res := edited(t, fsys, x)
	plan, err := x.PlanRestore(t.Context(), fsys, res.BackupID)
	if err != nil {
		t.Fatal(err)
	}
	if plan, err = plan.RejectHunks("a.txt", 1); err == nil {
		plan, err = plan.Reject("b.txt")
	}
	if err != nil {
		t.Fatal(err)
	}
	want := millrace.FilesChanged{Created: []string{"c.txt"}, Modified: []string{"a.txt"}}
	if diff := cmp.Diff(want, plan.Result().FilesChanged); diff != "" || plan.Result().WouldBlock {
		t.Errorf("blocked %t, changed (-want +got):\n%s", plan.Result().WouldBlock, diff)
	}
	undo, err := plan.Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a, b, c := text(t, fsys, "a.txt"), text(t, fsys, "b.txt"), text(t, fsys, "c.txt"); a != lines("old", "new") || b != "new\n" || c != "c\n" {
		t.Errorf("a %q, b %q, c %q", a, b, c)
	}
	if undo.Restores != res.BackupID || undo.String() != "OK: restored "+res.BackupID+" | 2 files" {
		t.Errorf("result %q of %q", undo, undo.Restores)
	}
	redo, err := x.Restore(t.Context(), fsys, undo.BackupID)
	if err != nil {
		t.Fatal(err)
	}
	if a := text(t, fsys, "a.txt"); a != lines("new", "new") || redo.Restores != undo.BackupID {
		t.Errorf("undone again: %q, %+v", a, redo)
	}
	list, err := x.ListBackups(t.Context(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	took := make(map[string]string)
	for _, info := range list {
		took[info.ID] = info.Restores
	}
	wantTook := map[string]string{res.BackupID: "", undo.BackupID: res.BackupID, redo.BackupID: undo.BackupID}
	if diff := cmp.Diff(wantTook, took); diff != "" {
		t.Errorf("the files that each undid (-want +got):\n%s", diff)
	}
}

// TestPlanRestore_isRestore: a plan of a restore that is committed does the same as Restore. A plan alone writes
// nothing.
func TestPlanRestore_isRestore(t *testing.T) {
	t.Parallel()
	var results []*millrace.Result
	for _, planned := range []bool{false, true} {
		x := millrace.Executor{MaxFiles: 1, RunID: "run"} // a restore neither applies nor stores these
		fsys := suite.Tree("a.txt", "old\n", "b.txt", "old\n", "c.txt", "c\n")
		before := snapshot(t, fsys)
		res := edited(t, fsys, millrace.Executor{})
		after := snapshot(t, fsys)
		plan, err := x.PlanRestore(t.Context(), fsys, res.BackupID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(after, snapshot(t, fsys)); diff != "" {
			t.Fatalf("planning has written:\n%s", diff)
		}
		dry, err := millrace.Executor{DryRun: true}.Restore(t.Context(), fsys, res.BackupID)
		if err != nil || dry.String() != "OK: would restore "+res.BackupID+" | 3 files" {
			t.Errorf("dry: %v, %v", dry, err)
		}
		if diff := cmp.Diff(plan.Result(), dry); diff != "" {
			t.Errorf("the plan reports something else (-plan +dry):\n%s", diff)
		}
		var undone *millrace.Result
		if planned {
			undone, err = plan.Commit(t.Context())
		} else {
			undone, err = x.Restore(t.Context(), fsys, res.BackupID)
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, withoutState(snapshot(t, fsys))); diff != "" {
			t.Errorf("planned %t: not as before (-want +got):\n%s", planned, diff)
		}
		undone.BackupID, undone.Restores, undone.Name, undone.TotalDuration = "", "", "", 0
		results = append(results, undone)
	}
	if diff := cmp.Diff(results[0], results[1]); diff != "" {
		t.Errorf("the results differ (-Restore +Commit):\n%s", diff)
	}
}

// snapshot returns the tree by name, without the stored runs.
func snapshot(t *testing.T, fsys afero.Fs) map[string]string {
	t.Helper()
	files := make(map[string]string)
	raised := afero.NewIOFS(fsys)
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		if data, err := raised.ReadFile(name); err == nil {
			files[name] = string(data)
		}
	}
	for _, dir := range []string{"tx", "backups", "results"} {
		if list, err := afero.ReadDir(fsys, ".millrace/"+dir); err == nil && len(list) > 0 {
			files[".millrace/"+dir] = fmt.Sprint(len(list))
		}
	}
	return files
}

func withoutState(files map[string]string) map[string]string {
	for name := range files {
		if strings.HasPrefix(name, ".millrace") {
			delete(files, name)
		}
	}
	return files
}

// TestPlanRestore_stored: a plan of a restore can be stored. Another host judges it like any plan, and its backup names
// the commit that it undid.
func TestPlanRestore_stored(t *testing.T) {
	t.Parallel()
	var x millrace.Executor
	fsys := suite.Tree("a.txt", "old\n", "b.txt", "old\n", "c.txt", "c\n")
	res := edited(t, fsys, x)
	plan, err := x.PlanRestore(t.Context(), fsys, res.BackupID)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	if strict, err := (millrace.Executor{MaxFiles: 1}).OpenPlan(t.Context(), fsys, stored); err != nil || !strict.Result().WouldBlock {
		t.Errorf("a host with a limit: %v", err)
	}
	forged := []byte(strings.Replace(string(stored), `"restores":"`+res.BackupID, `"restores":"../../x`, 1))
	if _, err := x.OpenPlan(t.Context(), fsys, forged); err == nil || string(forged) == string(stored) {
		t.Errorf("an invalid id: %v", err)
	}
	if plan, err = x.OpenPlan(t.Context(), fsys, stored); err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := x.ListBackups(t.Context(), fsys)
	if err != nil || !slices.ContainsFunc(list, func(i backup.Info) bool { return i.Restores == res.BackupID }) {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestRestore_words: the messages of a restore are about a restore, and not about plans and steps.
func TestRestore_words(t *testing.T) {
	t.Parallel()
	var x millrace.Executor
	fsys := suite.Tree("a.txt", "old\n", "b.txt", "old\n", "c.txt", "c\n")
	res := edited(t, fsys, x)
	if err := afero.WriteFile(fsys, "a.txt", []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	failed, err := x.Restore(t.Context(), fsys, res.BackupID)
	conflict, ok := errors.AsType[*millrace.ConflictError](err)
	if !ok || conflict.Restores != res.BackupID || strings.Contains(err.Error(), "Plan again") || !strings.Contains(err.Error(), "a.txt") ||
		!strings.HasSuffix(err.Error(), "or leave them out") {
		t.Errorf("error %v", err)
	}
	if line := failed.String(); strings.Contains(line, "steps") || !strings.HasPrefix(line, "FAIL: restore "+res.BackupID+" | ") {
		t.Errorf("line %q", line)
	}
	plan, err := x.PlanRestore(t.Context(), fsys, res.BackupID)
	if err == nil {
		plan, err = plan.Reject("a.txt")
	}
	if err != nil {
		t.Fatal(err)
	}
	done, err := plan.Commit(t.Context()) // the way that the error names
	if err != nil {
		t.Fatal(err)
	}
	var report strings.Builder
	if err := done.WriteReport(&report); err != nil || strings.Contains(report.String(), "Step") || !strings.Contains(report.String(), "Files restored: 2") {
		t.Errorf("report %v:\n%s", err, &report)
	}
}

// TestRestore_saysWhatIsNotBack: the report names the files that were deleted for good.
func TestRestore_saysWhatIsNotBack(t *testing.T) {
	t.Parallel()
	var x millrace.Executor
	fsys := suite.Tree("a.txt", "old\n", "c.txt", "c\n")
	res, err := x.Run(t.Context(), fsys, millrace.New("mixed").
		Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "old", NewText: "new"}).
		Step("gone", actions.Delete{Files: []string{"c.txt"}, Permanent: true}).MustBuild())
	if err != nil {
		t.Fatal(err)
	}
	undone, err := x.Restore(t.Context(), fsys, res.BackupID)
	if err != nil || len(undone.Warnings) != 1 || !strings.Contains(undone.Warnings[0], "c.txt") {
		t.Errorf("%+v, %v", undone, err)
	}
}

// TestBackupVerbs_policy: a host that only reads removes nothing, and a dry run only reports the removals.
func TestBackupVerbs_policy(t *testing.T) {
	t.Parallel()
	fsys := suite.Tree("n.txt", "end\n")
	x := millrace.Executor{State: millrace.State{Backups: backup.Retention{Keep: -1}}}
	var ids []string
	for range 3 {
		res, err := x.Run(t.Context(), fsys, suite.Count())
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, res.BackupID)
	}
	one := backup.Retention{Keep: 1}
	dry, err := millrace.Executor{DryRun: true, ReadOnly: true}.PruneBackups(t.Context(), fsys, one)
	if err != nil || len(dry) != 2 {
		t.Errorf("dry: %v, %v", dry, err)
	}
	if err := (millrace.Executor{DryRun: true}).RemoveBackup(t.Context(), fsys, ids[0]); err != nil {
		t.Errorf("dry: %v", err)
	}
	reader := millrace.Executor{ReadOnly: true}
	_, perr := reader.PruneBackups(t.Context(), fsys, one)
	rerr := reader.RemoveBackup(t.Context(), fsys, ids[0])
	if !errors.Is(perr, millrace.ErrReadOnly) || !errors.Is(rerr, millrace.ErrReadOnly) {
		t.Errorf("a host that reads: %v, %v", perr, rerr)
	}
	if err := reader.VerifyBackup(t.Context(), fsys, ids[0]); err != nil {
		t.Errorf("verify: %v", err)
	}
	if list, err := x.ListBackups(t.Context(), fsys); err != nil || len(list) != 3 {
		t.Errorf("left are %+v, %v", list, err)
	}
	for _, no := range []string{"", "..", "20200101_000000_0123456789abcdef"} {
		verr, rerr := x.VerifyBackup(t.Context(), fsys, no), x.RemoveBackup(t.Context(), fsys, no)
		_, lerr := x.PlanRestore(t.Context(), fsys, no)
		if !errors.Is(verr, backup.ErrNotFound) || !errors.Is(rerr, backup.ErrNotFound) || !errors.Is(lerr, backup.ErrNotFound) {
			t.Errorf("%q: %v, %v, %v", no, verr, rerr, lerr)
		}
	}
	image, err := afero.Glob(fsys, ".millrace/backups/"+ids[0]+"/old/00/*")
	if err != nil || len(image) != 1 {
		t.Fatal(image, err)
	}
	if err := afero.WriteFile(fsys, image[0], []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := errors.AsType[*backups.DamagedError](x.VerifyBackup(t.Context(), fsys, ids[0])); !ok {
		t.Error("a damaged backup is verified")
	}
	gone, err := x.PruneBackups(t.Context(), fsys, one)
	if diff := cmp.Diff(dry, gone); err != nil || diff != "" {
		t.Errorf("pruned %v (-dry +got):\n%s", err, diff)
	}
}
