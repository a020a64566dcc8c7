//go:build linux

package hostile_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/journal"
)

// TestHostile_all_that_can_be_found_of_a_transaction checks every state of a transaction that a process can leave: the
// report of Inspect, which changes nothing, and the work of Recover.
func TestHostile_all_that_can_be_found_of_a_transaction(t *testing.T) {
	t.Parallel()
	inPlan := func(change func(data []byte) []byte) func(t *testing.T, tx string) {
		return func(t *testing.T, tx string) {
			t.Helper()
			data, err := os.ReadFile(filepath.Join(tx, "plan"))
			must(t, err, os.WriteFile(filepath.Join(tx, "plan"), change(data), 0o600))
		}
	}
	none := func(*testing.T, string) {}
	const notMarked = `^rename T/done$`
	for _, tt := range []struct {
		point
		files  []string // the files "done", "plan" and "plan.tmp" that exist
		harm   func(t *testing.T, tx string)
		status backup.LeftoverStatus
		reason journal.Reason // of a suspicious transaction, "" if the plan is not the reason
	}{
		{point{name: "neither plan nor done", at: `^phase backup`}, nil, none, backup.LeftoverUntouched, ""},
		{point{name: "plan.tmp only", at: `^rename T/plan$`}, []string{"plan.tmp"}, none, backup.LeftoverUntouched, ""},
		{point{name: "done", after: notMarked, at: `^syncdir T$`, isNew: true},
			[]string{"done"}, none, backup.LeftoverCommitted, ""},
		{point{name: "done, half cleaned", after: `^phase clean`, at: `^remove T/new$`, isNew: true},
			[]string{"done"}, none, backup.LeftoverCommitted, ""},
		{point{name: "plan, nothing applied", at: `^phase apply`}, []string{"plan"}, none, backup.LeftoverInterrupted, ""},
		{point{name: "plan, half applied", after: `^exchange [a-z]`, at: `^exchange [a-z]`},
			[]string{"plan"}, none, backup.LeftoverInterrupted, ""},
		{point{name: "plan, all applied", at: notMarked}, []string{"plan"}, none, backup.LeftoverInterrupted, ""},
		{point{name: "plan with a wrong sum", at: notMarked}, []string{"plan"}, inPlan(func(d []byte) []byte {
			return bytes.Replace(d, []byte(`"edit"`), []byte(`"kept"`), 1)
		}), backup.LeftoverSuspicious, journal.BadChecksum},
		{point{name: "plan with another's signature", at: notMarked}, []string{"plan"}, func(t *testing.T, tx string) {
			t.Helper()
			inPlan(func(d []byte) []byte { return resigned(t, d, []byte("another key")) })(t, tx)
		}, backup.LeftoverSuspicious, journal.BadKey},
		{point{name: "plan of a newer version", at: notMarked}, []string{"plan"}, inPlan(func(d []byte) []byte {
			return bytes.Replace(d, []byte("plan 1\n"), []byte("plan 2\n"), 1)
		}), backup.LeftoverSuspicious, journal.BadVersion},
		{point{name: "plan in another directory", at: notMarked}, []string{"plan"}, func(t *testing.T, tx string) {
			t.Helper()
			must(t, os.Rename(tx, tx+"0"), os.CopyFS(tx, os.DirFS(tx+"0")), os.RemoveAll(tx+"0"))
		}, backup.LeftoverSuspicious, journal.BadIdentity},
		{point{name: "plan and done", at: notMarked}, []string{"done", "plan"}, func(t *testing.T, tx string) {
			t.Helper()
			must(t, os.Link(filepath.Join(tx, "plan"), filepath.Join(tx, "done")))
		}, backup.LeftoverSuspicious, ""},
		{point{name: "a file in place of the directory", at: notMarked}, nil, func(t *testing.T, tx string) {
			t.Helper()
			must(t, os.RemoveAll(tx), os.WriteFile(tx, nil, 0o600))
		}, backup.LeftoverSuspicious, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := fstest.TempDir(t)
			everything(t, dir)
			old := treeOf(t, dir, exact)
			if r := (diskJob{Dir: dir, Pipeline: "everything", Sigkill: tt.at, SigkillAfter: tt.after}).start(t); !r.Killed {
				t.Fatalf("it was not killed: %+v", r)
			}
			list, err := filepath.Glob(filepath.Join(dir, stateName, "tx/*"))
			if err != nil || len(list) != 1 {
				t.Fatalf("left over are %v, %v", list, err)
			}
			tx := list[0]
			tt.harm(t, tx)
			var files []string
			for _, name := range []string{"done", "plan", "plan.tmp"} {
				if _, err := os.Lstat(filepath.Join(tx, name)); err == nil {
					files = append(files, name)
				}
			}
			if !slices.Equal(files, tt.files) {
				t.Fatalf("there are %v, want %v", files, tt.files)
			}
			inspected(t, dir, filepath.Base(tx), tt.status, tt.reason)
			if tt.status == backup.LeftoverSuspicious {
				suspicious(t, dir, tt.reason)
				return
			}
			settled(t, dir, filepath.Base(tx), old, tt.status)
		})
	}
}

