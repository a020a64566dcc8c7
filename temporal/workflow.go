package millracetemporal

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/errorform"
)

// campaign is one run of the workflow. It must be deterministic on replay: no clock except that of the workflow, no
// loop over a map.
type campaign struct {
	state
	active   map[int]workflow.CancelFunc // by index; never use it in a loop
	selector workflow.Selector
	wake     workflow.Channel // wakes the selector after a request
	sheet    sheet
	played   bool
}

// runCampaign is the workflow. It returns a Progress, or puts it into the details of its error.
func runCampaign(ctx workflow.Context, s state) (Progress, error) {
	c := &campaign{
		state: s, active: make(map[int]workflow.CancelFunc), selector: workflow.NewSelector(ctx),
		wake: workflow.NewBufferedChannel(ctx, 1),
	}
	c.selector.AddReceive(c.wake, func(ch workflow.ReceiveChannel, _ bool) { ch.Receive(ctx, nil) })
	if c.Began.IsZero() {
		c.Began = workflow.Now(ctx)
		c.Phase = PhaseRunning
		if c.Settings.Gate {
			c.Phase = PhasePlanning
		}
	}
	if err := c.handle(ctx); err != nil {
		return Progress{}, err
	}
	for c.Phase != PhaseDone {
		c.tell(ctx, "")
		switch c.Phase {
		case PhaseHeld:
			if err := c.hold(ctx); err != nil {
				return Progress{}, err
			}
		default:
			whole, err := c.sweep(ctx)
			if err != nil {
				return Progress{}, err
			}
			if !whole {
				c.await(ctx)
				if ctx.Err() != nil {
					continue // a new run would not be canceled: the next sweep skips the rest
				}
				return Progress{}, workflow.NewContinueAsNewError(ctx, campaignWorkflow, c.state)
			}
			if err := c.next(ctx); err != nil {
				return Progress{}, err
			}
		}
	}
	c.await(ctx)
	return c.end(ctx)
}

// await waits until the accepted updates have been answered.
func (c *campaign) await(ctx workflow.Context) {
	apart, _ := workflow.NewDisconnectedContext(ctx)
	_ = workflow.Await(apart, func() bool { return workflow.AllHandlersFinished(apart) }) // cannot be canceled
}

// next goes to the next phase when each target has an outcome in this phase.
func (c *campaign) next(ctx workflow.Context) error {
	switch {
	case c.Phase == PhaseRunning:
		c.Phase = PhaseDone
		return nil
	case ctx.Err() != nil:
		return c.abandon(ctx)
	}
	var a approval
	err := workflow.ExecuteActivity(c.small(ctx), approveActivity, c.Head, c.Count, c.Settings.Page).Get(ctx, &a)
	if err != nil {
		return err
	}
	c.PlanDigest, c.Plans, c.Phase = a.Digest, a.Plans, PhaseHeld
	return nil
}

// hold waits for play.
func (c *campaign) hold(ctx workflow.Context) error {
	ok, err := workflow.AwaitWithTimeout(ctx, c.Settings.HoldFor, func() bool { return c.played })
	switch {
	case ctx.Err() != nil:
		return c.abandon(ctx)
	case err != nil:
		return err
	case !ok:
		return temporal.NewNonRetryableApplicationError(fmt.Sprintf("campaign was not played within %v",
			c.Settings.HoldFor),
			"held", nil, c.progress())
	}
	c.restart()
	return nil
}

// restart forgets the results of the plans, so that the targets themselves can start.
func (c *campaign) restart() {
	c.Phase, c.Next, c.Again, c.Failed, c.Sum = PhaseRunning, 0, nil, nil, fleet.Counts{}
	c.sheet = sheet{Before: c.Head, Phase: c.Phase}
}

// abandon ends a campaign that was canceled before any target started.
func (c *campaign) abandon(ctx workflow.Context) error {
	c.restart()
	c.skip(errorform.Canceled, "not begun: the campaign was canceled")
	c.Phase = PhaseDone
	return c.collect(ctx)
}

// end returns the result of the workflow: an error if targets failed or did not start, so that a campaign with the same
// id can start again.
func (c *campaign) end(ctx workflow.Context) (Progress, error) {
	p := c.progress()
	switch {
	case ctx.Err() != nil:
		c.tell(ctx, "canceled")
		return p, temporal.NewCanceledError(p)
	case c.Sum.Failed > 0 || c.Sum.Canceled > 0 || c.Sum.Stopped != "":
		c.tell(ctx, "failed")
		text := fmt.Sprintf("%d targets: %d failed, %d canceled, %d not begun", c.Count, c.Sum.Failed, c.Sum.Canceled,
			c.Sum.Skipped)
		return p, temporal.NewNonRetryableApplicationError(text, "targets_failed", nil, p)
	}
	c.tell(ctx, "success")
	return p, nil
}

func (c *campaign) progress() Progress {
	return Progress{
		Project: c.Project, Campaign: c.Campaign, Phase: c.Phase, Targets: c.Count, Active: len(c.active), Sum: c.Sum,
		PlanDigest: c.PlanDigest, Book: c.Targets, Head: c.Head,
	}
}

