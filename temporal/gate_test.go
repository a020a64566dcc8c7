package millracetemporal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/millracetest"
	"github.com/millrace-go/millrace/runs"
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

// A campaign with a gate starts again: its committed targets are replayed, although their plans fail now. A target
// without a plan runs no step.
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

// Jobs of a held campaign have not begun: their logs have the plans. After Play only the runs count.
func TestGateJobs(t *testing.T) {
	t.Parallel()
	_, s, c := serve(t, 2)
	ctx := t.Context()
	outcome := func(i int, status fleet.Status, message string) report {
		return report{Outcome: fleet.Outcome{Index: i, Status: status, Code: "step_failed", Message: message}}
	}
	head, err := put(ctx, c.Blobs, sheet{Phase: PhasePlanning,
		Outcomes: []report{outcome(0, fleet.Success, ""), outcome(1, fleet.Failed, "no file")}})
	if err != nil {
		t.Fatal(err)
	}
	s.open = &Progress{Campaign: "c", Phase: PhaseHeld, Targets: 2, PlanDigest: "abc", Head: head}
	if err := c.Start(ctx, fleet.Campaign{ID: "c", Pipeline: edit()}, rooted(2)); err != nil {
		t.Fatal(err)
	}
	jobs := func() string {
		list, err := c.Jobs(ctx, runs.RunRef{ID: "c"}, runs.JobFilter{IncludeRetried: true})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, j := range list.Items {
			all = append(all, fmt.Sprintf("%s %s %d %q", j.Name, j.Status, j.Visit, j.Reason))
		}
		return strings.Join(all, ", ")
	}
	const gate = `commit manual 0 "play it with the plan digest abc"`
	if got := jobs(); got != `t00 created 0 "", t01 created 0 "no file", `+gate {
		t.Error(got)
	}
	logs, err := c.Logs(ctx, runs.JobRef{ID: "c/t01"}, runs.LogRange{})
	if err != nil || logs.Trace != "step_failed: no file\n" || logs.Complete {
		t.Errorf("%+v, %v", logs, err)
	}
	p := &s.find("millrace/default/c").p
	p.Phase = PhaseRunning
	if p.Head, err = put(ctx, c.Blobs, sheet{Before: head, Phase: PhaseRunning,
		Outcomes: []report{outcome(0, fleet.Failed, "a reason")}}); err != nil {
		t.Fatal(err)
	}
	if got := jobs(); got != `t00 failed 1 "a reason", t01 created 0 "no file", commit success 0 ""` {
		t.Error(got)
	}
}
