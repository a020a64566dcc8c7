package form

// JSON is an object of a JSON Schema; encoding/json writes its names in alphabetical order.
type JSON = map[string]any

// Schema returns the schema of an object with these fields and no others. The ids of steps are "#/$defs/id", objects
// are "#/$defs/" with their names, lists are of what is "#/$defs/" with their names but for the "s" at the end.
func (f Fields) Schema() JSON {
	properties := make(JSON, len(f))
	for i := range f {
		properties[f[i].Name] = f[i].schema()
	}
	return JSON{"type": "object", "properties": properties, "additionalProperties": false}
}

func (f *Field) schema() JSON {
	s := JSON{}
	id := JSON{"$ref": "#/$defs/id"}
	switch f.Kind {
	case Text:
		s["type"], s["minLength"] = "string", 1
		if f.Most > 0 {
			s["maxLength"] = f.Most
		}
	case ID:
		s = id
	case IDs:
		s["type"], s["items"], s["uniqueItems"] = "array", id, true
	case Flag, Unless:
		s["type"], s["default"] = "boolean", f.Kind == Unless
	case Count:
		s["type"], s["minimum"] = "integer", 0
	case Number:
		s["anyOf"] = []JSON{{"type": "integer"}, {"type": "string", "pattern": "^-?[0-9]+$"}}
	case Object:
		s["$ref"] = "#/$defs/" + f.Name
	case List:
		s["type"], s["minItems"], s["maxItems"] = "array", 1, f.Most
		s["items"] = JSON{"$ref": "#/$defs/" + f.Name[:len(f.Name)-1]}
	}
	if f.Doc != "" {
		s["description"] = f.Doc
	}
	return s
}
