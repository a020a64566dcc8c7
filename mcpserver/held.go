package mcpserver

import (
	"context"
	"fmt"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/runs"
)

// heldRun replaces the id of a plan in the state of a call that plays a job of a run.
const heldRun = "held"

// playKey is the context key of the digest of the plan that a person has approved.
type playKey struct{}

// forcedError reports that a call would play a job with force, which only a person may do.
type forcedError struct {
	job     runs.JobRef
	blocked *millrace.BlockedError
}

func (e *forcedError) Error() string { return e.blocked.Error() }
func (e *forcedError) Unwrap() error { return e.blocked }

// askToPlay asks the person at the client about a run that waits. The answer is bound to the plan for which the run
// waits.
func (c *call) askToPlay(ctx context.Context, forced *forcedError) (*answer, error) {
	if c.cfg.Runs.Browse == nil {
		return nil, forced
	}
	job, err := c.cfg.Runs.Browse.Job(ctx, forced.job)
	if err != nil {
		return nil, err
	}
	run, err := c.cfg.Runs.Browse.Get(ctx, runs.RunRef{Project: job.Project, ID: job.Run})
	if err != nil {
		return nil, err
	}
	if run.Held == nil || run.Held.PlanDigest == "" {
		return nil, forced
	}
	h := run.Held
	text := fmt.Sprintf("Let run %s go on, which changes %d files with %d edits", run.ID, h.Files, h.Edits)
	text += fmt.Sprintf(" (risk %s)? %s\n", h.Risk, visible(run.Reason))
	return asking(text, c.state(heldRun, h.PlanDigest)), nil
}

// playApproved plays the job after the person agreed. A run whose plan has changed since is not played.
func (c *call) playApproved(ctx context.Context, digest string) (*answer, error) {
	if err := c.consent("the run waits on"); err != nil {
		return nil, err
	}
	return runCommand(context.WithValue(ctx, playKey{}, digest), c)
}
