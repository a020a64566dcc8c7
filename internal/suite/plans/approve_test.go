package plans_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/risk"
)

func TestPlanWithForce(t *testing.T) {
	many := strings.Repeat("x\n", 600)
	for name, tt := range map[string]struct {
		x    millrace.Executor
		want bool // whether force helps
	}{
		"risk":    {millrace.Executor{}, true},
		"files":   {millrace.Executor{MaxFiles: 1, Risk: risk.Policy{High: risk.Threshold{Edits: -1}, Critical: risk.Threshold{Edits: -1}}}, true},
		"ceiling": {millrace.Executor{Ceiling: risk.Medium}, false},
	} {
		fsys := suite.Tree("a.txt", many, "b.txt", "x\n")
		plan, err := tt.x.Plan(t.Context(), fsys, suite.Edit("a.txt", "b.txt"))
		if err != nil {
			t.Fatal(err)
		}
		taken, err := tt.x.OpenPlan(t.Context(), fsys, suite.Stored(t, plan.WithForce(true)))
		if err != nil {
			t.Fatal(err)
		}
		for what, p := range map[string]*millrace.Plan{"plan": plan, "unforced": plan.WithForce(true).WithForce(false), "stored": taken.WithForce(false)} {
			if !p.Result().WouldBlock || p.Result().BlockReason == "" {
				t.Errorf("%s, %s is not blocked: %+v", name, what, p.Result())
			}
			if _, err := p.Commit(t.Context()); !suite.Is[*millrace.BlockedError](err) {
				t.Errorf("%s, %s: error = %v", name, what, err)
			}
		}
		forced := plan.WithForce(true)
		if forced.Result().WouldBlock == tt.want || taken.Result().WouldBlock == tt.want {
			t.Errorf("%s: forced %+v, stored %+v", name, forced.Result(), taken.Result())
		}
		one, err := plan.Digest()
		if err != nil {
			t.Fatal(err)
		}
		if two, err := forced.Digest(); two != one || err != nil {
			t.Errorf("%s: digest %s, forced %s, %v", name, one, two, err)
		}
		_, err = forced.Commit(t.Context())
		if tt.want && err != nil || !tt.want && !suite.Is[*millrace.BlockedError](err) {
			t.Errorf("%s, forced: %v", name, err)
		}
	}
	// Force has no effect if a step has failed, or if nothing is written.
	plan, err := millrace.Executor{}.Plan(t.Context(), suite.Tree(), suite.Edit("none"))
	if err == nil {
		t.Fatal("no error")
	}
	if _, again := plan.WithForce(true).Commit(t.Context()); again == nil || again.Error() != err.Error() {
		t.Errorf("error = %v, want %v", again, err)
	}
	plan, err = millrace.Executor{}.Plan(t.Context(), suite.Tree("a", "x"), millrace.New("p").Step("s", actions.Search{Pattern: "x"}).MustBuild())
	if err != nil || plan.WithForce(true).Result().OverallRiskLevel != risk.Unset {
		t.Errorf("%v, %v", plan.WithForce(true).Result(), err)
	}
}

func TestPlanDigest(t *testing.T) {
	x := millrace.Executor{}
	digest := func(text string, p millrace.Pipeline) string {
		t.Helper()
		plan, err := x.Plan(t.Context(), suite.Tree("a.txt", text), p)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := plan.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	base := digest("x\n", suite.Edit("a.txt"))
	if same := digest("x\n", millrace.New("otherwise").Step("o", actions.Create{Path: "a.txt", Content: "y\n", Overwrite: true}).MustBuild()); same != base {
		t.Errorf("equal changes have the digests %s and %s", base, same)
	}
	seen := map[string]string{base: "edit"}
	for name, p := range map[string]millrace.Pipeline{
		"no backup": suite.Edit("a.txt").WithOptions(millrace.Options{NoBackup: true}),
		"other":     millrace.New("p").Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "z"}).MustBuild(),
		"delete":    millrace.New("p").Step("d", actions.Delete{Files: []string{"a.txt"}}).MustBuild(),
		"for good":  millrace.New("p").Step("d", actions.Delete{Files: []string{"a.txt"}, Permanent: true}).MustBuild(),
		"nothing":   millrace.New("p").Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "q", NewText: "z"}).MustBuild(),
	} {
		sum := digest("x\n", p)
		if other, twice := seen[sum]; twice {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[sum] = name
	}
	if from := digest("x\nmore\n", suite.Edit("a.txt")); from == base {
		t.Error("the digest does not depend on the old tree")
	}
	fsys := suite.Tree("a.txt", "x\n", "b.txt", "x\n")
	plan, err := x.Plan(t.Context(), fsys, suite.Edit("a.txt", "b.txt"))
	if err != nil {
		t.Fatal(err)
	}
	less, err := plan.Reject("b.txt")
	if err != nil {
		t.Fatal(err)
	}
	if sum, err := less.Digest(); err != nil || sum != base {
		t.Errorf("without the other file the digest is %s, %v, want %s", sum, err, base)
	}
	if plan, _ = x.Plan(t.Context(), fsys, suite.Edit("none")); plan == nil {
		t.Fatal("no plan")
	}
	if sum, err := plan.Digest(); err == nil || sum != "" {
		t.Errorf("a plan that cannot be committed has the digest %q", sum)
	}
	// On a disk a hash may be computed late, and then the file must be unchanged.
	dir, root := suite.Rooted(t, "a.txt", "x\n")
	if plan, err = x.Plan(t.Context(), root, suite.Edit("a.txt")); err != nil {
		t.Fatal(err)
	}
	own, err := plan.Digest()
	if err != nil || own == base { // own differs by the mode
		t.Errorf("%s, %v", own, err)
	}
	if plan, err = x.Plan(t.Context(), root, suite.Edit("a.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/a.txt", []byte("somebody else's\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if sum, err := plan.Digest(); sum != own && !errors.Is(err, names.ErrDrift) {
		t.Errorf("%s, %v", sum, err)
	}
}
