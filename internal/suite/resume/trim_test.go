package resume_test

import (
	"context"
	"errors"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/suite"
)

// trimmer leaves out a part of the plan that it approves.
type trimmer struct {
	approver
	trim func(plan *millrace.Plan) (*millrace.Plan, error)
}

// Trim implements [millrace.Trimmer].
func (t *trimmer) Trim(_ context.Context, plan *millrace.Plan) (*millrace.Plan, error) {
	return t.trim(plan)
}

// Approve approves everything.
func (t *trimmer) Approve(context.Context, *millrace.Plan) error { return nil }

// The host can leave out a part of the plan that it approves, and that part is not written. The run commits no other
// plan.
func TestTrim(t *testing.T) {
	t.Parallel()
	failed := errors.New("no")
	other, err := millrace.Executor{}.Plan(t.Context(), suite.Tree("a", "x\n", "b", "x\n"), suite.Edit("a"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, test := range []struct {
		name    string
		trim    func(plan *millrace.Plan) (*millrace.Plan, error)
		a, b    string
		success bool
	}{
		{"all", func(p *millrace.Plan) (*millrace.Plan, error) { return p, nil }, "y\n", "y\n", true},
		{"one", func(p *millrace.Plan) (*millrace.Plan, error) { return p.Reject("a") }, "x\n", "y\n", true},
		{"nothing", func(p *millrace.Plan) (*millrace.Plan, error) { return p.Reject("a", "b") }, "x\n", "x\n", true},
		{"refused", func(*millrace.Plan) (*millrace.Plan, error) { return nil, failed }, "x\n", "x\n", false},
		{"nil", func(*millrace.Plan) (*millrace.Plan, error) { return nil, nil }, "x\n", "x\n", false},
		{"other", func(*millrace.Plan) (*millrace.Plan, error) { return other, nil }, "x\n", "x\n", false},
	} {
		fsys := suite.Tree("a", "x\n", "b", "x\n")
		x := millrace.Executor{Checkpoints: &trimmer{trim: test.trim}}
		res, err := x.Run(t.Context(), fsys, suite.Edit("a", "b"))
		if got := suite.Read(t, fsys, "a") + suite.Read(t, fsys, "b"); got != test.a+test.b || (err == nil) != test.success {
			t.Errorf("%s: the files have %q: %v", test.name, got, err)
		}
		refused := err != nil && err.Error() == "the host has trimmed another plan"
		if refused != (test.name == "nil" || test.name == "other") {
			t.Errorf("%s: %v", test.name, err)
		}
		if n := len(res.FilesChanged.Modified); test.name == "one" && n != 1 {
			t.Errorf("%s: the result has %d files", test.name, n)
		}
	}
}