// inspected checks the report of Inspect about the leftover.
func inspected(t *testing.T, dir, id string, status backup.LeftoverStatus, reason journal.Reason) {
	t.Helper()
	before := treeOf(t, dir, exact|private)
	watching := &opHook{before: func(event string) error {
		t.Errorf("Inspect does this: %s", event)
		return nil
	}}
	found, err := host().Inspect(t.Context(), watching.wrap(openDir(t, dir)))
	must(t, err)
	sameTree(t, "inspected", dir, before, exact|private)
	if len(found.Leftovers) != 1 || len(found.Conflicts) > 0 || found.Clean() ||
		found.Blocked() != (status == backup.LeftoverSuspicious) {
		t.Fatalf("found %+v", found)
	}
	l := found.Leftovers[0]
	if l.ID != id || l.Directory != stateName+"/tx/"+id || l.Status != status ||
		!strings.Contains(l.Reason, string(reason)) ||
		(l.Reason != "") != (status == backup.LeftoverSuspicious) {
		t.Errorf("found %+v", l)
	}
	known := status == backup.LeftoverInterrupted || status == backup.LeftoverCommitted
	if slices.Contains(l.Paths, "edit") != known || (l.Pipeline == "hostile") != known {
		t.Errorf("found %+v", l)
	}
}

// suspicious checks that Recover and Run touch nothing before a user looks at the transaction.
func suspicious(t *testing.T, dir string, reason journal.Reason) {
	t.Helper()
	if reason != "" {
		refused(t, string(reason), dir, reason)
		return
	}
	before := treeOf(t, dir, exact|private)
	_, err := host().Recover(t.Context(), openDir(t, dir))
	failedAs(t, err, millrace.CommitPending, commit.ErrRecoveryRequired)
	_, err = host().Run(t.Context(), openDir(t, dir), altering(put("other", "x")))
	failedAs(t, err, millrace.CommitPending, commit.ErrRecoveryRequired)
	sameTree(t, "suspicious", dir, before, exact|private)
}

// settled runs Recover and checks its result and the order of its operations.
func settled(t *testing.T, dir, id string, old map[string]string, status backup.LeftoverStatus) {
	t.Helper()
	var events []string
	h := &opHook{before: func(event string) error {
		events = append(events, event)
		return nil
	}}
	r, err := millrace.Executor{}.Recover(t.Context(), h.wrap(openDir(t, dir)))
	must(t, err)
	index := func(prefix string) int {
		return slices.IndexFunc(events, func(e string) bool { return strings.HasPrefix(e, prefix) })
	}
	switch status {
	case backup.LeftoverCommitted:
		if !slices.Equal(r.Finished, []string{id}) || len(r.RolledBack) > 0 {
			t.Errorf("recovery %+v", r)
		}
		// The process that made the mark may have died before the mark was durable.
		if synced, moved := index("syncdir T"), index("rename "+stateName+"/backups/"); synced < 0 || moved < synced {
			t.Errorf("the mark is not made durable first: %q", events)
		}
		if list, err := host().ListBackups(t.Context(), openDir(t, dir)); err != nil || len(list) != 1 || list[0].ID != id {
			t.Errorf("backups %+v, %v", list, err)
		}
	case backup.LeftoverInterrupted, backup.LeftoverUntouched:
		if !slices.Equal(r.RolledBack, []string{id}) || len(r.Finished) > 0 {
			t.Errorf("recovery %+v", r)
		}
		sameTree(t, "recovered", dir, old, exact)
		plan := slices.Index(events, "remove T/plan")
		before := slices.Index(events, "remove T/old/00")
		if status == backup.LeftoverInterrupted && (plan < 0 || before < plan) {
			t.Errorf("files that the plan needs are removed before the plan: %q", events)
		}
	default:
		t.Errorf("status %q", status)
	}
	found, err := host().Inspect(t.Context(), openDir(t, dir))
	if err != nil || !found.Clean() {
		t.Errorf("left over: %+v, %v", found, err)
	}
	again, err := host().Recover(t.Context(), openDir(t, dir))
	if err != nil || len(again.Finished)+len(again.RolledBack) > 0 {
		t.Errorf("a second recovery: %+v, %v", again, err)
	}
	if _, err := os.Stat(filepath.Join(dir, stateName, "tx")); err == nil && status != backup.LeftoverCommitted {
		t.Error("the directory for transactions is left")
	}
}

// TestHostile_inspect_finds_nothing inspects a clean tree, and a tree with a link in place of the state directory.
func TestHostile_inspect_finds_nothing(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, b *backend) {
		before := b.snapshot(t)
		found, err := host().Inspect(t.Context(), b.fs)
		if err != nil || !found.Clean() || found.Blocked() {
			t.Errorf("found %+v, %v", found, err)
		}
		b.unchanged(t, before)
	})
	dir := fstest.TempDir(t)
	must(t, os.Symlink("/etc", filepath.Join(dir, stateName)))
	if _, err := host().Inspect(t.Context(), openDir(t, dir)); !errors.Is(err, commit.ErrControlDir) {
		t.Errorf("a link in place of the state directory: %v", err)
	}
}
