package millracetemporal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/runs"
)

var _ runs.Browser = Client{}

// mostListed is the number of campaigns of a project that a list examines. Campaigns that the server can filter out do
// not count.
const mostListed = 1000

// gateJob is the name of the job at which a campaign with a gate is held.
const gateJob = "commit"

// List implements [runs.Browser]. A run is a campaign. Up to 1,000 campaigns are filtered and ordered here. If more
// remain after the filter of the server, List only finds the first campaigns of the server, and any order except by id
// is an error.
func (c Client) List(ctx context.Context, f runs.Filter) (runs.Page[runs.Run], error) {
	if err := f.Check(); err != nil {
		return runs.Page[runs.Run]{}, err
	}
	if err := c.Check(); err != nil {
		return runs.Page[runs.Run]{}, err
	}
	var all []runs.Run
	var token []byte
	seen := make(map[string]bool)
	for len(all) <= mostListed {
		res, err := c.Temporal.ListWorkflow(ctx,
			&workflowservice.ListWorkflowExecutionsRequest{PageSize: 200, NextPageToken: token, Query: c.query(f)})
		if err != nil {
			return runs.Page[runs.Run]{}, err
		}
		for _, info := range res.GetExecutions() {
			id := info.GetExecution().GetWorkflowId()
			if seen[id] || !strings.HasPrefix(id, c.workflowID("")) ||
				info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW {
				continue
			}
			seen[id] = true // the latest run comes first
			all = append(all, c.runOf(info))
		}
		if token = res.GetNextPageToken(); len(token) == 0 {
			break
		}
	}
	if len(token) > 0 && f.OrderBy != "" && f.OrderBy != runs.ByID {
		return runs.Page[runs.Run]{}, fmt.Errorf("order_by '%s' is not available on this server", f.OrderBy)
	}
	f.Project, f.Snapshot = "", 0 // the campaigns are all of this project, and have no numbers
	return f.PageOf(all), nil
}

// query returns the part of the filter that the server can apply. Values either have the form of names here, or are
// quoted.
func (c Client) query(f runs.Filter) string {
	terms := []string{"WorkflowType = " + quoted(campaignWorkflow)}
	if c.Attributes {
		for _, term := range [][2]string{{projectName, c.project()}, {nameName, f.Name}, {refName, f.Ref},
			{userName, f.User}} {
			if term[1] != "" {
				terms = append(terms, term[0]+" = "+quoted(term[1]))
			}
		}
	}
	return strings.Join(terms, " AND ")
}

// quoted quotes a text for a query.
func quoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

// Get implements [runs.Browser].
func (c Client) Get(ctx context.Context, ref runs.RunRef) (runs.Run, error) {
	r, _, err := c.describe(ctx, ref)
	if err != nil {
		return runs.Run{}, err
	}
	return c.shown(ctx, r), nil
}

// jobs returns the targets of a campaign and its gate. every has all outcomes of each target, the latest last. A
// target without an outcome has the report of its plan, if any.
func (c Client) jobs(ctx context.Context,
	ref runs.RunRef) (latest, every []runs.Job, reports map[string]report, err error) {
	r, _, err := c.describe(ctx, ref)
	if err != nil {
		return nil, nil, nil, err
	}
	p, err := c.progressOf(ctx, r)
	if err != nil {
		return nil, nil, nil, err
	}
	targets, err := targetsIn(ctx, c.Blobs, p.Book)
	if err != nil {
		return nil, nil, nil, err
	}
	reports = make(map[string]report)
	found, plans := make([][]report, p.Targets), make([]report, p.Targets)
	for o, err := range outcomes(ctx, c.Blobs, p.Head) {
		if err != nil {
			return nil, nil, nil, err
		}
		switch i := o.Outcome.Index; {
		case i < 0 || i >= len(found):
		case o.phase == PhasePlanning:
			plans[i] = o
		default:
			found[i] = append(found[i], o)
		}
	}
	for i, reported := range found {
		t, err := targets.at(ctx, i)
		if err != nil {
			return nil, nil, nil, err
		}
		job := runs.Job{ID: r.ID + "/" + t.ID, Run: r.ID, Project: r.Project, Name: t.ID, Kind: runs.JobStep,
			Status: runs.Created, CreatedAt: r.CreatedAt}
		if len(reported) == 0 {
			job.Reason, reports[job.ID] = plans[i].Outcome.Message, plans[i]
			latest, every = append(latest, job), append(every, job)
			continue
		}
		reports[job.ID] = reported[0]
		for n, o := range slices.Backward(reported) {
			j := job
			j.Status, j.Reason, j.Duration = runs.Status(o.Outcome.Status), o.Outcome.Message, o.Outcome.Duration
			j.Visit, j.Attempt, j.Retried = len(reported)-n, o.Outcome.Attempts, n > 0
			every = append(every, j)
			if n == 0 {
				latest = append(latest, j)
			}
		}
	}
	if p.PlanDigest != "" {
		gate := runs.Job{ID: r.ID + "/" + gateJob, Run: r.ID, Project: r.Project, Name: gateJob, Kind: runs.JobCommit,
			Status: runs.Success, CreatedAt: r.CreatedAt}
		if p.Phase == PhaseHeld {
			gate.Status, gate.Reason = runs.Manual, "play it with the plan digest "+p.PlanDigest
		}
		latest, every = append(latest, gate), append(every, gate)
	}
	return latest, every, reports, nil
}

