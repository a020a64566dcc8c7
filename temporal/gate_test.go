package millracetemporal

import (
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/millracetest"
)

// played runs a campaign with a gate, and plays it when it is held.
func played(t *testing.T, w Worker, s state) Progress {
	t.Helper()
	p, _, err := finish(t, w, s, func(env *testsuite.TestWorkflowEnvironment, _ int) {
		env.RegisterDelayedCallback(func() {
			env.UpdateWorkflow(playUpdate, "", &asked{t: t}, playInput{})
		}, time.Minute)
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A campaign with a gate starts again: its committed targets are replayed, although there is no plan for them now. A
// target without a plan runs no step.
func TestGateAgain(t *testing.T) {
	t.Parallel()
	f, targets, w, c := plant(t, 3)
	s := begun(t, c, targets, func(s *settings) { s.Gate = true })
	once := millrace.New("once"). // a second run fails, because the file exists
					Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).
					Step("c", actions.Create{Path: "b.txt", Content: "b"}).MustBuild()
	var err error
	if s.Pipeline, err = put(t.Context(), c.Blobs, once); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"t01", "t02"} {
		if err := f.trees[name].Remove("a.txt"); err != nil {
			t.Fatal(err)
		}
	}
	if p := played(t, w, s); p.Sum.Success != 1 || p.Sum.Failed != 2 || f.texts(t) != "y - -" {
		t.Errorf("%+v, %s", p.Sum, f.texts(t))
	}
	millracetest.Plant(t, f.trees["t02"], "-- a.txt --\nx\n")
	p := played(t, w, s)
	if p.Sum.Success != 2 || p.Sum.Replayed != 1 || p.Sum.Failed != 1 || f.texts(t) != "y - y" {
		t.Errorf("%+v, %s", p.Sum, f.texts(t))
	}
	const message = "its plan has failed, so that it was not approved"
	if o := all(t, c, p)[1]; o.Code != fleet.CodePlanChanged || o.Message != message {
		t.Errorf("%+v", o)
	}
}
