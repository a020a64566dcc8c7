package fleet

import (
	"context"
	"fmt"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/fleetlimits"
)

// how is a function that works on an open tree: runs or plans.
type how func(ctx context.Context, w Worker, t Target, x millrace.Executor, fsys afero.Fs,
	p millrace.Pipeline) (res *millrace.Result, digest string, err error)

// runs runs the pipeline.
func runs(ctx context.Context, w Worker, t Target, x millrace.Executor, fsys afero.Fs,
	p millrace.Pipeline) (*millrace.Result, string, error) {
	if w.Store != nil {
		res, err := w.Store.RunTarget(ctx, x, t, fsys, p)
		return res, "", err
	}
	res, err := x.Run(ctx, fsys, p)
	return res, "", err
}

// plans plans the pipeline.
func plans(ctx context.Context, _ Worker, _ Target, x millrace.Executor, fsys afero.Fs,
	p millrace.Pipeline) (*millrace.Result, string, error) {
	x.Checkpoints = nil
	plan, err := x.Plan(ctx, fsys, p)
	if plan == nil {
		return nil, "", err
	}
	defer plan.Close()
	res := plan.Result()
	if err == nil && res.Incomplete {
		err = millrace.ErrIncomplete // the plan of a run would always differ
	}
	if err != nil {
		return res, "", err
	}
	digest, err := plan.Digest()
	return res, digest, err
}

// planChangedError reports that the changes to commit differ from the approved changes. Nothing was written.
type planChangedError struct {
	// Approved and Now are the digests of both plans.
	Approved, Now string
}

// Error names both digests.
func (e *planChangedError) Error() string {
	if e.Approved == fleetlimits.NoPlan {
		return "its plan has failed, so that it was not approved"
	}
	return fmt.Sprintf("the plan is not the approved plan: its digest is %s, not %s. Plan again", e.Now,
		cut(e.Approved, 64))
}

// MarshalJSON returns the code, the message and the paths.
func (e *planChangedError) MarshalJSON() ([]byte, error) { return errorform.Marshal(e.Code(), e) }

// Code returns "plan_changed".
func (e *planChangedError) Code() string { return CodePlanChanged }

// approved allows a run to commit only the plan with that digest. It keeps nothing.
type approved string

// Enter refuses each step if no plan was approved. A committed run has returned its result by then.
func (a approved) Enter(context.Context, millrace.Position) error {
	if a == fleetlimits.NoPlan {
		return &planChangedError{Approved: string(a)}
	}
	return nil
}

// Keep refuses a manual step, which is not entered, if no plan was approved.
func (a approved) Keep(ctx context.Context, c millrace.Checkpoint) error {
	return a.Enter(ctx, c.Position)
}

// Spill returns nil, so the run chooses where it puts bytes aside.
func (approved) Spill() fsutil.Spill { return nil }

// Approve implements [millrace.Approver].
func (a approved) Approve(_ context.Context, plan *millrace.Plan) error {
	now, err := plan.Digest()
	if err == nil && now != string(a) {
		err = &planChangedError{Approved: string(a), Now: now}
	}
	return err
}
