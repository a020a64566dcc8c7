package millracetemporal

import (
	"context"
	"errors"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/converter"

	"github.com/millrace-go/millrace/runs"
)

// memo has the facts of a campaign that never change, across all continuations.
type memo struct {
	Name    string    `json:"name"`
	Ref     string    `json:"ref"`
	SHA     string    `json:"sha"`
	User    string    `json:"user,omitempty"`
	Source  string    `json:"source,omitempty"`
	Keys    []string  `json:"variables,omitempty"`
	Created time.Time `json:"created"`
	State   string    `json:"state"` // a blob: the state at the start
}

// memoKey is the key of the memo in the workflow.
const memoKey = "millrace"

func memoOf(m *commonpb.Memo) (found memo) {
	if p := m.GetFields()[memoKey]; p != nil {
		_ = converter.GetDefaultDataConverter().FromPayload(p, &found) // a campaign of another program has none
	}
	return found
}

// runOf returns a campaign as a run.
func (c Client) runOf(info *workflowpb.WorkflowExecutionInfo) runs.Run {
	m := memoOf(info.GetMemo())
	r := runs.Run{
		ID: strings.TrimPrefix(info.GetExecution().GetWorkflowId(), c.workflowID("")), Project: c.project(),
		Name: m.Name, RefName: m.Ref, SHA: m.SHA,
		Source: m.Source, User: m.User, Variables: m.Keys, CreatedAt: m.Created,
		StartedAt: info.GetStartTime().AsTime(), Attempts: 1,
	}
	if r.Source == "" {
		r.Source = runs.SourceAPI
	}
	if r.CreatedAt.IsZero() {
		r.CreatedAt = r.StartedAt
	}
	r.UpdatedAt = r.StartedAt
	if at := info.GetExecutionTime(); at != nil && at.AsTime().After(r.StartedAt) {
		r.StartAt, r.StartedAt = at.AsTime(), at.AsTime()
	}
	if at := info.GetCloseTime(); at != nil {
		r.FinishedAt, r.UpdatedAt = at.AsTime(), at.AsTime()
		r.Duration = max(0, r.FinishedAt.Sub(r.CreatedAt))
	}
	switch info.GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		r.Status = runs.Success
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED:
		r.Status, r.Resumable = runs.Canceled, m.State != ""
	case enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		r.Status, r.Resumable = runs.Failed, m.State != ""
	default:
		r.Status = runs.Running
		var said string
		if p := info.GetSearchAttributes().GetIndexedFields()[stateName]; p != nil &&
			converter.GetDefaultDataConverter().FromPayload(p, &said) == nil && runs.Status(said).Valid() {
			r.Status = runs.Status(said)
		}
		if r.StartAt.After(time.Now()) {
			r.Status, r.StartedAt = runs.Scheduled, time.Time{}
		}
	}
	return r
}

// describe asks the server about the latest run of a campaign.
func (c Client) describe(ctx context.Context, ref runs.RunRef) (runs.Run, memo, error) {
	if err := c.Check(); err != nil {
		return runs.Run{}, memo{}, err
	}
	if ref.Project != "" && ref.Project != c.project() || ref.ID == "" || len(ref.ID) > 255 {
		return runs.Run{}, memo{}, runs.RunNotFound(ref)
	}
	d, err := c.Temporal.DescribeWorkflowExecution(ctx, c.workflowID(ref.ID), "")
	if err != nil {
		return runs.Run{}, memo{}, missing(err, runs.RunNotFound(runs.RunRef{Project: c.project(), ID: ref.ID}))
	}
	info := d.GetWorkflowExecutionInfo()
	return c.runOf(info), memoOf(info.GetMemo()), nil
}

// missing returns the error instead if the workflow is unknown to the server.
func missing(err, instead error) error {
	if _, ok := errors.AsType[*serviceerror.NotFound](err); ok {
		return instead
	}
	return err
}

// asking limits the time for asking an open campaign for its progress: a worker has to answer.
const asking = 10 * time.Second

// progressOf returns the progress of the campaign, or the reason why it is unknown.
func (c Client) progressOf(ctx context.Context, r runs.Run) (Progress, error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	if r.Status.Ended() {
		return c.Wait(ctx, r.ID)
	}
	return c.Progress(ctx, r.ID)
}

// shown adds the campaign's own report to a run.
func (c Client) shown(ctx context.Context, r runs.Run) runs.Run {
	if r.Status == runs.Scheduled {
		return r
	}
	p, err := c.progressOf(ctx, r)
	if err != nil {
		r.Reason = "the campaign cannot be asked how far it is: " + short(err.Error(), 200)
		return r
	}
	s := p.Sum
	r.Summary = &runs.Summary{
		Targets: p.Targets, Success: s.Success, Failed: s.Failed, Skipped: s.Skipped, Canceled: s.Canceled,
		Files: s.Files, Edits: s.Edits,
		Risks: s.Risks,
	}
	if !r.Status.Ended() {
		r.Status = statusOf(p.Phase)
	}
	if p.Phase == PhaseHeld {
		r.Held = &runs.Held{JobID: r.ID + "/" + gateJob, PlanDigest: p.PlanDigest, Files: int(s.Files),
			Edits: int(s.Edits),
			Risk:  s.Risks.Highest()}
		r.Reason = "the plans of all targets wait to be approved"
	}
	if s.Stopped != "" {
		r.Reason = "targets were not begun: " + s.Stopped
	}
	return r
}
