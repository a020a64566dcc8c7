package millrace

import (
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/params"
)

// pipelineTable is the JSON form of a pipeline.
func pipelineTable(d *draft, steps *params.Part) params.Table {
	o := &d.options
	return params.Table{
		{Name: "name", Aliases: "pipeline_name title", Doc: "Name of the pipeline.", To: &d.name, Always: true, Most: MaxNameLen},
		{
			Name: "dry_run", Aliases: "dry preview preview_only simulate what_if test_run dry_run_only no_write",
			Doc: "Work everything out and write nothing.", To: &o.DryRun,
		},
		{Name: "force", Doc: "Pass the file limit and the risk levels, up to the host's ceiling.", To: &o.Force},
		{
			Name: "stop_on_error", Aliases: "fail_fast stop_on_failure abort_on_error halt_on_error",
			Doc: "Stop at the first step that fails unhandled, and write nothing.", Unless: true, To: &o.ContinueOnError,
		},
		{
			Name: "create_backup", Aliases: "backup backups with_backup make_backup",
			Doc: "Keep a backup of what is changed.", Unless: true, To: &o.NoBackup,
		},
		{Name: "verbose", Doc: "List everything in the report.", To: &o.Verbose},
		{Name: "parallel", Doc: "Run steps that do not depend on each other at the same time.", To: &o.Parallel},
		{Name: "steps", Aliases: "pipeline_steps tasks actions", To: steps, Most: MaxSteps, Def: "step"},
	}
}

// appendSteps appends the steps for decoders that start from what prototype returns.
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
		f := &stepForm{Step: s, action: s.Action.Spec().Name, params: params.Part{JSON: data}}
		if dst, err = f.table().Append(dst); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// stepForm is a step with what stands for parts of it in JSON.
type stepForm struct {
	*Step
	action     string
	params     params.Part
	conditions []*conditionForm
}

// conditionForm is a condition of a step: the row that it has, its fields in JSON, nil for none, and where it stands.
type conditionForm struct {
	name   string
	fields *condition.Fields
	to     *condition.Condition
}

// table is the JSON form of a step.
func (s *stepForm) table() params.Table {
	return params.Table{
		{Name: "id", Aliases: "step_id name", ID: true, To: &s.ID, Always: true},
		{Name: "action", Aliases: "type tool action_type", To: &s.action, Always: true},
		{Name: "input_from", Aliases: "from files_from input_step", Doc: "Earlier step whose files this one works on.", ID: true, To: &s.InputFrom},
		{
			Name: "input_from_all", Aliases: "inputs_from files_from_all", Doc: "Earlier steps whose files this one works on.",
			ID: true, To: &s.InputFromAll,
		},
		s.conditionRow(params.Row{Name: "condition", Aliases: "when if only_if run_if"}, &s.When),
		{Name: "expect", Aliases: "expected expects", To: &s.Expect, Def: "expect"},
		{Name: "raw", Doc: "Take what looks like a template as text.", To: &s.Raw},
		{Name: "params", Aliases: "args arguments parameters", To: &s.params},
	}
}

// conditionRow completes the row of a condition, which is read and written by its fields.
func (s *stepForm) conditionRow(r params.Row, to *condition.Condition) params.Row {
	c := &conditionForm{name: r.Name, to: to}
	if !to.IsZero() {
		c.fields = new(to.Fields())
	}
	s.conditions = append(s.conditions, c)
	r.To, r.Def = &c.fields, "condition"
	return r
}
