package millracetemporal

import (
	"fmt"
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// handle answers queries and updates. The validator of an update refuses it before it is part of the history; otherwise
// the update takes effect immediately.
func (c *campaign) handle(ctx workflow.Context) error {
	if err := workflow.SetQueryHandler(ctx, progressQuery,
		func() (Progress, error) { return c.progress(), nil }); err != nil {
		return err
	}
	err := workflow.SetUpdateHandlerWithOptions(ctx, playUpdate, func(workflow.Context, playInput) (Progress, error) {
		c.played = true
		return c.progress(), nil
	}, workflow.UpdateHandlerOptions{Validator: c.mayPlay})
	if err != nil {
		return err
	}
	err = workflow.SetUpdateHandlerWithOptions(ctx, retryUpdate,
		func(_ workflow.Context, in retryInput) (Progress, error) {
			c.retry(in)
			return c.progress(), nil
		}, workflow.UpdateHandlerOptions{Validator: c.mayRetry})
	if err != nil {
		return err
	}
	return workflow.SetUpdateHandlerWithOptions(ctx, cancelTargetUpdate,
		func(_ workflow.Context, in cancelInput) (Progress, error) {
			c.cancelTarget(in.Index)
			return c.progress(), nil
		}, workflow.UpdateHandlerOptions{Validator: c.mayCancel})
}

// refuse returns the reason why an update is refused. The client chooses its error by the type.
func refuse(kind, format string, args ...any) error {
	return temporal.NewNonRetryableApplicationError(fmt.Sprintf(format, args...), kind, nil)
}

// The types of refused updates.
const (
	refusedState = "state"
	refusedPlan  = "plan_digest"
)

func (c *campaign) mayPlay(in playInput) error {
	switch {
	case c.Phase != PhaseHeld || c.played:
		return refuse(refusedState, "it is %s, only held campaigns can be played", c.Phase)
	case in.PlanDigest != "" && in.PlanDigest != c.PlanDigest:
		return refuse(refusedPlan, "the plan has the digest %s, not %.64q", c.PlanDigest, in.PlanDigest)
	}
	return nil
}

func (c *campaign) mayRetry(in retryInput) error {
	if c.Phase != PhaseRunning {
		return refuse(refusedState, "it is %s, targets can be retried while it is running", c.Phase)
	}
	for _, index := range in.Indices {
		if !slices.ContainsFunc(c.Failed, failedAt(index)) {
			return refuse(refusedState, "target %d has not failed", index)
		}
	}
	if len(c.Failed) == 0 {
		return refuse(refusedState, "no target has failed")
	}
	return nil
}

// retry starts failed targets again.
func (c *campaign) retry(in retryInput) {
	indices := in.Indices
	if len(indices) == 0 {
		for _, f := range c.Failed {
			indices = append(indices, f.Index)
		}
	}
	for _, index := range indices {
		if f, ok := c.forget(index); ok {
			c.Again = append(c.Again, f)
		}
	}
	c.wake.SendAsync(nil)
}

func (c *campaign) mayCancel(in cancelInput) error {
	switch {
	case c.Phase != PhaseRunning:
		return refuse(refusedState, "the campaign is %s", c.Phase)
	case in.Index < 0 || in.Index >= c.Count:
		return refuse(refusedState, "the campaign has no target %d", in.Index)
	case c.active[in.Index] == nil && in.Index < c.Next && !slices.ContainsFunc(c.Again, failedAt(in.Index)):
		return refuse(refusedState, "target %d has ended", in.Index)
	}
	return nil
}

// cancelTarget stops a target in progress, or prevents its start.
func (c *campaign) cancelTarget(index int) {
	if cancel := c.active[index]; cancel != nil {
		cancel()
		return
	}
	if at := slices.IndexFunc(c.Again, failedAt(index)); at >= 0 {
		c.Again = slices.Delete(c.Again, at, at+1)
		c.count(canceledAgain(index), 1)
		c.sheet.Outcomes = append(c.sheet.Outcomes, canceledAgain(index))
	} else if !slices.Contains(c.Refused, index) {
		c.Refused = append(c.Refused, index)
	}
}
