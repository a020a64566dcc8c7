package millracetemporal

import (
	"context"
	"testing"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"github.com/millrace-go/millrace/fleet"
)

// A cancellation ends a campaign also when it is time to continue as new: no target starts after it.
func TestCancelAtEndOfPage(t *testing.T) {
	t.Parallel()
	for _, gate := range []bool{false, true} {
		f, targets, w, c := plant(t, 6)
		var env *testsuite.TestWorkflowEnvironment
		f.open = func(ctx context.Context, target fleet.Target) error {
			if target.Root != "t01" {
				return nil
			}
			env.CancelWorkflow()
			<-ctx.Done()
			return context.Cause(ctx)
		}
		s := begun(t, c, targets, func(s *settings) { s.Parallel, s.Page, s.Gate = 1, 2, gate })
		p, runs, err := finish(t, w, s, func(e *testsuite.TestWorkflowEnvironment, _ int) { env = e })
		if err != nil || runs != 1 || p.Phase != PhaseDone || p.Sum.Stopped != "canceled" ||
			p.Sum.Success+p.Sum.Canceled+p.Sum.Skipped != 6 {
			t.Errorf("gate %v: %+v, %d runs, %v", gate, p, runs, err)
		}
		if got := f.texts(t); got != map[bool]string{false: "y x x x x x", true: "x x x x x x"}[gate] {
			t.Errorf("gate %v: %s", gate, got)
		}
	}
	// The cancellation can come while the outcomes are stored.
	f, targets, w, c := plant(t, 6)
	s := begun(t, c, targets, func(s *settings) { s.Page = 2 })
	p, runs, err := finish(t, w, s, func(env *testsuite.TestWorkflowEnvironment, run int) {
		env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
			if run == 1 && info.ActivityType.Name == collectActivity {
				env.CancelWorkflow()
			}
		})
	})
	if err != nil || runs != 1 || p.Sum.Success != 2 || p.Sum.Skipped != 4 || f.texts(t) != "y y x x x x" {
		t.Errorf("%+v, %d runs, %v, %s", p, runs, err, f.texts(t))
	}
}