// sweep starts targets, up to Parallel at a time. It ends when all have started, or when it is time to continue as new:
// then it waits for the targets in progress, and whole is false. After a cancellation it skips the rest instead.
func (c *campaign) sweep(ctx workflow.Context) (whole bool, err error) {
	c.sheet = sheet{Before: c.Head, Phase: c.Phase}
	begun := 0
	for {
		full := ctx.Err() == nil &&
			(begun >= c.Settings.Page || workflow.GetInfo(ctx).GetContinueAsNewSuggested())
		for !full && len(c.active) < c.Settings.Parallel {
			index, ok := c.take(ctx)
			if !ok {
				break
			}
			c.begin(ctx, index)
			begun++
			full = begun >= c.Settings.Page
		}
		if len(c.active) == 0 {
			break
		}
		c.selector.Select(ctx) // no need to check ctx: the targets in progress end with it
	}
	if err := c.collect(ctx); err != nil {
		return false, err
	}
	return c.Next >= c.Count && len(c.Again) == 0, nil
}

// take returns the next target to start. If the campaign has a reason to stop, it skips the rest.
func (c *campaign) take(ctx workflow.Context) (index int, ok bool) {
	if code, text := c.stop(ctx); code != "" {
		c.skip(code, text)
		return 0, false
	}
	if len(c.Again) > 0 {
		index, c.Again = c.Again[0].Index, c.Again[1:]
		return index, true
	}
	for ; c.Next < c.Count; c.Next++ {
		at := slices.Index(c.Refused, c.Next)
		if at < 0 {
			c.Next++
			return c.Next - 1, true
		}
		c.Refused = slices.Delete(c.Refused, at, at+1)
		c.sheet.Skipped = append(c.sheet.Skipped,
			skipped{c.Next, c.Next + 1, errorform.Canceled, "not begun: it was canceled"})
		c.Sum.Skipped++
	}
	return 0, false
}

// skip skips the targets that have not started. Targets that were waiting for another attempt keep their outcome.
func (c *campaign) skip(code, text string) {
	for _, f := range c.Again {
		c.count(f.report(), 1)
	}
	c.Again = nil
	if c.Next < c.Count {
		c.sheet.Skipped = append(c.sheet.Skipped, skipped{c.Next, c.Count, code, text})
		c.Sum.Skipped += c.Count - c.Next
		c.Sum.Stopped, c.Next = code, c.Count
	}
}

// stop returns the reason why no more targets start, "" while they start. Limits that only apply to runs do not stop
// plans.
func (c *campaign) stop(ctx workflow.Context) (code, text string) {
	s := c.Settings
	switch {
	case ctx.Err() != nil:
		return errorform.Canceled, "not begun: the campaign was canceled"
	case c.Phase != PhaseRunning:
	case s.StopAfter > 0 && c.Sum.Failed >= s.StopAfter:
		return fleet.CodeStopped, fmt.Sprintf("not begun: %d targets have failed", s.StopAfter)
	case s.Deadline > 0 && workflow.Now(ctx).Sub(c.Began) >= s.Deadline:
		return errorform.DeadlineExceeded, fmt.Sprintf("not begun: the deadline of %v has passed", s.Deadline)
	case s.Budget > 0 && c.Sum.Cost >= s.Budget:
		return errorform.BudgetExceeded, fmt.Sprintf("not begun: the budget of %v is spent", s.Budget)
	}
	return "", ""
}

// begin starts a target.
func (c *campaign) begin(ctx workflow.Context, index int) {
	ctx, cancel := workflow.WithCancel(ctx)
	c.active[index] = cancel
	name := runTargetActivity
	if c.Phase == PhasePlanning {
		name = planTargetActivity
	}
	s := c.Settings
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: s.StartToClose, HeartbeatTimeout: s.Heartbeat, WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2,
			MaximumInterval: time.Minute,
			MaximumAttempts: s.Attempts},
	})
	input := targetInput{Campaign: c.Campaign, Pipeline: c.Pipeline, Targets: c.Targets, Index: index, Plans: c.Plans}
	c.selector.AddFuture(workflow.ExecuteActivity(ctx, name, input), func(f workflow.Future) {
		delete(c.active, index)
		cancel()
		r := outcomeOf(ctx, index, f)
		c.sheet.Outcomes = append(c.sheet.Outcomes, r)
		c.count(r, 1)
	})
}

// collect stores the outcomes and starts a new sheet.
func (c *campaign) collect(ctx workflow.Context) error {
	if len(c.sheet.Outcomes) == 0 && len(c.sheet.Skipped) == 0 {
		return nil
	}
	apart, _ := workflow.NewDisconnectedContext(ctx)
	if err := workflow.ExecuteActivity(c.small(apart), collectActivity, c.sheet).Get(apart, &c.Head); err != nil {
		return err
	}
	c.sheet = sheet{Before: c.Head, Phase: c.Phase}
	return nil
}

// small returns the options of activities that only read and write blobs.
func (c *campaign) small(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 5 * time.Minute,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2,
			MaximumInterval: time.Minute},
	})
}

// tell publishes the state of the campaign for lists of campaigns. State "" means the state of the phase.
func (c *campaign) tell(ctx workflow.Context, state string) {
	if !c.Settings.Attributes {
		return
	}
	apart, _ := workflow.NewDisconnectedContext(ctx)
	// An error means that the server does not know the attribute; then lists do not show it.
	_ = workflow.UpsertTypedSearchAttributes(apart, stateAttribute().ValueSet(cmp.Or(state, string(statusOf(c.Phase)))))
}
