package millracetemporal

import (
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/errorform"
)

// Worker is what a machine does for campaigns.
type Worker struct {
	// Fleet does the targets. The server retries them, so the Retries of Fleet do not count. With its Store a target
	// resumes where a worker with that store has died, and begins anew on every other worker.
	Fleet fleet.Worker
	// Blobs are those of the clients.
	Blobs Blobs
}

// Register makes a worker of Temporal do campaigns. The error names the field that is not allowed.
func Register(r worker.Registry, w Worker) error {
	switch {
	case w.Fleet.Trees == nil:
		return &errorform.FieldError{Field: "Worker.Fleet.Trees", Value: "nil",
			Reason: "there has to be something that opens trees"}
	case w.Blobs == nil:
		return &errorform.FieldError{Field: "Worker.Blobs", Value: "nil",
			Reason: "there have to be some, the same as the clients'"}
	}
	w.Fleet.Retries = -1
	a := activities{w}
	r.RegisterWorkflowWithOptions(runCampaign, workflow.RegisterOptions{Name: campaignWorkflow})
	register := func(name string, do any) { r.RegisterActivityWithOptions(do, activity.RegisterOptions{Name: name}) }
	register(runTargetActivity, a.runTarget)
	register(planTargetActivity, a.planTarget)
	register(collectActivity, a.collect)
	register(approveActivity, a.approve)
	return nil
}

// WorkerOptions are options of a worker that works on so many targets at a time, 0 for as many as the SDK takes, and
// begins so many in a second with all other workers of its queue together, 0 for no limit.
func WorkerOptions(parallel int, perSecond float64) worker.Options {
	return worker.Options{
		MaxConcurrentActivityExecutionSize: parallel,
		TaskQueueActivitiesPerSecond:       perSecond,
		MaxHeartbeatThrottleInterval:       8 * time.Second,
		WorkerStopTimeout:                  30 * time.Second,
	}
}
