package mcpserver

import (
	"context"

	"github.com/millrace-go/millrace"
)

type applyArgs struct {
	PlanID string `json:"plan_id"`
	Digest string `json:"digest"`
}

// applyPlan commits a plan that was shown. A second call returns what the first one has done.
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
			"the digest is not that of plan %s: what was approved is not what would be written", e.id)
	}
	res, err := e.commit(ctx, c, false)
	if needsForce(err) && c.canAsk() {
		e.render = reported
		return c.ask(e), nil
	}
	return c.rendered(res, err, reported)
}
