package hostile_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
)

// TestHostile_another_state_directory_writes_over_no_crashed_commit: a process was killed in a commit, and the next
// executor has another state directory.
func TestHostile_another_state_directory_writes_over_no_crashed_commit(t *testing.T) {
	t.Parallel()
	dir, _ := unfinished(t)
	before := treeOf(t, dir, exact|private)
	x := host()
	x.State.Dir = ".other"
	_, err := x.Run(t.Context(), openDir(t, dir), altering(put("edit", "over it")))
	failed := failedAs(t, err, millrace.CommitPending)
	if !strings.Contains(failed.Error(), stateName+"/tx/") || !strings.Contains(failed.Error(), "State.Dir") {
		t.Errorf("the error does not name the transaction and the fix: %v", failed)
	}
	sameTree(t, "refused", dir, before, exact|private)
	recovered(t, dir)
	_, err = x.Run(t.Context(), openDir(t, dir), altering(put("edit", "after it")))
	must(t, err)
}
