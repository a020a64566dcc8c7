package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/runs"
)

// runPoll is the interval at which a waiting call checks its run.
const runPoll = 50 * time.Millisecond

type namedArgs struct {
	Definition json.RawMessage `json:"definition"`
	Resume     string          `json:"resume"`
}

// namedPipeline runs a given or named pipeline, or resumes a run. With a store, the pipeline becomes a run of the
// store.
func namedPipeline(ctx context.Context, c *call) (*answer, error) {
	var args namedArgs
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	if args.Resume != "" {
		return c.resume(ctx, args.Resume)
	}
	if args.Definition == nil {
		const missing = "one of 'definition' and 'resume' is required"
		problems := []millrace.Problem{{Code: "missing_param", Message: missing}}
		return nil, &nextError{err: &millrace.ValidationError{Problems: problems}, code: codeArguments}
	}
	p, err := c.cfg.Runs.Library.Open(ctx, string(named(pipelineText(args.Definition))))
	if err != nil {
		return nil, err
	}
	p, note, err := c.ruled(p)
	if err != nil {
		return nil, err
	}
	if c.cfg.Runs.Manage != nil && c.cfg.Runs.Browse != nil {
		run, err := c.cfg.Runs.Manage.Create(ctx,
			runs.CreateParams{Project: c.cfg.Project, Pipeline: p, Source: c.cfg.Runs.Source})
		if err != nil {
			return nil, err
		}
		a, err := c.await(ctx, runs.RunRef{Project: c.cfg.Project, ID: run.ID}, p)
		return noted(a, err, note)
	}
	c.told, c.runID = summarized, newID()
	a, err := c.change(ctx, p, summarized)
	return noted(a, err, note)
}

// repairs returns the warnings of a pipeline about its text.
func repairs(p millrace.Pipeline) []string {
	var texts []string
	for _, w := range p.Warnings() {
		texts = append(texts, w.String())
	}
	return texts
}

// named returns the text of a pipeline with a name. The tool lets a caller omit the name.
func named(text []byte) []byte {
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) != nil || object["steps"] == nil || object["name"] != nil {
		return text
	}
	object["name"] = json.RawMessage(`"pipeline"`)
	whole, err := plainJSON(object)
	if err != nil {
		return text
	}
	return whole
}

// resume resumes a run of the store: RUN after its last step, RUN/STEP at that step.
func (c *call) resume(ctx context.Context, id string) (*answer, error) {
	r := c.cfg.Runs
	if r.Manage == nil || r.Jobs == nil || r.Browse == nil {
		return nil, &nextError{
			err: &millrace.ValidationError{Problems: []millrace.Problem{{Pointer: "/resume", Code: "unavailable",
				Message: "this server keeps no runs"}}},
			code: codeArguments, next: "run the whole pipeline again: nothing of a run that has failed was written",
		}
	}
	run, _, fromStep := strings.Cut(id, "/")
	ref := runs.RunRef{Project: c.cfg.Project, ID: run}
	var err error
	if fromStep {
		_, err = r.Jobs.Retry(ctx, runs.JobRef{Project: c.cfg.Project, ID: id})
	} else {
		_, err = r.Manage.Retry(ctx, ref)
	}
	if err != nil {
		return nil, err
	}
	return c.await(ctx, ref, millrace.Pipeline{})
}

// await waits until a run has ended or waits for a person. A store does not keep the warnings about the text of a
// pipeline, so await adds them to the answer.
func (c *call) await(ctx context.Context, ref runs.RunRef, p millrace.Pipeline) (*answer, error) {
	pause := time.NewTicker(runPoll)
	defer pause.Stop()
	for {
		run, err := c.cfg.Runs.Browse.Get(ctx, ref)
		if err != nil {
			return nil, err
		}
		if run.Result != nil {
			res := *run.Result
			res.Warnings = slices.Concat(repairs(p), res.Warnings)
			run.Result = &res
		}
		switch run.Status {
		case runs.Success:
			if run.Result == nil {
				return nil, fmt.Errorf("run %s has no result", run.ID)
			}
			return ofRun(run), nil
		case runs.Failed, runs.Canceled, runs.Skipped, runs.Manual:
			return c.stopped(run)
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			// The run continues in the store. Only the wait was canceled.
			return nil, context.Cause(ctx)
		}
	}
}

// stopped returns the answer for a run that did not finish.
func (c *call) stopped(run runs.Run) (*answer, error) {
	text := fmt.Sprintf("run %s is %s", run.ID, run.Status)
	if run.Reason != "" {
		text += ": " + visible(run.Reason)
	}
	next := fmt.Sprintf("call browse_pipelines with action jobs for run %s; pipeline with resume %q goes on with it",
		run.ID, run.ID)
	if run.Status == runs.Manual {
		next = fmt.Sprintf("ask the user: a person has to play the job that run %s waits for", run.ID)
		if c.canAsk() && run.Held != nil && c.cfg.Runs.Jobs != nil {
			next = fmt.Sprintf("call %s with action play, jobId %s and force: the person at the host is asked",
				runs.CommandJobs,
				run.Held.JobID)
		}
	}
	a := &answer{data: map[string]any{}}
	if run.Result != nil {
		a = ofRun(run)
	}
	code := "held"
	if run.Status != runs.Manual {
		code = stoppedCode(run)
	}
	return a, &nextError{err: errors.New(text), next: next, code: code}
}

// stoppedCode returns the error code of a run that ended without success.
func stoppedCode(run runs.Run) string {
	switch {
	case run.Status != runs.Failed:
		return "canceled"
	case run.Result != nil && run.Result.ErrorCode != "":
		return run.Result.ErrorCode
	}
	return failedCode
}

// ofRun returns the answer for a run that has succeeded. Its id can be passed to resume.
func ofRun(run runs.Run) *answer {
	res := *run.Result
	res.RunID = run.ID
	return summarized(&res)
}

// summarized returns the answer in the format of a pipeline of agents.
func summarized(res *millrace.Result) *answer {
	summary := res.Summary()
	data, err := plainJSON(summary)
	if err != nil {
		return reported(res)
	}
	var plain map[string]any
	if err := json.Unmarshal(data, &plain); err != nil {
		return reported(res)
	}
	plain["summary"] = res.String()
	if res.BackupID != "" {
		plain["backup_id"] = res.BackupID
	}
	return &answer{texts: []string{asText(plain, DefaultMaxResult)}, data: plain}
}
