package millracetemporal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/fleetlimits"
	"github.com/millrace-go/millrace/runs"
)

// Defaults of a Client.
const (
	DefaultTaskQueue    = "millrace"
	defaultProject      = "default"
	defaultParallel     = 16
	defaultStartToClose = time.Hour
	defaultHeartbeat    = 30 * time.Second
	defaultHoldFor      = 30 * 24 * time.Hour
)

// attempts is the maximum number of attempts at a target, by all workers together.
const attempts = 5

// Client starts campaigns and manages them. It implements [fleet.Scheduler], [runs.Browser] and [runs.Manager], and
// JobManager returns a [runs.JobManager]. It is safe for concurrent use as long as its fields do not change.
type Client struct {
	// Temporal is the connection to the server.
	Temporal client.Client
	// Blobs must be the Blobs of the workers.
	Blobs Blobs
	// TaskQueue is the queue of the workers. "" means DefaultTaskQueue.
	TaskQueue string
	// Project separates campaigns with the same id: letters, digits, "-", "_" and ".". "" means "default".
	Project string
	// Parallel is the number of targets of a campaign that all workers together process at the same time, at most 500.
	// Zero means 16.
	Parallel int
	// StopAfter, Deadline and Budget mean the same as in [fleet.Fleet]. Set them here instead: a Fleet checks its limits
	// when it reads targets, but Schedule reads all targets before the first one starts, so that the campaign does not
	// need its client. Zero means no limit.
	StopAfter int
	Deadline  time.Duration
	Budget    budget.Cost
	// Gate makes plans of all targets first. Then the campaign is held until [Client.Play]. A target whose plan has
	// changed by then is refused, and so is a target without a plan. A step that acts outside of the tree prevents a
	// plan.
	Gate bool
	// HoldFor is how long a campaign is held at most; then it fails. Zero means 30 days.
	HoldFor time.Duration
	// StartToClose limits the time of one attempt at a target. Heartbeat is the time without a heartbeat after which
	// another worker gets the target. Zero means an hour and 30 seconds.
	StartToClose, Heartbeat time.Duration
	// Attributes means that the server has the search attributes of [Attributes], so that it can filter lists by them.
	Attributes bool
	// User is the creator of new campaigns. "" means none.
	User string
	// Library has the pipelines that [Client.Create] finds by name. Nil means no library.
	Library *millrace.Library
	// Targets returns the trees of a project for [Client.Create]. Nil means one tree, whose id and root are the project.
	Targets func(project string) iter.Seq2[fleet.Target, error]
}

// Check returns an error for the first invalid field.
func (c Client) Check() error {
	wrong := func(field string, value any, reason string) error {
		return &errorform.FieldError{Field: "Client." + field, Value: fmt.Sprint(value), Reason: reason}
	}
	const negative = "a negative number is not allowed"
	switch {
	case c.Temporal == nil:
		return wrong("Temporal", "nil", "a connection is required")
	case c.Blobs == nil:
		return wrong("Blobs", "nil", "Blobs are required, the same as those of the workers")
	case !plainName(c.project()):
		return wrong("Project", short(c.Project, 100), "letters, digits, -, _ and . are allowed, at most 255")
	case c.Parallel < 0 || c.Parallel > pageSize:
		return wrong("Parallel", c.Parallel, "0 to 500 is allowed")
	case c.StopAfter < 0:
		return wrong("StopAfter", c.StopAfter, negative)
	case c.Deadline < 0:
		return wrong("Deadline", c.Deadline, negative)
	case c.Budget < 0:
		return wrong("Budget", c.Budget, negative)
	case c.HoldFor < 0 || c.StartToClose < 0 || c.Heartbeat < 0:
		return wrong("HoldFor, StartToClose or Heartbeat", min(c.HoldFor, c.StartToClose, c.Heartbeat), negative)
	}
	return nil
}

func plainName(name string) bool {
	allowed := func(r rune) bool {
		return r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	}
	return name != "" && len(name) <= 255 && !strings.ContainsFunc(name, func(r rune) bool { return !allowed(r) })
}

func (c Client) project() string { return cmp.Or(c.Project, defaultProject) }

