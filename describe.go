package millrace

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/params"
)

// ActionDoc describes an action for people and models. It belongs to the caller.
type ActionDoc struct {
	// Name is the word in a step's "action", Summary a line of what it does.
	Name    string `json:"name"`
	Summary string `json:"summary"`
	// ReadOnly says that it never writes.
	ReadOnly bool `json:"read_only"`
	// Input says where its files come from.
	Input actions.Input `json:"-"`
	// Params are its parameters in the order of their declaration, each followed by those within it.
	Params []ParamDoc `json:"params"`
}

// ParamDoc describes a parameter of an action.
type ParamDoc struct {
	// Name is the name in "params"; of one in a list of objects "edits[].old_text", of one in an object "range.start".
	Name string `json:"name"`
	// Type says what it takes: "a string", "true or false", "a whole number", "a list of strings".
	Type string `json:"type"`
	// Required says that it must be given.
	Required bool `json:"required,omitempty"`
	// Enum are the strings that it can be, nil for any.
	Enum []string `json:"enum,omitempty"`
	// Doc is what it means, in a sentence or two, with its default.
	Doc string `json:"doc,omitempty"`
}

// Describe returns what there is to know of an action that the decoder takes. ok is false if there is no such action.
func (d Decoder) Describe(action string) (doc ActionDoc, ok bool) {
	if d.Actions.Names() == nil {
		d.Actions = actions.Builtin()
	}
	prototype, ok := d.Actions.Lookup(action)
	if !ok {
		return ActionDoc{}, false
	}
	fields, err := params.Describe(prototype)
	if err != nil {
		return ActionDoc{}, false
	}
	spec := prototype.Spec()
	doc = ActionDoc{Name: action, Summary: spec.Summary, ReadOnly: spec.ReadOnly, Input: spec.Input, Params: []ParamDoc{}}
	doc.add("", fields)
	return doc, true
}

func (doc *ActionDoc) add(within string, fields []params.Field) {
	for _, f := range fields {
		doc.Params = append(doc.Params, ParamDoc{Name: within + f.Name, Type: f.Wants, Required: f.Required, Enum: f.Enum, Doc: f.Doc})
		if len(f.Fields) == 0 {
			continue
		}
		dot := "."
		if f.Type.Kind() == reflect.Slice {
			dot = "[]."
		}
		doc.add(within+f.Name+dot, f.Fields)
	}
}

// Schema returns the JSON Schema (draft 2020-12) of the pipelines that the decoder takes, made from its registry. It
// says as much as a schema can; what it cannot, such as that a step refers to an earlier one, Decode checks.
func (d Decoder) Schema() ([]byte, error) {
	if d.Actions.Names() == nil {
		d.Actions = actions.Builtin()
	}
	var each []any
	for _, name := range d.Actions.Names() {
		prototype, _ := d.Actions.Lookup(name)
		s, err := actionSchema(prototype)
		if err != nil {
			return nil, fmt.Errorf("schema of action %s: %w", name, err)
		}
		each = append(each, s)
	}
	whole := pipelineFields(new(draft), new(stepsForm)).Schema()
	whole["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	whole["title"], whole["description"] = "millrace pipeline", "A change to many files in steps, made as one."
	whole["required"] = []string{"name", "steps"}
	expect := (*expectForm)(emptyStep()).Fields().Schema()
	expect["description"] = "Bounds outside of which the step fails."
	whole["$defs"] = form.JSON{
		"step": form.JSON{"oneOf": each}, "condition": conditionSchema(), "expect": expect,
		"id": form.JSON{"type": "string", "pattern": "^[A-Za-z0-9_-]+$", "maxLength": MaxIDLen},
	}
	return json.MarshalIndent(whole, "", "  ")
}

func emptyStep() *stepForm { return &stepForm{Step: new(Step)} }

// actionSchema describes a step with that action.
func actionSchema(prototype actions.Action) (form.JSON, error) {
	if _, err := params.Describe(prototype); err != nil {
		return nil, err
	}
	spec := prototype.Spec()
	schema := emptyStep().fields().Schema()
	schema["title"], schema["description"] = spec.Name, spec.Summary
	properties := schema["properties"].(form.JSON)
	properties["action"], properties["params"] = form.JSON{"const": spec.Name}, params.Schema(prototype)
	one, many := properties["input_from"].(form.JSON), properties["input_from_all"].(form.JSON)
	required := []string{"id", "action"}
	switch spec.Input {
	case actions.InputNone:
		one["description"] = "Earlier step that has to be done before this one, which takes no files."
		many["description"] = "Earlier steps that have to be done before this one, which takes no files."
	case actions.InputMany:
		delete(properties, "input_from")
		many["minItems"] = 2
		required = append(required, "input_from_all")
	}
	if needsParams(prototype) {
		required = append(required, "params")
	}
	schema["required"] = required
	return schema, nil
}

// needsParams reports whether a step cannot do without "params".
func needsParams(prototype actions.Action) bool {
	fields, err := params.Describe(prototype)
	for _, f := range fields {
		if f.Required {
			return true
		}
	}
	return err != nil
}

// conditionSchema describes each type of condition with the fields that it has.
func conditionSchema() form.JSON {
	var types []any
	for _, t := range condition.Types() {
		_, others := condition.New(string(t), "step", "path", new(0))
		fields := (*conditionForm)(emptyStep()).Fields()
		fields = slices.DeleteFunc(fields, func(f form.Field) bool {
			return slices.ContainsFunc(others, func(p condition.Problem) bool { return p.Field == f.Name })
		})
		schema := fields.Schema()
		var required []string
		for _, f := range fields {
			required = append(required, f.Name)
		}
		schema["required"] = required
		schema["properties"].(form.JSON)["type"] = form.JSON{"const": string(t)}
		types = append(types, schema)
	}
	return form.JSON{"description": "What must hold for the step to run; otherwise it is skipped.", "oneOf": types}
}
