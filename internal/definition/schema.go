package definition

import (
	"maps"
	"slices"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/params"
)

// Object is an object of a JSON Schema; encoding/json writes its names in alphabetical order.
type Object = map[string]any

// ConditionSchema describes each type of condition with its fields.
func ConditionSchema() Object {
	var types []any
	for _, t := range condition.Types() {
		schema := params.PartSchema(condition.Fields{})
		properties := schema["properties"].(Object)
		maps.DeleteFunc(properties, func(name string, _ any) bool { return !slices.Contains(t.Fields(), name) })
		properties["type"] = Object{"const": string(t)}
		schema["required"] = t.Fields()
		types = append(types, schema)
	}
	types = append(types, Object{"const": condition.Short})
	return Object{"description": "Condition of the step; if it does not hold, the step is skipped.", "oneOf": types}
}

// BudgetSchema describes a budget.
func BudgetSchema() Object {
	more := func(kind, doc string) Object {
		return Object{"type": kind, "exclusiveMinimum": 0, "description": doc}
	}
	return Object{
		"description": "Budget of a run.",
		"oneOf": []any{
			more("number", "US dollars, with 6 decimals at most."),
			Object{
				"type": "object", "additionalProperties": false, "minProperties": 1,
				"properties": Object{
					"usd":   more("number", "US dollars for all steps together, with 6 decimals at most."),
					"files": more("integer", "How many files may be changed."),
					"edits": more("integer", "How many edits may be made."),
					"bytes": more("integer",
						"How many bytes the files that are created or modified may have together."),
				},
			},
		},
	}
}

// RetrySchema describes both forms of retry_if.
func RetrySchema() Object {
	way := params.PartSchema(WayBack{})
	properties := way["properties"].(Object)
	properties["when"] = Object{"$ref": "#/$defs/condition"}
	way["required"] = []string{"step"}
	way["oneOf"] = []any{Object{"required": []string{"keyword"}}, Object{"required": []string{"when"}}}
	keywords := Object{
		"type": "object", "propertyNames": Object{"$ref": "#/$defs/id"}, "maxProperties": MaxWaysBack,
		"additionalProperties": Object{"type": "string", "minLength": 1},
	}
	return Object{"oneOf": []any{Object{"type": "array", "maxItems": MaxWaysBack, "items": way}, keywords}}
}

// SandboxSchema describes a sandbox.
func SandboxSchema() Object {
	schema := params.PartSchema(Sandbox{})
	schema["description"] = "Defaults of prompts."
	maps.Copy(schema["properties"].(Object)["timeout"].(Object),
		Object{"exclusiveMinimum": 0, "maximum": Timeout().MaxSeconds()})
	return schema
}

// LimitFlow adds the ranges of the fields that control a run to the properties of a step. An action that uses no files,
// or the files of several steps, cannot use the files of the step before.
func LimitFlow(properties Object, input actions.Input) {
	limit := func(name string, limits Object) { maps.Copy(properties[name].(Object), limits) }
	limit("max_retries", Object{"minimum": 0, "maximum": MaxRetries})
	limit("max_visits", Object{"minimum": 2, "maximum": MaxVisits})
	limit("timeout", Object{"exclusiveMinimum": 0, "maximum": Timeout().MaxSeconds()})
	limit("backoff", Object{"minimum": 0, "maximum": Backoff().MaxSeconds()})
	limit("input", Object{"const": InputPrevious})
	if input == actions.InputNone || input == actions.InputMany {
		delete(properties, "input")
	}
}