// workflowID returns the id of a campaign on the server.
func (c Client) workflowID(campaign string) string { return "millrace/" + c.project() + "/" + campaign }

// Start puts a campaign down and begins it. It returns when the server has it: then it goes on without this process. A
// campaign of the same id that is on its way, or that was a success, is an error. Targets that cannot be
// targets fail.
func (c Client) Start(ctx context.Context, campaign fleet.Campaign, targets iter.Seq2[fleet.Target, error]) error {
	return c.start(ctx, campaign, targets, enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY)
}

func (c Client) start(ctx context.Context, campaign fleet.Campaign, targets iter.Seq2[fleet.Target, error],
	reuse enumspb.WorkflowIdReusePolicy) error {
	s, err := c.prepare(ctx, campaign, targets)
	if err != nil {
		return err
	}
	return c.begin(ctx, s, memo{Name: s.Name, Ref: s.Name, SHA: campaign.Pipeline.Digest(), User: c.User}, reuse, 0)
}

// prepare stores everything that the start of a campaign needs.
func (c Client) prepare(ctx context.Context, campaign fleet.Campaign,
	targets iter.Seq2[fleet.Target, error]) (state, error) {
	if err := errors.Join(c.Check(), campaign.Check()); err != nil {
		return state{}, err
	}
	s := state{
		Project: c.project(), Campaign: campaign.ID, Name: campaign.Pipeline.Name(),
		Settings: settings{
			Parallel: cmp.Or(c.Parallel, defaultParallel), Page: pageSize, StopAfter: c.StopAfter, Deadline: c.Deadline,
			Budget: c.Budget,
			Gate:   c.Gate, HoldFor: cmp.Or(c.HoldFor, defaultHoldFor),
			StartToClose: cmp.Or(c.StartToClose, defaultStartToClose),
			Heartbeat:    cmp.Or(c.Heartbeat, defaultHeartbeat), Attempts: attempts, Attributes: c.Attributes,
		},
	}
	pipeline, err := json.Marshal(campaign.Pipeline)
	if err != nil {
		return state{}, err
	}
	if s.Pipeline, err = c.Blobs.Put(ctx, pipeline); err != nil {
		return state{}, err
	}
	s.Targets, s.Count, err = c.putTargets(ctx, targets)
	return s, err
}

// begin lets the server start a campaign, after a delay, if any.
func (c Client) begin(ctx context.Context, s state, m memo, reuse enumspb.WorkflowIdReusePolicy,
	delay time.Duration) error {
	var err error
	if m.State, err = put(ctx, c.Blobs, s); err != nil {
		return err
	}
	m.Created = now()
	options := client.StartWorkflowOptions{
		ID: c.workflowID(s.Campaign), TaskQueue: cmp.Or(c.TaskQueue, DefaultTaskQueue), WorkflowIDReusePolicy: reuse,
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true, StartDelay: max(0, delay), Memo: map[string]any{memoKey: m},
	}
	if c.Attributes {
		options.TypedSearchAttributes = temporal.NewSearchAttributes(
			keyword(projectName).ValueSet(s.Project), keyword(nameName).ValueSet(m.Name),
			keyword(refName).ValueSet(m.Ref), keyword(shaName).ValueSet(m.SHA), keyword(userName).ValueSet(m.User),
			stateAttribute().ValueSet(string(runs.Created)),
		)
	}
	_, err = c.Temporal.ExecuteWorkflow(ctx, options, campaignWorkflow, s)
	if temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		return &errorform.FieldError{Field: "Campaign.ID", Value: s.Campaign,
			Reason: "there is a campaign of that id in project " + c.project()}
	}
	return err
}

// putTargets stores the targets, with one page in memory at a time.
func (c Client) putTargets(ctx context.Context,
	targets iter.Seq2[fleet.Target, error]) (ref string, count int, err error) {
	w := bookWriter[item]{blobs: c.Blobs, book: book{Page: pageSize}}
	for t, err := range targets {
		if err != nil {
			return "", 0, err
		}
		if ctx.Err() != nil {
			return "", 0, context.Cause(ctx)
		}
		kept := item{Target: t}
		if err := checkTarget(t); err != nil {
			kept.Target = fleet.Target{ID: short(t.ID, fleetlimits.IDLen), Root: short(t.Root, fleetlimits.RootLen)}
			kept.Invalid = short(err.Error(), mostMessage)
		}
		if err := w.add(ctx, kept); err != nil {
			return "", 0, err
		}
	}
	ref, err = w.close(ctx)
	return ref, w.book.Count, err
}

