package mcpserver

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/millrace-go/millrace"
)

// pipelineSchema is the schema of the pipelines that this server can run. Repeated parts stand in its "$defs" once,
// and it is written without spaces: a model reads it all.
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

// sharedSteps is the schema of a step of several forms. The common part of all forms stands in it once.
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

// sharedTypes are forms of an object, with one form for those that differ in their type alone.
func sharedTypes(forms any) any {
	list, _ := forms.([]any)
	var shared []any
	types := make(map[string]map[string]any) // where the types of a form stand, by the rest of the form
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

// Sizes from which a part of a schema that stands in it several times is shared, in bytes and in times.
const (
	shareBytes = 45
	shareTimes = 2
)

// wholeOf returns the schema of a parameter as a whole.
func wholeOf(part map[string]any) map[string]any { return part }

// valuesOf returns what the schema of a parameter says but for what it means.
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

// walk calls visit for each parameter, by its name, with the JSON of what is shared of it, in an order that is the same
// each time.
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

// replace makes a reference of a parameter, or of its values, that stands in the schema several times.
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

// free returns a name that no part has: that of the parameter, or of its type where parameters of several names have
// it.
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

// typeName is a short name of what values are.
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
	text, _ := json.Marshal(v) // schemas are made of what JSON has
	return string(text)
}
