package plans_test

import (
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/suite"
)

// DryRun applies only to runs: a plan of such a pipeline can be committed.
func TestPlan_dryRunOption(t *testing.T) {
	t.Parallel()
	p, fsys := suite.Edit("a.txt").WithOptions(millrace.Options{DryRun: true}), suite.Tree("a.txt", "x\n")
	before := suite.Read(t, fsys, "a.txt")
	if _, err := millrace.Run(t.Context(), fsys, p); err != nil || suite.Read(t, fsys, "a.txt") != before {
		t.Errorf("a dry run: %v, %q", err, suite.Read(t, fsys, "a.txt"))
	}
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	res, err := plan.Commit(t.Context())
	if err != nil || res.DryRun || suite.Read(t, fsys, "a.txt") == before {
		t.Errorf("%v, %+v, %q", err, res, suite.Read(t, fsys, "a.txt"))
	}
}
