package millrace

import (
	"encoding/json"

	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// pipelineFields is the JSON form of a pipeline.
func pipelineFields(d *draft, steps form.Value) form.Fields {
	o := &d.options
	return form.Fields{
		{Name: "name", Aliases: "pipeline_name title", Doc: "Name of the pipeline.", To: &d.name, Always: true, Most: MaxNameLen},
		{
			Name: "dry_run", Aliases: "dry preview preview_only simulate what_if test_run dry_run_only no_write",
			Doc: "Work everything out and write nothing.", Kind: form.Flag, To: &o.DryRun,
		},
		{Name: "force", Doc: "Pass the file limit and the risk levels, up to the host's ceiling.", Kind: form.Flag, To: &o.Force},
		{
			Name: "stop_on_error", Aliases: "fail_fast stop_on_failure abort_on_error halt_on_error",
			Doc: "Stop at the first step that fails unhandled, and write nothing.", Kind: form.Unless, To: &o.ContinueOnError,
		},
		{
			Name: "create_backup", Aliases: "backup backups with_backup make_backup",
			Doc: "Keep a backup of what is changed.", Kind: form.Unless, To: &o.NoBackup,
		},
		{Name: "verbose", Doc: "List everything in the report.", Kind: form.Flag, To: &o.Verbose},
		{Name: "parallel", Doc: "Run steps that do not depend on each other at the same time.", Kind: form.Flag, To: &o.Parallel},
		{Name: "steps", Aliases: "pipeline_steps tasks actions", Kind: form.List, To: steps, Most: MaxSteps},
	}
}

// stepsForm are the steps of a pipeline that is written, for decoders that start from what prototype returns.
type stepsForm struct {
	steps     []Step
	prototype func(Step) any
}

func (s *stepsForm) Fields() form.Fields           { return nil }
func (s *stepsForm) Read(*strictjson.Node, string) {}

func (s *stepsForm) Append(dst []byte) ([]byte, error) {
	dst = append(dst, '[')
	for i := range s.steps {
		if i > 0 {
			dst = append(dst, ',')
		}
		step := &s.steps[i]
		data, err := params.Encode(step.Action, s.prototype(*step), step.Bind)
		if err != nil {
			return dst, err
		}
		f := &stepForm{Step: step, action: step.Action.Spec().Name, params: data}
		if dst, err = f.fields().Append(dst); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// stepForm is a step with what stands for parts of it in JSON.
type stepForm struct {
	*Step
	action string
	params json.RawMessage // to be written

	t       *decoding        // that reads it
	values  *strictjson.Node // of the parameters, as read
	typ     string           // of the condition, as read, and its other fields
	stepRef string
	path    string
	value   *int
}

// fields is the JSON form of a step.
func (s *stepForm) fields() form.Fields {
	return form.Fields{
		{Name: "id", Aliases: "step_id name", Kind: form.ID, To: &s.ID, Always: true},
		{Name: "action", Aliases: "type tool action_type", To: &s.action, Always: true},
		{
			Name: "input_from", Aliases: "from files_from input_step", Doc: "Earlier step whose files this one works on.",
			Kind: form.ID, To: &s.InputFrom,
		},
		{
			Name: "input_from_all", Aliases: "inputs_from files_from_all", Doc: "Earlier steps whose files this one works on.",
			Kind: form.IDs, To: &s.InputFromAll,
		},
		{Name: "condition", Aliases: "when if only_if run_if", Kind: form.Object, To: (*conditionForm)(s)},
		{Name: "expect", Aliases: "expected expects", Kind: form.Object, To: (*expectForm)(s)},
		{Name: "raw", Doc: "Take what looks like a template as text.", Kind: form.Flag, To: &s.Raw},
		{Name: "params", Aliases: "args arguments parameters", Kind: form.Object, To: (*paramsForm)(s)},
	}
}

// conditionForm is the condition of a step.
type conditionForm stepForm

// Fields is the JSON form of a condition. Which of the fields a type has, condition.New says.
func (s *conditionForm) Fields() form.Fields {
	types := condition.Types()
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return form.Fields{
		{Name: "type", To: &s.typ, Enum: names},
		{Name: "step_ref", Aliases: "step step_id ref", Kind: form.ID, To: &s.stepRef},
		{Name: "path", Aliases: "file file_path", To: &s.path},
		{Name: "value", Kind: form.Number, To: &s.value},
	}
}

func (s *conditionForm) Read(n *strictjson.Node, pointer string) {
	s.Fields().Read(n, pointer, s.t)
	c, problems := condition.New(s.typ, s.stepRef, s.path, s.value)
	s.t.badCondition(pointer, problems)
	s.When = c
}

func (s *conditionForm) Append(dst []byte) ([]byte, error) {
	if s.When.IsZero() {
		return dst, nil
	}
	data, err := s.When.MarshalJSON()
	return append(dst, data...), err
}

// expectForm is the expect of a step.
type expectForm stepForm

// Fields is the JSON form of an [Expect].
func (s *expectForm) Fields() form.Fields {
	e := &s.Expect
	return form.Fields{
		{Name: "min_files", Kind: form.Count, To: &e.MinFiles},
		{Name: "max_files", Kind: form.Count, To: &e.MaxFiles},
		{Name: "min_edits", Kind: form.Count, To: &e.MinEdits},
		{Name: "max_edits", Kind: form.Count, To: &e.MaxEdits},
	}
}

func (s *expectForm) Read(n *strictjson.Node, pointer string) { s.Fields().Read(n, pointer, s.t) }

func (s *expectForm) Append(dst []byte) ([]byte, error) {
	if s.Expect == (Expect{}) {
		return dst, nil
	}
	return s.Fields().Append(dst)
}

// paramsForm are the parameters of a step. What may be in them depends on its action.
type paramsForm stepForm

func (s *paramsForm) Fields() form.Fields               { return nil }
func (s *paramsForm) Read(n *strictjson.Node, _ string) { s.values = n }
func (s *paramsForm) Append(dst []byte) ([]byte, error) { return append(dst, s.params...), nil }
