package runs

import (
	"encoding/json"
	"slices"
)

// object is an object of a JSON Schema; encoding/json writes its names in alphabetical order.
type object = map[string]any

// Schema returns the JSON Schema (draft 2020-12) of the arguments of a command: a schema for each object that its
// actions accept. It describes strict decoding as far as a schema can. Only Call finds a repeated key, a value with too
// many bytes, and mistakes in a pipeline. The error reports a command that is not available.
func (t Tools) Schema(name string) (json.RawMessage, error) {
	c, err := t.find(name)
	if err != nil {
		return nil, err
	}
	var each []any
	for i := range c.acts {
		if a := &c.acts[i]; a.folded == "" {
			each = append(each, c.actSchema(a))
		}
	}
	return json.MarshalIndent(object{
		"$schema": draft, "title": c.name, "description": c.doc, "type": "object", "oneOf": each,
	}, "", "  ")
}

// FlatSchema returns a schema of the same arguments as one object: if and then express the required and unused
// parameters of each action. It is for clients without oneOf that can at least show the parameters.
func (t Tools) FlatSchema(name string) (json.RawMessage, error) {
	c, err := t.find(name)
	if err != nil {
		return nil, err
	}
	properties := object{"action": object{"enum": c.names(false), "type": "string", "description": "What to do."}}
	for i := range c.params {
		if p := &c.params[i]; !p.lenient {
			properties[p.name] = p.schema()
		}
	}
	var each []any
	required := []string{"action"}
	for i := range c.acts {
		a := &c.acts[i]
		if a.folded != "" {
			continue
		}
		then := object{"required": a.required}
		if len(a.either) > 0 {
			then["oneOf"] = eitherSchema(a.either)
		}
		others := object{}
		for name := range properties {
			if !a.takes(name) {
				others[name] = false
			}
		}
		if len(others) > 0 {
			then["properties"] = others
		}
		isIt := object{"properties": object{"action": object{"const": a.name}}, "required": []string{"action"}}
		each = append(each, object{"if": isIt, "then": then})
	}
	for i := range c.params {
		if name := c.params[i].name; !slices.ContainsFunc(c.acts, func(a act) bool {
			return !slices.Contains(a.required,
				name)
		}) {
			required = append(required, name)
		}
	}
	return json.MarshalIndent(object{
		"$schema": draft, "title": c.name, "description": c.doc, "type": "object",
		"properties": properties, "required": required, "additionalProperties": false, "allOf": each,
	}, "", "  ")
}

const draft = "https://json-schema.org/draft/2020-12/schema"

// actSchema returns the schema of the object that an action accepts.
func (c *command) actSchema(a *act) object {
	properties := object{"action": object{"const": a.name}}
	for i := range c.params {
		if p := &c.params[i]; a.takes(p.name) {
			properties[p.name] = p.schema()
		}
	}
	schema := object{
		"title": a.name, "description": a.doc, "type": "object", "properties": properties,
		"required": append([]string{"action"}, a.required...), "additionalProperties": false,
	}
	if len(a.either) > 0 {
		schema["oneOf"] = eitherSchema(a.either)
	}
	return schema
}

// eitherSchema requires one of the parameters.
func eitherSchema(names []string) []any {
	var each []any
	for _, name := range names {
		each = append(each, object{"required": []string{name}})
	}
	return each
}

// schema returns the schema of a parameter.
func (p *param) schema() object {
	schema := object{}
	switch p.kind {
	case text:
		schema = textSchema(mostText)
	case word:
		schema = object{"type": "string", "enum": p.words}
	case flag:
		schema = object{"type": "boolean"}
	case whole:
		schema = object{"type": "integer", "minimum": p.least, "maximum": p.most}
	case ident:
		schema = object{"anyOf": []any{object{"type": "integer", "minimum": 1, "maximum": maxNumber},
			textSchema(mostText)}}
	case moment:
		schema = object{"type": "string", "format": "date-time"}
	case digest:
		schema = object{"type": "string", "pattern": digits}
	case variables:
		properties := object{"key": textSchema(mostKey), "value": object{"type": "string"}}
		if p.typed {
			properties["variable_type"] = object{"type": "string", "enum": words(variableTypes())}
		}
		schema = object{"type": "array", "maxItems": MaxVariables, "items": object{
			"type": "object", "properties": properties, "required": []string{"key", "value"},
			"additionalProperties": false,
		}}
	case definition:
		schema = object{"anyOf": []any{object{"type": "object"}, object{"type": "string", "minLength": 1}}}
	}
	schema["description"] = p.doc
	return schema
}

func textSchema(most int) object { return object{"type": "string", "minLength": 1, "maxLength": most} }
