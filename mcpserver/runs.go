package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/runs"
)

// flat returns a schema without keywords that the APIs of models refuse, or that only make it longer: the command
// checks its arguments itself. It omits the hidden parameter.
func flat(full []byte, hidden string) (json.RawMessage, error) {
	var s struct {
		Properties map[string]map[string]any `json:"properties"`
		Required   []string                  `json:"required"`
	}
	if err := json.Unmarshal(full, &s); err != nil {
		return nil, err
	}
	delete(s.Properties, hidden)
	for _, p := range s.Properties {
		if p["anyOf"] != nil || p["oneOf"] != nil {
			p["type"] = alternatives(p)
		}
		for _, word := range []string{"anyOf", "oneOf", "pattern", "minLength", "maxLength", "minItems", "maxItems",
			"minimum", "maximum", "format"} {
			delete(p, word)
		}
	}
	return json.Marshal(map[string]any{"type": "object", "properties": s.Properties, "required": s.Required})
}

// alternatives returns the types that a parameter accepts.
func alternatives(p map[string]any) []string {
	var kinds []string
	for _, word := range []string{"anyOf", "oneOf"} {
		list, _ := p[word].([]any)
		for _, v := range list {
			one, _ := v.(map[string]any)
			if kind, ok := one["type"].(string); ok && !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	return kinds
}

// runCommand calls a command over runs. The text and the data of its answer are the same.
func runCommand(ctx context.Context, c *call) (*answer, error) {
	args, err := c.projectArgs()
	if err != nil {
		return nil, err
	}
	out, err := c.cfg.Runs.Call(ctx, c.tool.name, args)
	var forced *forcedError
	if errors.As(err, &forced) && c.canAsk() {
		return c.askToPlay(ctx, forced)
	}
	if err != nil {
		if out == nil {
			return nil, err
		}
		return &answer{texts: []string{cut(string(out), c.cfg.MaxResult/2)}}, err
	}
	var data map[string]any
	if err := json.Unmarshal(out, &data); err != nil {
		return nil, err
	}
	data["summary"] = c.tool.name + ": done"
	return &answer{texts: []string{string(fit(data, c.cfg.MaxResult))}, data: data}, nil
}

// projectArgs returns the arguments with the key of the tree as projectId. They must name the served tree: a store may
// have other projects, which this server does not serve.
func (c *call) projectArgs() (json.RawMessage, error) {
	var args map[string]json.RawMessage
	if json.Unmarshal(c.args, &args) != nil {
		return c.args, nil // the command reports the problem
	}
	names := []string{"projectId"}
	if c.cfg.Runs.Lenient {
		names = append(names, "project_id")
	}
	for _, name := range names {
		var project string
		if args[name] == nil || json.Unmarshal(args[name], &project) != nil || project == c.cfg.Project {
			continue
		}
		if !slices.Contains(c.cfg.projects(), project) {
			return nil, &millrace.ValidationError{Problems: []millrace.Problem{{
				Pointer: "/" + name, Code: "unknown_project",
				Message: fmt.Sprintf("this server has no project '%s'", shown(project)),
				Hint:    fmt.Sprintf("use '%s'", c.cfg.Project),
			}}}
		}
		key, err := json.Marshal(c.cfg.Project)
		if err != nil {
			return nil, err
		}
		args[name] = key
		return json.Marshal(args)
	}
	return c.args, nil
}

// ruledRuns applies the rules of the server to the pipelines of new runs. Force is removed, so a run that needs force
// waits for a person.
type ruledRuns struct {
	runs.Manager
	s *Server
}

func (m ruledRuns) Create(ctx context.Context, c runs.CreateParams) (runs.Run, error) {
	if c.Ref != "" && c.Pipeline.Len() == 0 {
		// The manager would read the file without the rules.
		p, err := m.s.cfg.Runs.Library.Load(ctx, c.Ref)
		if err != nil {
			return runs.Run{}, err
		}
		c.Pipeline, c.Ref = p, ""
	}
	if err := m.s.hashed(c.Pipeline); err != nil {
		return runs.Run{}, err
	}
	if o := c.Pipeline.Options(); o.Force && !m.s.cfg.AllowForce {
		o.Force = false
		c.Pipeline = c.Pipeline.WithOptions(o)
	}
	return m.Manager.Create(ctx, c)
}

type unforcedJobs struct{ runs.JobManager }

func (m unforcedJobs) Play(ctx context.Context, job runs.JobRef, p runs.PlayParams) (runs.Job, error) {
	if digest, ok := ctx.Value(playKey{}).(string); ok {
		p.Force, p.PlanDigest = true, digest
	} else if p.Force {
		return runs.Job{}, &forcedError{job: job,
			blocked: &millrace.BlockedError{Reason: "force is not taken from a call: a person has to play this job"}}
	}
	return m.JobManager.Play(ctx, job, p)
}
