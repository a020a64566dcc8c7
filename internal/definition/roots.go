package definition

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/template"
)

// References to variables begin with RootVars, and FieldVariables is the field of a pipeline with the variables.
const (
	RootVars       = "vars"
	FieldVariables = "variables"
)

// The other roots of references that are not steps.
const (
	RootPrev = "prev" // the step that was executed before
	RootRun  = "run"
	// FieldShared is the directory that the steps of a run share.
	FieldShared = "shared"
)

// RunRoots returns the roots for a step whose templates may refer to its run: the step executed before, and the run.
func RunRoots() []template.Root {
	return []template.Root{
		{Name: RootPrev, Fields: []template.Field{
			{Name: template.FieldData, Type: template.Any}, {Name: template.FieldError, Type: template.String},
			{Name: template.FieldFiles, Type: template.List}, {Name: "id", Type: template.String},
			{Name: template.FieldOK, Type: template.Bool}, {Name: template.FieldOutput, Type: template.String},
		}},
		{Name: RootRun, Fields: []template.Field{
			{Name: "id", Type: template.String}, {Name: "name", Type: template.String}, {Name: FieldShared, Type: template.String},
		}},
	}
}

// IsResultField reports whether every step has a field of that name for templates.
func IsResultField(name string) bool {
	return slices.ContainsFunc(template.ResultFields(), func(f template.Field) bool { return f.Name == name })
}

// TypeOf returns the name of the type of a JSON value, "null" for nil.
func TypeOf(v any) string {
	switch v := v.(type) {
	case string:
		return "string"
	case float64:
		return "number"
	case json.Number:
		if strings.Trim(string(v), "-0123456789") != "" {
			return "number"
		}
		return "integer" // an integer beyond int64
	case int64:
		return "integer"
	case bool:
		return "boolean"
	case []any:
		return "list"
	case map[string]any:
		return "object"
	}
	return "null"
}
