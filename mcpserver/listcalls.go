package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/runs"
)

type listArgs struct {
	Steps []struct {
		Tool string          `json:"tool"`
		Args json.RawMessage `json:"args"`
	} `json:"steps"`
}

// pipelineTools run or plan pipelines, so they cannot be steps.
var pipelineTools = []string{
	"batch_operations", "plan_pipeline", "review_plan", "apply_plan", "pipeline", "mcp_pipeline", runs.CommandBrowse,
	runs.CommandManage, runs.CommandJobs,
}

// listPipeline runs a list of calls as the steps "step1", "step2" and so on of one pipeline.
func listPipeline(ctx context.Context, c *call) (*answer, error) {
	var args listArgs
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	steps := make([]any, len(args.Steps))
	var problems []millrace.Problem
	for i, s := range args.Steps {
		if slices.Contains(pipelineTools, s.Tool) {
			problems = append(problems, millrace.Problem{
				Pointer: fmt.Sprintf("/steps/%d/tool", i), Code: "nested_pipeline",
				Message: fmt.Sprintf("a step cannot call '%s'", s.Tool),
				Hint:    "flatten: make its steps steps of this pipeline",
			})
		}
		step := map[string]any{"id": fmt.Sprintf("step%d", i+1), "action": s.Tool}
		params := s.Args
		if len(params) == 0 {
			params = json.RawMessage("{}")
		}
		step["params"] = params
		if _, own := c.cfg.Decoder.Actions.Lookup(s.Tool); !own &&
			slices.Contains(c.cfg.Decoder.Tools.Names(), s.Tool) {
			step["action"], step["params"] = "tool", map[string]any{"tool": s.Tool, "args": params}
		}
		steps[i] = step
	}
	if len(problems) > 0 {
		return nil, &millrace.ValidationError{Problems: problems}
	}
	text, err := json.Marshal(map[string]any{"name": c.tool.name, "steps": steps})
	if err != nil {
		return nil, err
	}
	p, note, err := c.decodePipeline(text)
	if err != nil {
		return nil, stepsRenamed(err)
	}
	c.told = enveloped
	a, err := c.change(ctx, p, enveloped)
	return noted(a, err, note)
}

// enveloped returns the answer in the format of a list of calls.
func enveloped(res *millrace.Result) *answer {
	e := res.Envelope()
	data := map[string]any{"results": e.Results, "summary": e.Summary}
	warned(data, res)
	if res.BackupID != "" {
		data["backup_id"] = res.BackupID
	}
	return &answer{texts: []string{string(fit(data, DefaultMaxResult))}, data: data}
}

// stepsRenamed returns the problems of a pipeline with the names from the list of calls that it was made from.
func stepsRenamed(err error) error {
	var invalid *millrace.ValidationError
	if !errors.As(err, &invalid) {
		return err
	}
	problems := slices.Clone(invalid.Problems)
	for i, p := range problems {
		parts := strings.SplitN(p.Pointer, "/", 5)
		if len(parts) > 3 && parts[1] == "steps" {
			switch parts[3] {
			case "params":
				parts[3] = "args"
			case "action":
				parts[3] = "tool"
			}
			problems[i].Pointer = strings.Join(parts, "/")
		}
		problems[i].Line, problems[i].Column, problems[i].Step = 0, 0, ""
	}
	return &millrace.ValidationError{Problems: problems}
}
