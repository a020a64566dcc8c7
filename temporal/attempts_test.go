package millracetemporal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
)

// spends is an action that costs a dollar.
type spends struct{}

func (spends) Spec() actions.Spec {
	return actions.Spec{Name: "spends", Summary: "spends a dollar", ReadOnly: true}
}

func (spends) Run(_ context.Context, c *actions.Call) (actions.Outcome, error) {
	c.Spend(budget.Dollar)
	return actions.Outcome{}, nil
}

// The cost of earlier attempts comes with their heartbeats.
func TestCostOfAttempts(t *testing.T) {
	t.Parallel()
	for want, change := range map[budget.Cost]func(env *testsuite.TestActivityEnvironment){
		2 * budget.Dollar: func(*testsuite.TestActivityEnvironment) {},
		5 * budget.Dollar: func(env *testsuite.TestActivityEnvironment) {
			env.SetHeartbeatDetails(heartbeat{Step: "a", Spent: 3 * budget.Dollar})
		},
	} {
		f, targets, w, c := plant(t, 1)
		if err := f.trees["t00"].Remove("a.txt"); err != nil { // heartbeats of failures are sent to the end
			t.Fatal(err)
		}
		w.Fleet.Decoder.Actions = actions.Builtin().With(spends{})
		s := begun(t, c, targets, nil)
		p := millrace.New("paid").Step("a", spends{}).Step("b", spends{}).
			Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).MustBuild()
		var err error
		if s.Pipeline, err = put(t.Context(), c.Blobs, p); err != nil {
			t.Fatal(err)
		}
		var suite testsuite.WorkflowTestSuite
		suite.SetLogger(quiet{})
		env := suite.NewTestActivityEnvironment()
		change(env)
		var spent []budget.Cost
		env.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
			var h heartbeat
			if err := details.Get(&h); err != nil {
				t.Error(err)
			}
			spent = append(spent, h.Spent)
		})
		env.RegisterActivityWithOptions(activities{w}.runTarget, activity.RegisterOptions{Name: runTargetActivity})
		in := targetInput{Campaign: "c", Pipeline: s.Pipeline, Targets: s.Targets}
		_, err = env.ExecuteActivity(runTargetActivity, in)
		var app *temporal.ApplicationError
		var r report
		if !errors.As(err, &app) || app.Details(&r) != nil || r.Outcome.Cost != want || len(spent) == 0 ||
			spent[len(spent)-1] != want {
			t.Errorf("%+v, %v, heartbeats %v, want %v", r, err, spent, want)
		}
	}
}

// noPipeline are Blobs that have lost a pipeline.
type noPipeline struct {
	Blobs
	ref string
}

func (b noPipeline) Get(ctx context.Context, ref string) ([]byte, error) {
	if ref == b.ref {
		return nil, fmt.Errorf("blob %s: %w", ref, os.ErrNotExist)
	}
	return b.Blobs.Get(ctx, ref)
}

// The error of an activity that did not reach the worker has the code internal.
func TestCodeOfOtherErrors(t *testing.T) {
	t.Parallel()
	_, targets, w, c := plant(t, 1)
	s := begun(t, c, targets, nil)
	w.Blobs = noPipeline{w.Blobs, s.Pipeline}
	p, _, err := finish(t, w, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if o := all(t, c, p)[0]; o.Code != "internal" || o.Message != "blob "+s.Pipeline+": file does not exist" {
		t.Errorf("%+v", o)
	}
}
