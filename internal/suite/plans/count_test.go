package plans_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/risk"
)

// TestStoredPlanIsJudgedAlike: a change of 700 places has the same risk before and after it is stored, even if a step
// counts it as one edit or as none.
func TestStoredPlanIsJudgedAlike(t *testing.T) {
	t.Parallel()
	const places = 700
	var before, after, hunk strings.Builder
	fmt.Fprintf(&hunk, "--- a/f\n+++ b/f\n@@ -1,%d +1,%d @@\n", 2*places, 2*places)
	for i := range places {
		fmt.Fprintf(&before, "same %d\nold %d\n", i, i)
		fmt.Fprintf(&after, "same %d\nnew %d\n", i, i)
		fmt.Fprintf(&hunk, " same %d\n-old %d\n+new %d\n", i, i, i)
	}
	for name, step := range map[string]actions.Action{
		"a patch of one hunk":   actions.Patch{Text: hunk.String()},
		"a text over a text":    actions.Create{Path: "f", Content: after.String(), Overwrite: true},
		"edits, one each":       actions.Edit{Files: []string{"f"}, OldText: "old", NewText: "new"},
		"edits by their shape":  actions.Edit{Files: []string{"f"}, OldText: "old :[n]", NewText: "new :[n]", Mode: "structural"},
		"a copy over the file":  actions.Copy{Files: []string{"g"}, To: "f", Overwrite: true},
		"another over the file": actions.Rename{Files: []string{"g"}, To: "f", Overwrite: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := suite.Tree("f", before.String(), "g", after.String())
			x := millrace.Executor{State: millrace.State{NoSync: true}}
			plan, err := x.Plan(t.Context(), fsys, suite.One(step))
			if err != nil {
				t.Fatal(err)
			}
			taken, err := x.OpenPlan(t.Context(), fsys, suite.Stored(t, plan))
			if err != nil {
				t.Fatal(err)
			}
			live, stored := plan.Result(), taken.Result()
			if a, b := suite.JSON(t, live), suite.JSON(t, stored); a != b {
				t.Errorf("the plan reports\n%s\nthe stored plan\n%s", a, b)
			}
			few := name == "a text over a text" || name == "another over the file" // one edit, or none
			if live.OverallRiskLevel < risk.High != few || live.WouldBlock == few {
				t.Errorf("risk %v, would be blocked: %v", live.OverallRiskLevel, live.WouldBlock)
			}
		})
	}
}
