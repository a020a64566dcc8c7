package millracetemporal

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/runs"
)

var (
	_ runs.Manager    = Client{}
	_ runs.JobManager = jobManager{}
)

// Create implements [runs.Manager]: it starts a campaign with a new id on the targets of the project, see
// Client.Targets. A variable of the type file is an error, because a fleet has no directory that all of its machines
// share.
func (c Client) Create(ctx context.Context, create runs.CreateParams) (runs.Run, error) {
	if err := c.Check(); err != nil {
		return runs.Run{}, err
	}
	if create.Project != "" && create.Project != c.project() {
		return runs.Run{}, &errorform.FieldError{Field: "Create.Project", Value: short(create.Project, 100),
			Reason: "this client is for project " + c.project()}
	}
	p, ref := create.Pipeline, create.Pipeline.Name()
	if create.Ref != "" {
		if p.Len() > 0 {
			return runs.Run{}, &errorform.FieldError{Field: "Create.Ref", Value: short(create.Ref, 100),
				Reason: "there is a Pipeline too: give one of both"}
		}
		if c.Library == nil {
			return runs.Run{}, &errorform.FieldError{Field: "Create.Ref", Value: short(create.Ref, 100),
				Reason: "this client has no library: give a Pipeline"}
		}
		var err error
		if p, err = c.Library.Load(ctx, create.Ref); err != nil {
			return runs.Run{}, err
		}
		ref = create.Ref
	}
	sha := p.Digest()
	p, err := runs.WithVariables(p, create.Variables, func(v runs.Variable) (string, error) {
		return "", &errorform.FieldError{Field: "Create.Variables", Value: short(v.Key, 100),
			Reason: "a variable of the type file needs a directory that all machines share"}
	})
	if err != nil {
		return runs.Run{}, err
	}
	targets := fleet.Targets(fleet.Target{ID: c.project(), Root: c.project()})
	if c.Targets != nil {
		targets = c.Targets(c.project())
	}
	id, err := newID()
	if err != nil {
		return runs.Run{}, err
	}
	m := memo{Ref: ref, SHA: sha, Name: p.Name(), User: cmp.Or(create.User, c.User), Source: create.Source}
	for _, v := range create.Variables {
		m.Keys = append(m.Keys, v.Key)
	}
	s, err := c.prepare(ctx, fleet.Campaign{ID: id, Pipeline: p}, targets)
	if err == nil {
		err = c.begin(ctx, s, m, enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
			time.Until(create.StartAt))
	}
	if err != nil {
		return runs.Run{}, err
	}
	return c.created(ctx, id)
}

// created returns a run as the server has it. No worker has reported its progress yet.
func (c Client) created(ctx context.Context, id string) (runs.Run, error) {
	r, _, err := c.describe(ctx, runs.RunRef{ID: id})
	return r, err
}

// newID returns the id of a new campaign: later ids are greater.
func newID() (string, error) {
	random := make([]byte, 6)
	if _, err := rand.Read(random); err != nil {
		return "", err
	}
	return time.Now().UTC().Format("20060102T150405") + "-" + hex.EncodeToString(random), nil
}

// Retry implements [runs.Manager]: the campaign starts again under its id. Committed targets are Replayed.
func (c Client) Retry(ctx context.Context, ref runs.RunRef) (runs.Run, error) {
	r, m, err := c.describe(ctx, ref)
	if err == nil {
		err = r.Check(runs.VerbRetry)
	}
	if err != nil {
		return runs.Run{}, err
	}
	s, err := get[state](ctx, c.Blobs, m.State)
	if err != nil {
		return runs.Run{}, err
	}
	if err := c.begin(ctx, s, m, enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY, 0); err != nil {
		return runs.Run{}, err
	}
	return c.created(ctx, r.ID)
}

// Cancel implements [runs.Manager]. The current targets are stopped; the run ends when they have stopped.
func (c Client) Cancel(ctx context.Context, ref runs.RunRef) (runs.Run, error) {
	r, _, err := c.describe(ctx, ref)
	if err == nil {
		err = r.Check(runs.VerbCancel)
	}
	if err == nil {
		err = c.Stop(ctx, r.ID)
	}
	if err != nil {
		return runs.Run{}, err
	}
	return c.created(ctx, r.ID)
}

// JobManager returns the [runs.JobManager] of the client: a type of its own, because both interfaces have a Retry and a
// Cancel.
func (c Client) JobManager() runs.JobManager { return jobManager{c} }

type jobManager struct{ c Client }

// Play continues a campaign that is held at its gate, the job "<campaign>/commit".
func (m jobManager) Play(ctx context.Context, ref runs.JobRef, p runs.PlayParams) (runs.Job, error) {
	if p.Force || len(p.Variables) > 0 || len(p.Leave) > 0 {
		return runs.Job{}, errors.New(
			"a campaign cannot be played with force or variables, or in part: create a new run")
	}
	return m.decide(ctx, ref, runs.VerbPlay, func(campaign string, _ int) error {
		_, err := m.c.Play(ctx, campaign, p.PlanDigest)
		return err
	})
}

// Retry starts a target again. If the campaign has ended, the campaign starts again: all committed targets are
// Replayed.
func (m jobManager) Retry(ctx context.Context, ref runs.JobRef) (runs.Job, error) {
	return m.decide(ctx, ref, runs.VerbRetry, func(campaign string, index int) error {
		r, _, err := m.c.describe(ctx, runs.RunRef{ID: campaign})
		switch {
		case err != nil:
			return err
		case r.Status.Ended():
			_, err = m.c.Retry(ctx, r.Ref())
		default:
			_, err = m.c.RetryTargets(ctx, campaign, index)
		}
		return err
	})
}

// Cancel stops the work on one target, or prevents its start.
func (m jobManager) Cancel(ctx context.Context, ref runs.JobRef) (runs.Job, error) {
	return m.decide(ctx, ref, runs.VerbCancel, func(campaign string, index int) error {
		_, err := m.c.CancelTarget(ctx, campaign, index)
		return err
	})
}

// decide applies an operation to a job. If the campaign refuses because of its state, the error is a *runs.StateError.
func (m jobManager) decide(ctx context.Context, ref runs.JobRef, verb runs.Verb,
	do func(campaign string, index int) error) (runs.Job, error) {
	job, index, _, err := m.c.job(ctx, ref)
	if err != nil {
		return runs.Job{}, err
	}
	e := &runs.StateError{Verb: verb, What: runs.ThingJob, ID: job.ID, Status: job.Status, Step: job.Name}
	if (job.Kind == runs.JobCommit) != (verb == runs.VerbPlay) {
		return runs.Job{}, e
	}
	err = do(job.Run, index)
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok && app.Type() == refusedState {
		e.Reason = app.Message()
		return runs.Job{}, e
	}
	if err != nil {
		return runs.Job{}, err
	}
	job, _, _, err = m.c.job(ctx, ref)
	return job, err
}