// checkTarget returns an error for a target that is invalid, or that JSON would change.
func checkTarget(t fleet.Target) error {
	if err := t.Check(); err != nil {
		return err
	}
	valid := utf8.ValidString(t.Root)
	for key, value := range t.Labels {
		valid = valid && utf8.ValidString(key) && utf8.ValidString(value)
	}
	if !valid {
		return &fleet.TargetError{ID: short(t.ID, 100), Reason: "the root and the labels must be valid UTF-8"}
	}
	return nil
}

// Progress reports the progress of a campaign. A worker has to answer, so at least one must be running.
func (c Client) Progress(ctx context.Context, campaign string) (Progress, error) {
	value, err := c.Temporal.QueryWorkflow(ctx, c.workflowID(campaign), "", progressQuery)
	var p Progress
	if err == nil {
		err = value.Get(&p)
	}
	return p, err
}

// Wait waits for the end of a campaign, across all continuations. A failed target is not an error: it is in the
// Progress.
func (c Client) Wait(ctx context.Context, campaign string) (Progress, error) {
	var p Progress
	err := c.Temporal.GetWorkflow(ctx, c.workflowID(campaign), "").Get(ctx, &p)
	if err == nil {
		return p, nil
	}
	return ended(err)
}

// ended returns the Progress in the error with which a campaign ended.
func ended(err error) (p Progress, _ error) {
	var app *temporal.ApplicationError
	var canceled *temporal.CanceledError
	switch {
	case errors.As(err, &app) && app.HasDetails() && app.Details(&p) == nil && p.Phase == PhaseDone:
		return p, nil
	case errors.As(err, &canceled) && canceled.HasDetails() && canceled.Details(&p) == nil && p.Phase == PhaseDone:
		return p, nil
	}
	return p, err
}

// Held waits until a campaign with a Gate is held, and returns its Progress. It asks every second. It returns an error
// if the campaign ends first.
func (c Client) Held(ctx context.Context, campaign string) (Progress, error) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		p, err := c.Progress(ctx, campaign)
		switch {
		case err != nil:
			return p, err
		case p.Phase == PhaseHeld:
			return p, nil
		case p.Phase != PhasePlanning:
			return p, fmt.Errorf("campaign %s is not going to be held: it is %s", campaign, p.Phase)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return p, context.Cause(ctx)
		}
	}
}

// Stop cancels a campaign: the current targets are stopped, and no other target starts.
func (c Client) Stop(ctx context.Context, campaign string) error {
	return c.Temporal.CancelWorkflow(ctx, c.workflowID(campaign), "")
}

// Play continues a held campaign with a Gate. planDigest is the PlanDigest of its Progress; "" matches any. An error
// reports a campaign that is not held, or that has another digest.
func (c Client) Play(ctx context.Context, campaign, planDigest string) (Progress, error) {
	return c.update(ctx, campaign, playUpdate, playInput{planDigest})
}

// RetryTargets starts failed targets again, by their positions; nil means all of them, the first 500. The campaign has
// to be running. To start an ended campaign again, use Start: finished targets are Replayed.
func (c Client) RetryTargets(ctx context.Context, campaign string, indices ...int) (Progress, error) {
	return c.update(ctx, campaign, retryUpdate, retryInput{indices})
}

// CancelTarget cancels the work on one target of a running campaign, by its position.
func (c Client) CancelTarget(ctx context.Context, campaign string, index int) (Progress, error) {
	return c.update(ctx, campaign, cancelTargetUpdate, cancelInput{index})
}

func (c Client) update(ctx context.Context, campaign, name string, input any) (Progress, error) {
	var p Progress
	handle, err := c.Temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: c.workflowID(campaign), UpdateName: name, Args: []any{input},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, &p)
	}
	return p, err
}
