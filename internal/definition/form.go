package definition

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/lenient"
	"github.com/millrace-go/millrace/internal/params"
)

// Schema returns the JSON Schema (draft 2020-12) of the pipelines that the decoder accepts, made from its registry and,
// if it has some, its tools. A schema cannot express everything: for example, only Decode checks that a step refers to
// an earlier step.
func (d Decoder) Schema() ([]byte, error) {
	if err := d.Actions.Err(); err != nil {
		return nil, err
	}
	d.Actions = d.Actions.OrBuiltin()
	var each []any
	for _, name := range d.Actions.Names() {
		prototype, _ := d.Actions.Lookup(name)
		s, err := actionSchema(prototype)
		if err != nil {
			return nil, fmt.Errorf("schema of action %s: %w", name, err)
		}
		if _, ok := ToolOf(prototype); ok && d.Tools.Names() != nil {
			each = append(each, toolSchemas(prototype, d.Tools)...)
			continue
		}
		each = append(each, s)
		if name == lenient.ActionPrompt {
			if s, err = askingSchema(prototype); err != nil {
				return nil, fmt.Errorf("schema of action %s: %w", name, err)
			}
			each = append(each, s)
		}
	}
	whole := pipelineTable(new(Draft), &params.Part{List: true}).Schema()
	maps.Copy(whole["properties"].(Object)[fieldMaxAttempts].(Object), Object{"minimum": 1, "maximum": MaxAttempts})
	maps.Copy(whole["properties"].(Object)["deadline_seconds"].(Object),
		Object{"exclusiveMinimum": 0, "maximum": Deadline().MaxSeconds()})
	whole["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	whole["title"], whole["description"] = "millrace pipeline", "An atomic change to many files, in steps."
	whole["required"] = []string{"name", "steps"}
	step := any(Object{"oneOf": each})
	if len(each) == 0 {
		step = false // an empty allow-list
	}
	expect := params.PartSchema(Expect{})
	expect["description"] = "Bounds outside of which the step fails."
	whole["$defs"] = Object{
		"step": step, "condition": ConditionSchema(), "expect": expect, "budget": BudgetSchema(),
		"variables": variablesSchema(), "retry_if": RetrySchema(), "sandbox": SandboxSchema(),
		"id": Object{"type": "string", "pattern": "^[A-Za-z0-9_-]+$", "maxLength": MaxIDLen},
	}
	return json.MarshalIndent(whole, "", "  ")
}

func emptyStep() *stepForm { return &stepForm{Step: new(Step)} }

// actionSchema describes a step with that action.
func actionSchema(prototype actions.Action) (Object, error) {
	object, err := params.Describe(prototype)
	if err != nil {
		return nil, err
	}
	spec := prototype.Spec()
	schema := emptyStep().table().Schema()
	schema["title"], schema["description"] = spec.Name, spec.Summary
	properties := schema["properties"].(Object)
	properties["action"], properties["params"] = Object{"const": spec.Name}, params.Schema(prototype)
	LimitFlow(properties, spec.Input)
	one, many := properties["input_from"].(Object), properties["input_from_all"].(Object)
	required := []string{"id", "action"}
	switch spec.Input {
	case actions.InputNone:
		one["description"] = "Step to run after; its files are not used."
		many["description"] = "Earlier steps to run after; their files are not used."
	case actions.InputMany:
		delete(properties, "input_from")
		many["minItems"] = 2
		required = append(required, "input_from_all")
	}
	if slices.ContainsFunc(object.Fields, func(f form.Field) bool { return f.Required }) {
		required = append(required, "params")
	}
	schema["required"] = required
	return schema, nil
}

// variablesSchema describes the variables of a pipeline.
func variablesSchema() Object {
	types := make([]string, len(variableTypes))
	for i, t := range variableTypes {
		types[i] = t.name
	}
	declared := Object{
		"type": "object", "additionalProperties": false,
		"anyOf": []any{Object{"required": []string{"type"}}, Object{"required": []string{"default"}}},
		"properties": Object{
			"type":        Object{"enum": types},
			"default":     Object{"description": "The value; without a default each run must supply it."},
			"enum":        Object{"type": "array", "minItems": 1, "description": "The allowed values."},
			"description": Object{"type": "string", "description": "Purpose of the variable."},
		},
	}
	return Object{
		"description": "Values for {{vars.name}}: each a default, or an object with more fields.",
		"type":        "object", "maxProperties": MaxVariables, "propertyNames": Object{"$ref": "#/$defs/id"},
		"additionalProperties": Object{"anyOf": []any{Object{"type": []string{"string", "number", "boolean", "array"}},
			declared}},
	}
}

// pipelineTable returns the JSON form of a pipeline.
func pipelineTable(d *Draft, steps *params.Part) params.Table {
	o := &d.Options
	return params.Table{
		{Name: "name", Doc: "Name of the pipeline.", To: &d.Name, Always: true, Most: MaxNameLen},
		{Name: "description", Doc: "Purpose of the pipeline, for people.", To: &d.Bounds.Description, Most: MaxDescriptionLen},
		{
			Name: "dry_run",
			Doc:  "Compute everything and write nothing.", To: &o.DryRun,
		},
		{Name: "force", Doc: "Pass the file limit and the risk levels, up to the host's ceiling.", To: &o.Force},
		{
			Name: "stop_on_error",
			Doc:  "Stop at the first step that fails unhandled, and write nothing.", Unless: true,
			To: &o.ContinueOnError,
		},
		{
			Name: "create_backup",
			Doc:  "Keep a backup of changed files.", Unless: true, To: &o.NoBackup,
		},
		{Name: "verbose", Doc: "List everything in the report.", To: &o.Verbose},
		{Name: "parallel", Doc: "Run steps that do not depend on each other at the same time.", To: &o.Parallel},
		{Name: fieldMaxAttempts, Was: fieldMaxSteps, Doc: "Limit of attempts of all steps, at most 200.", To: &d.attemptsForm},
		{Name: "deadline_seconds", Doc: "Limit of the run in seconds, up to its commit.", To: &d.boundsForm.deadline},
		{Name: "budget", Doc: "Budget of a run: US dollars, or an object of limits.", To: &d.boundsForm.budget, Def: "budget"},
		{Name: "classification", Doc: "A text that is copied to results and events.", To: &d.Bounds.Classification, Most: MaxClassificationLen},
		{Name: "sandbox", To: &d.boundsForm.sandbox, Def: "sandbox"},
		{Name: FieldVariables, To: &d.variableForms, Def: "variables"},
		{Name: "steps", To: steps, Most: MaxSteps, Def: "step"},
	}
}

// appendSteps appends the steps for decoders that start from the results of prototype.
func appendSteps(dst []byte, steps []Step, prototype func(Step) any) ([]byte, error) {
	dst = append(dst, '[')
	for i := range steps {
		if i > 0 {
			dst = append(dst, ',')
		}
		s := &steps[i]
		data, err := params.Encode(s.Action, prototype(*s), s.Bind)
		if err != nil {
			return dst, err
		}
		f := &stepForm{Step: s, action: s.Action.Spec().Name, params: params.Part{JSON: data}, flow: flowFormOf(*s)}
		if dst, err = f.table().Append(dst); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// stepForm is a step with the JSON forms of some of its parts.
type stepForm struct {
	*Step
	action     string
	params     params.Part
	conditions []*conditionForm
	flow       flowForm
}

// conditionForm is a condition of a step: its name, its fields in JSON, nil for none, and the condition itself.
type conditionForm struct {
	name   string
	fields *condition.Fields
	to     *condition.Condition
}

// table returns the JSON form of a step.
func (s *stepForm) table() params.Table {
	return params.Table{
		{Name: "id", Aliases: "step_id name", ID: true, To: &s.ID, Always: true},
		{Name: "action", Aliases: "type tool action_type", To: &s.action, Always: true},
		{Name: "input_from", Doc: "Earlier step; this step works on its files.", ID: true, To: &s.InputFrom},
		{
			Name: "input_from_all",
			Doc:  "Earlier steps; this step works on their files.", ID: true, To: &s.InputFromAll,
		},
		s.conditionRow(params.Row{Name: "condition"}, &s.When),
		{Name: "expect", To: &s.Expect, Def: "expect"},
		{Name: "on_fail", Doc: "Later step to jump to after a failure.", ID: true, To: &s.OnFail},
		{Name: "next", Doc: "Later step to jump to after a success.", ID: true, To: &s.Next},
		{Name: "retry_if", Doc: "Backward jumps to this step or earlier steps; the first that holds is taken.", To: &s.flow.waysBack, Def: "retry_if"},
		{Name: "max_retries", Doc: "Attempts of a visit after the first, 0 to 100.", To: &s.MaxRetries},
		{Name: "max_visits", Doc: "Visits after which no backward jump to this step is taken, 2 to 100.", To: &s.flow.maxVisits},
		{Name: "timeout", Doc: "Limit of an attempt in seconds.", To: &s.flow.timeout},
		{Name: "backoff", Doc: "Seconds to wait before the second attempt; the wait doubles then.", To: &s.flow.backoff},
		{Name: "input", Doc: "\"previous\" for the files of the step that was executed before.", To: &s.Input},
		{Name: "manual", Doc: "Wait before the step for a person's decision.", To: &s.Manual},
		{Name: "raw", Doc: "Read templates in the parameters as text.", To: &s.Raw},
		{Name: "params", To: &s.params},
	}
}

// conditionRow completes the row of a condition, which is read and written as its fields.
func (s *stepForm) conditionRow(r params.Row, to *condition.Condition) params.Row {
	c := &conditionForm{name: r.Name, to: to}
	if !to.IsZero() {
		c.fields = new(to.Fields())
	}
	s.conditions = append(s.conditions, c)
	r.To, r.Def = &c.fields, "condition"
	return r
}
