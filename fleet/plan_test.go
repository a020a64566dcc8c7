package fleet_test

import (
	"context"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fleetlimits"
)

// Without an approved plan no step runs, but a committed target is replayed.
func TestNoPlan(t *testing.T) {
	trees, targets := plant(t, 1)
	fsys := trees[targets[0].Root]
	w := fleet.Worker{Trees: trees, Decoder: millrace.Decoder{Actions: actions.Builtin().With(calls{})}}
	p := millrace.New("p").Step("c", calls{}).
		Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).MustBuild()
	called = 0
	refused := task(t, p, targets[0])
	refused.PlanDigest = fleetlimits.NoPlan
	o := w.Do(t.Context(), refused)
	if o.Code != fleet.CodePlanChanged || o.Message != "its plan has failed, so that it was not approved" ||
		called != 0 {
		t.Errorf("%+v, called %d times", o, called)
	}
	manual := task(t, millrace.New("m").Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "z"}).
		Manual().MustBuild(), targets[0])
	manual.PlanDigest = fleetlimits.NoPlan
	if o := w.Do(t.Context(), manual); o.Code != fleet.CodePlanChanged {
		t.Errorf("%+v", o)
	}
	if o := w.Do(t.Context(), task(t, p, targets[0])); o.Status != fleet.Success {
		t.Errorf("%+v", o)
	}
	if o := w.Do(t.Context(), refused); o.Status != fleet.Success || !o.Replayed ||
		called != 1 || text(t, fsys) != "y\n" {
		t.Errorf("%+v, called %d times", o, called)
	}
}

// calls is an action that acts outside of the tree.
type calls struct{}

var called int

func (calls) Spec() actions.Spec {
	return actions.Spec{Name: "calls", Summary: "calls a tool", Outside: true}
}

func (calls) Run(context.Context, *actions.Call) (actions.Outcome, error) {
	called++
	return actions.Outcome{}, nil
}

// A plan without its steps that act outside of the tree cannot be approved.
func TestIncompletePlan(t *testing.T) {
	t.Parallel()
	trees, targets := plant(t, 1)
	w := fleet.Worker{Trees: trees}
	p := millrace.New("calls").Step("c", calls{}).
		Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).MustBuild()
	w.Decoder.Actions = actions.Builtin().With(calls{})
	if o := w.Plan(t.Context(), task(t, p, targets[0])); o.Status != fleet.Failed || o.Code != "incomplete_plan" ||
		o.PlanDigest != "" {
		t.Errorf("%+v", o)
	}
}
