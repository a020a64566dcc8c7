package millracetemporal

import (
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/errorform"
)

// Worker is the configuration of a machine that works on campaigns.
type Worker struct {
	// Fleet runs the targets. The server retries them, so the Retries of Fleet are ignored. With its Store a target
	// resumes if a worker with the same store died, and starts again on every other worker. Workers on several machines
	// need the same Executor.State.Key: without it, a machine does not accept what another has committed.
	Fleet fleet.Worker
	// Blobs must be the Blobs of the clients.
	Blobs Blobs
}

// Register makes a worker of Temporal do campaigns. The error names the field that is not allowed.
func Register(r worker.Registry, w Worker) error {
	switch {
	case w.Fleet.Trees == nil:
		return &errorform.FieldError{Field: "Worker.Fleet.Trees", Value: "nil",
			Reason: "a Trees value is required"}
	case w.Blobs == nil:
		return &errorform.FieldError{Field: "Worker.Blobs", Value: "nil",
			Reason: "Blobs are required, the same as those of the clients"}
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

// WorkerOptions returns options for a worker that processes up to parallel targets at a time, 0 for the default of the
// SDK. All workers of its queue together start up to perSecond targets in a second, 0 for no limit.
func WorkerOptions(parallel int, perSecond float64) worker.Options {
	return worker.Options{
		MaxConcurrentActivityExecutionSize: parallel,
		TaskQueueActivitiesPerSecond:       perSecond,
		MaxHeartbeatThrottleInterval:       8 * time.Second,
		WorkerStopTimeout:                  30 * time.Second,
	}
}