// Jobs implements [runs.Browser]. A job is a target; the last job is the gate, if any.
func (c Client) Jobs(ctx context.Context, ref runs.RunRef, f runs.JobFilter) (runs.Page[runs.Job], error) {
	if err := f.Check(); err != nil {
		return runs.Page[runs.Job]{}, err
	}
	latest, every, _, err := c.jobs(ctx, ref)
	if err != nil {
		return runs.Page[runs.Job]{}, err
	}
	if f.IncludeRetried {
		latest = every
	}
	latest = slices.DeleteFunc(latest, func(j runs.Job) bool { return !f.Match(j) })
	return runs.PageOf(latest, f.Paging), nil
}

// Triggers implements [runs.Browser] and returns the targets. They are not separate runs here.
func (c Client) Triggers(ctx context.Context, ref runs.RunRef, p runs.Paging) (runs.Page[runs.Trigger], error) {
	if err := p.Check(); err != nil {
		return runs.Page[runs.Trigger]{}, err
	}
	latest, _, _, err := c.jobs(ctx, ref)
	if err != nil {
		return runs.Page[runs.Trigger]{}, err
	}
	var all []runs.Trigger
	for _, j := range latest {
		if j.Kind == runs.JobStep {
			all = append(all, runs.Trigger{Name: j.Name, Status: j.Status})
		}
	}
	return runs.PageOf(all, p), nil
}

// job finds a job by "<campaign>/<target>", or "<campaign>/commit" for the gate, if no target has that name.
func (c Client) job(ctx context.Context, ref runs.JobRef) (job runs.Job, index int, last report, err error) {
	campaign, name, ok := strings.Cut(ref.ID, "/")
	if !ok || name == "" {
		return runs.Job{}, 0, report{}, runs.JobNotFound(ref)
	}
	latest, _, reports, err := c.jobs(ctx, runs.RunRef{Project: ref.Project, ID: campaign})
	if err != nil {
		return runs.Job{}, 0, report{}, err
	}
	at := slices.IndexFunc(latest, func(j runs.Job) bool { return j.Name == name })
	if at < 0 {
		return runs.Job{}, 0, report{}, runs.JobNotFound(ref)
	}
	return latest[at], at, reports[latest[at].ID], nil
}

// Job implements [runs.Browser].
func (c Client) Job(ctx context.Context, ref runs.JobRef) (runs.Job, error) {
	j, _, _, err := c.job(ctx, ref)
	return j, err
}

// Logs implements [runs.Browser] and returns the report of the run on the target, after its end. Until then it
// returns the report of the plan, if any.
func (c Client) Logs(ctx context.Context, ref runs.JobRef, r runs.LogRange) (runs.Log, error) {
	if err := r.Check(); err != nil {
		return runs.Log{}, err
	}
	job, _, last, err := c.job(ctx, ref)
	if err != nil {
		return runs.Log{}, err
	}
	var b strings.Builder
	if last.Result != "" {
		res, err := get[millrace.Result](ctx, c.Blobs, last.Result)
		if err != nil {
			return runs.Log{}, err
		}
		if err := res.WriteReport(&b); err != nil {
			return runs.Log{}, err
		}
	}
	if text := last.Outcome.Message; text != "" {
		fmt.Fprintf(&b, "%s: %s\n", last.Outcome.Code, text)
	}
	lines := slices.Collect(strings.Lines(b.String()))
	first, count := r.Bounds(len(lines))
	trace := ""
	if count > 0 {
		trace = strings.Join(lines[first-1:first-1+count], "")
	}
	return r.Log(len(lines), trace, job.Status.Ended()), nil
}

// now returns the time that a campaign gets as its time of creation.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

var _ fleet.Scheduler = Client{}
