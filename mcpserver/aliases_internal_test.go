package mcpserver

import (
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/runs"
)

// A failed run is not a canceled run, even if it left no result.
func TestStoppedCode(t *testing.T) {
	for want, run := range map[string]runs.Run{
		"canceled": {Status: runs.Canceled}, "step_failed": {Status: runs.Failed},
		"conflict": {Status: runs.Failed, Result: &millrace.Result{ErrorCode: "conflict"}},
	} {
		if got := stoppedCode(run); got != want {
			t.Errorf("the code of %s is %s, not %s", run.Status, got, want)
		}
	}
}
