package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace"
)

// pipelineText returns the JSON of a pipeline that is given as a text or as an object: some clients turn each text that
// looks like an object into one.
func pipelineText(given json.RawMessage) []byte {
	var text string
	if json.Unmarshal(given, &text) == nil {
		return []byte(text)
	}
	return given
}

type pipelineArgs struct {
	Pipeline  json.RawMessage `json:"pipeline_json"`
	Variables exactValues     `json:"variables"`
	Diff      string          `json:"diff"`
	MaxBytes  int             `json:"max_bytes"`
}

// exactValues are the values of an object, with numbers as they are written.
type exactValues struct{ values map[string]any }

func (e *exactValues) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return dec.Decode(&e.values)
}

// pipeline returns the pipeline with its variables set.
func (a *pipelineArgs) pipeline(c *call) (millrace.Pipeline, error) {
	p, err := c.decoded(pipelineText(a.Pipeline))
	if err != nil {
		return p, err
	}
	var unknown []millrace.Problem
	for _, w := range p.Warnings() {
		if w.Code == millrace.CodeUnknownVariable {
			unknown = append(unknown, w)
		}
	}
	if unknown != nil {
		return p, &millrace.ValidationError{Problems: unknown}
	}
	return p.WithVariables(a.Variables.values)
}

// batchOperations runs a pipeline.
func batchOperations(ctx context.Context, c *call) (*answer, error) {
	var args pipelineArgs
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	p, err := args.pipeline(c)
	if err != nil {
		return nil, err
	}
	p, note, err := c.ruled(p)
	if err != nil {
		return nil, err
	}
	a, err := c.change(ctx, p, reported)
	return noted(a, err, note)
}

// planPipeline plans a pipeline, keeps the plan, and shows it.
func planPipeline(ctx context.Context, c *call) (*answer, error) {
	var args pipelineArgs
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	p, err := args.pipeline(c)
	if err != nil {
		return nil, err
	}
	if err := c.hashed(p); err != nil {
		return nil, err
	}
	o, note := p.Options(), ""
	if o.Force && !c.cfg.AllowForce {
		o.Force, note = false, "force was ignored: on this server a person approves what needs it"
	}
	o.DryRun = false // a plan writes nothing in any case
	r := &relay{to: c.progress.observe}
	plan, err := c.executor(r.observe).Plan(ctx, c.cfg.FS, p.WithOptions(o))
	if err != nil {
		if plan == nil {
			return nil, err
		}
		res := plan.Result()
		_ = plan.Close()
		return c.rendered(res, err, reported)
	}
	r.set(nil)
	if res := plan.Result(); len(plan.Outline()) == 0 && !res.Incomplete {
		_ = plan.Close()
		return noted(nothingPlanned(res), nil, note)
	}
	e, err := c.plans.add(plan, r, reported)
	if err != nil {
		_ = plan.Close()
		return nil, err
	}
	a, err := c.shown(e, args.Diff, args.MaxBytes)
	return noted(a, err, note)
}

// nothingPlanned returns the answer for a plan that changes nothing. Such a plan needs no approval, so it is not
// kept.
func nothingPlanned(res *millrace.Result) *answer {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nthe plan changes nothing, so there is nothing to apply\n", res)
	details(&b, res)
	data := map[string]any{"summary": res.String(), "changes": false}
	results(data, res)
	warned(data, res)
	return &answer{texts: []string{strings.TrimRight(b.String(), "\n")}, data: data}
}

// shown returns the answer that shows a new plan: a one-line summary, its id and digest, the files, and the diff.
func (c *call) shown(e *entry, diff string, maxBytes int) (*answer, error) {
	res := e.plan.Result()
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nplan_id: %s\n", res, e.id)
	data := map[string]any{"summary": res.String(), "plan_id": e.id}
	results(data, res)
	warned(data, res)
	if res.Incomplete {
		b.WriteString(
			"incomplete: a step that acts outside of the tree was not run, so this plan cannot be applied; run the pipeline instead\n")
	} else {
		fmt.Fprintf(&b, "digest: %s\n", e.digest)
		data["digest"] = e.digest
	}
	details(&b, res)
	a := &answer{data: data}
	if res.FilesChanged.Count() > 0 {
		if err := c.diffs(&b, a, e, diff, maxBytes); err != nil {
			return nil, err
		}
	}
	a.texts = []string{strings.TrimRight(b.String(), "\n")}
	return a, nil
}

// diffs adds the diff of a plan to its answer, within the limit.
func (c *call) diffs(b *strings.Builder, a *answer, e *entry, how string, maxBytes int) error {
	switch how {
	case "none":
		return nil
	case "stat":
		text, err := stat(e.plan)
		if err != nil {
			return err
		}
		a.data["diff"] = cut(text, c.cfg.MaxResult/2)
		fmt.Fprintf(b, "\n%s", text)
		return nil
	}
	// Half of the limit is for the rest of the answer.
	pg, err := c.page(e, nil, 0, maxBytes, c.cfg.MaxResult/2)
	if err != nil {
		return err
	}
	a.data["diff"] = pg.text
	fmt.Fprintf(b, "\n%s", pg.text)
	if pg.next > 0 {
		a.data["next_offset"], a.data["diff_bytes"] = pg.next, pg.total
		fmt.Fprintf(b, "\nnext_offset: %d of %d bytes (review_plan shows the rest)\n", pg.next, pg.total)
		a.links = append(a.links, planLink(e))
	}
	return nil
}

// stat counts the changed lines of each file, as git does.
func stat(plan *millrace.Plan) (string, error) {
	files, err := plan.Files()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, f := range files {
		plus, minus := 0, 0
		for _, h := range f.Hunks {
			for _, l := range h.Lines() {
				switch l.Op {
				case '+':
					plus++
				case '-':
					minus++
				}
			}
		}
		name := visible(f.Path)
		if f.From != "" {
			name = visible(f.From) + " -> " + name
		}
		if f.Binary {
			fmt.Fprintf(&b, "%s | %s, binary\n", name, f.Kind)
			continue
		}
		fmt.Fprintf(&b, "%s | %s, %d hunks, +%d -%d\n", name, f.Kind, len(f.Hunks), plus, minus)
	}
	return b.String(), nil
}
