package millrace

import (
	"encoding/json"
	"fmt"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/params"
)

// object is a JSON object; encoding/json writes its names in alphabetical order.
type object = map[string]any

// Schema returns the JSON Schema (draft 2020-12) of the pipelines that the decoder takes, made from its registry. It says
// as much as a schema can; what it cannot, such as that a step refers to an earlier one, Decode checks.
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
	flag := func(def bool, text string) object {
		return object{"type": "boolean", "default": def, "description": text}
	}
	return json.MarshalIndent(object{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"title":       "millrace pipeline",
		"description": "A change to many files in steps, made as one.",
		"type":        "object",
		"properties": object{
			"name":          object{"type": "string", "minLength": 1, "maxLength": MaxNameLen, "description": "Name of the pipeline."},
			"dry_run":       flag(false, "Work everything out and write nothing."),
			"force":         flag(false, "Pass the file limit and the risk levels, up to the host's ceiling."),
			"stop_on_error": flag(true, "Stop at the first step that fails unhandled, and write nothing."),
			"create_backup": flag(true, "Keep a backup of what is changed."),
			"verbose":       flag(false, "List everything in the report."),
			"parallel":      flag(false, "Run steps that do not depend on each other at the same time."),
			"steps":         object{"type": "array", "minItems": 1, "maxItems": MaxSteps, "items": object{"$ref": "#/$defs/step"}},
		},
		"required":             []string{"name", "steps"},
		"additionalProperties": false,
		"$defs":                object{"step": object{"oneOf": each}, "id": idSchema(), "condition": conditionSchema(), "expect": expectSchema()},
	}, "", "  ")
}

func idSchema() object {
	return object{"type": "string", "pattern": "^[A-Za-z0-9_-]+$", "maxLength": MaxIDLen}
}

// actionSchema describes a step with that action.
func actionSchema(prototype actions.Action) (object, error) {
	if _, err := params.Describe(prototype); err != nil {
		return nil, err
	}
	spec := prototype.Spec()
	id := object{"$ref": "#/$defs/id"}
	properties := object{
		"id":        id,
		"action":    object{"const": spec.Name},
		"condition": object{"$ref": "#/$defs/condition"},
		"expect":    object{"$ref": "#/$defs/expect"},
		"raw":       object{"type": "boolean", "default": false, "description": "Take what looks like a template as text."},
		"params":    params.Schema(prototype),
	}
	required := []string{"id", "action"}
	one, many := "Earlier step whose files this one works on.", "Earlier steps whose files this one works on."
	if spec.Input == actions.InputNone {
		one, many = "Earlier step that has to be done before this one, which takes no files.", "Earlier steps that have to be done before this one, which takes no files."
	}
	if spec.Input != actions.InputMany {
		properties["input_from"] = object{"$ref": "#/$defs/id", "description": one}
	}
	all := object{"type": "array", "items": id, "uniqueItems": true, "description": many}
	if spec.Input == actions.InputMany {
		all["minItems"] = 2
		required = append(required, "input_from_all")
	}
	properties["input_from_all"] = all
	if needsParams(prototype) {
		required = append(required, "params")
	}
	return object{
		"title": spec.Name, "description": spec.Summary, "type": "object",
		"properties": properties, "required": required, "additionalProperties": false,
	}, nil
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

func conditionSchema() object {
	var types []any
	for _, t := range condition.Types() {
		properties := object{"type": object{"const": string(t)}}
		required := []string{"type"}
		need := func(name string, schema object) {
			properties[name] = schema
			required = append(required, name)
		}
		switch t {
		case condition.TypeFileExists, condition.TypeFileNotExists:
			need("path", object{"type": "string", "minLength": 1})
		case condition.TypeCountGT, condition.TypeCountLT, condition.TypeCountEQ:
			need("step_ref", object{"$ref": "#/$defs/id"})
			need("value", object{"anyOf": []object{{"type": "integer"}, {"type": "string", "pattern": "^-?[0-9]+$"}}})
		default:
			need("step_ref", object{"$ref": "#/$defs/id"})
		}
		types = append(types, object{"type": "object", "properties": properties, "required": required, "additionalProperties": false})
	}
	return object{"description": "What must hold for the step to run; otherwise it is skipped.", "oneOf": types}
}

func expectSchema() object {
	number := object{"type": "integer", "minimum": 0}
	return object{
		"description": "Bounds outside of which the step fails.", "type": "object",
		"properties":           object{"min_files": number, "max_files": number, "min_edits": number, "max_edits": number},
		"additionalProperties": false,
	}
}
