package restore_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/risk"
)

// TestPlanRestore_ownText: a restore is not judged, but a text that a reviewer adds to it is.
func TestPlanRestore_ownText(t *testing.T) {
	t.Parallel()
	fsys := suite.Tree("a.txt", "old\n", "b.txt", "old\n", "c.txt", "c\n")
	res := edited(t, fsys, millrace.Executor{})
	plan, err := millrace.Executor{MaxFiles: 2}.PlanRestore(t.Context(), fsys, res.BackupID)
	if err != nil {
		t.Fatal(err)
	}
	files, err := plan.Files()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(files, func(f millrace.FileDiff) bool { return f.Path == "a.txt" })
	trimmed, err := plan.Revise("a.txt", millrace.Part{Hunk: files[at].Hunks[0]})
	if err != nil {
		t.Fatal(err)
	}
	if r := trimmed.Result(); r.WouldBlock || r.OverallRiskLevel != risk.Unset {
		t.Errorf("a smaller restore: blocked %t, risk %v", r.WouldBlock, r.OverallRiskLevel)
	}
	text := "own\n"
	own, err := plan.Revise("a.txt", millrace.Part{Hunk: files[at].Hunks[0], Text: &text})
	if err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, fsys)
	_, err = own.Commit(t.Context())
	if blocked, ok := errors.AsType[*millrace.BlockedError](err); !ok || blocked.Files != 3 || blocked.Edits != 2 || blocked.Level != risk.Low {
		t.Errorf("a reviewer's text, in more files than the host allows: %+v", err)
	}
	if diff := cmp.Diff(before, snapshot(t, fsys)); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}
