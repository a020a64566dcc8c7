package mcpserver

import (
	"context"

	"github.com/millrace-go/millrace"
)

type applyArgs struct {
	PlanID string `json:"plan_id"`
	Digest string `json:"digest"`
}

// applyPlan commits a plan that was shown. A second call returns the result of the first.
func applyPlan(ctx context.Context, c *call) (*answer, error) {
	var args applyArgs
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	e, err := c.plans.find(args.PlanID)
	if err != nil {
		return nil, err
	}
	if e.plan.Result().Incomplete {
		return nil, millrace.ErrIncomplete
	}
	if args.Digest != e.digest {
		return nil, planError("compare the digest with that of the plan that was shown, or call plan_pipeline again",
			"the digest does not match plan %s: the approved change is not the change that would be written", e.id)
	}
	res, err := e.commit(ctx, c, false)
	if needsForce(err) && c.canAsk() {
		e.render = reported
		return c.ask(e), nil
	}
	return c.rendered(res, err, reported)
}

// commit commits the plan, or returns the result of an earlier commit. It waits for a call that is committing the plan.
func (e *entry) commit(ctx context.Context, c *call, force bool) (*millrace.Result, error) {
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if e.result != nil {
		again := *e.result
		again.Replayed = true
		return &again, e.err
	}
	e.relay.set(c.progress.observe)
	defer e.relay.set(nil)
	plan := e.plan
	if force {
		plan = plan.WithForce(true)
		defer plan.Close() //nolint:errcheck // it gives back what a plan keeps open, and nothing is lost if that fails
	}
	res, err := plan.Commit(ctx)
	if err == nil || millrace.Written(err) {
		e.result, e.err = res, err
		_ = e.plan.Close()
	}
	return res, err
}
