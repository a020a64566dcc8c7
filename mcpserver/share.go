package mcpserver

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/millrace-go/millrace"
)

// pipelineSchema returns the schema of the pipelines that this server can run. Repeated parts appear once, in its
// "$defs", and it is written without spaces, because a model reads all of it.
func pipelineSchema(d millrace.Decoder, agents bool) (json.RawMessage, error) {
	text, err := d.Schema()
	if err != nil {
		return nil, err
	}
	var whole map[string]any
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, err
	}
	defs, _ := whole["$defs"].(map[string]any)
	if !agents {
		delete(defs, "sandbox")
		if properties, ok := whole["properties"].(map[string]any); ok {
			delete(properties, "sandbox")
		}
	}
	if condition, ok := defs["condition"].(map[string]any); ok {
		condition["oneOf"] = sharedTypes(condition["oneOf"])
	}
	if step, ok := defs["step"].(map[string]any); ok {
		defs["step"] = sharedSteps(step)
	}
	for _, keys := range []func(map[string]any) map[string]any{wholeOf, valuesOf} {
		s := &sharing{of: keys, times: map[string]int{}, names: map[string]string{}, defs: defs}
		s.walk("", whole, func(_ string, _ map[string]any, text string) { s.times[text]++ })
		s.walk("", whole, s.replace)
	}
	return plainJSON(whole)
}

// sharedSteps returns the schema of a step of several forms, with the common part of all forms only once.
func sharedSteps(step map[string]any) map[string]any {
	forms, _ := step["oneOf"].([]any)
	properties := func(form any) map[string]any {
		object, _ := form.(map[string]any)
		p, _ := object["properties"].(map[string]any)
		return p
	}
	if len(forms) == 0 || properties(forms[0]) == nil {
		return step
	}
	common := maps.Clone(properties(forms[0]))
	for _, form := range forms {
		own := properties(form)
		maps.DeleteFunc(common, func(name string, v any) bool { return jsonOf(own[name]) != jsonOf(v) })
	}
	for _, form := range forms {
		object, ok := form.(map[string]any)
		if !ok {
			return step
		}
		maps.DeleteFunc(properties(form), func(name string, _ any) bool { return common[name] != nil })
		delete(object, "additionalProperties")
		delete(object, "type")
	}
	return map[string]any{"type": "object", "properties": common, "oneOf": forms, "unevaluatedProperties": false}
}

// sharedTypes returns the forms of an object. Forms that differ only in their type become one form.
func sharedTypes(forms any) any {
	list, _ := forms.([]any)
	var shared []any
	types := make(map[string]map[string]any) // the types of each form, by the rest of the form
	for _, form := range list {
		object, _ := form.(map[string]any)
		properties, _ := object["properties"].(map[string]any)
		kind, _ := properties["type"].(map[string]any)
		if kind == nil {
			shared = append(shared, form)
			continue
		}
		name := kind["const"]
		delete(kind, "const")
		if first := types[jsonOf(form)]; first != nil {
			first["enum"] = append(first["enum"].([]any), name)
			continue
		}
		types[jsonOf(form)] = kind
		shared = append(shared, form)
		kind["enum"] = []any{name}
	}
	return shared
}

// A part of a schema is shared from this size in bytes, if it occurs at least this many times.
const (
	shareBytes = 45
	shareTimes = 2
)

// wholeOf returns the whole schema of a parameter.
func wholeOf(part map[string]any) map[string]any { return part }

// valuesOf returns the schema of a parameter without its description.
func valuesOf(part map[string]any) map[string]any {
	values := maps.Clone(part)
	delete(values, "description")
	return values
}

// sharing is one pass over a schema.
type sharing struct {
	of    func(map[string]any) map[string]any
	times map[string]int    // of a part by its JSON
	names map[string]string // of the parts that are shared
	defs  map[string]any
}

// walk calls visit for each parameter with its name and the JSON of its shared part, always in the same order.
func (s *sharing) walk(name string, v any, visit func(name string, part map[string]any, text string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if properties, ok := v[key].(map[string]any); ok && (key == "properties" || key == "$defs") {
				for _, p := range slices.Sorted(maps.Keys(properties)) {
					part, ok := properties[p].(map[string]any)
					if !ok {
						continue
					}
					s.walk(p, part, visit)
					if text := jsonOf(s.of(part)); len(text) >= shareBytes && part["$ref"] == nil {
						visit(p, part, text)
					}
				}
				continue
			}
			s.walk(key, v[key], visit)
		}
	case []any:
		for _, e := range v {
			s.walk(name, e, visit)
		}
	}
}

// replace replaces a parameter, or its values, with a reference if it occurs several times in the schema.
func (s *sharing) replace(name string, part map[string]any, text string) {
	if s.times[text] < shareTimes {
		return
	}
	shared, ok := s.names[text]
	if !ok {
		values := s.of(part)
		shared = s.free(name, values)
		s.names[text], s.defs[shared] = shared, maps.Clone(values)
	}
	for key := range s.of(part) {
		delete(part, key)
	}
	part["$ref"] = "#/$defs/" + shared
}

// free returns an unused name for a shared part: the parameter's name, or the name of its type if parameters of several
// names share it.
func (s *sharing) free(name string, values map[string]any) string {
	if values["description"] == nil {
		name = typeName(values)
	}
	free := name
	for n := 2; s.defs[free] != nil; n++ {
		free = name + "_" + strconv.Itoa(n)
	}
	return free
}

// typeName returns a short name for the type of values.
func typeName(values map[string]any) string {
	alternatives, _ := values["anyOf"].([]any)
	for _, a := range append(alternatives, values) {
		object, _ := a.(map[string]any)
		switch object["type"] {
		case "boolean":
			return "flag"
		case "integer", "number":
			return "number"
		case "array":
			return "list"
		case "object":
			return "object"
		}
	}
	return "text"
}

func jsonOf(v any) string {
	text, _ := json.Marshal(v) // schemas contain only JSON values
	return string(text)
}
