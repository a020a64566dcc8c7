package params

import (
	"encoding/json"
	"math"
	"reflect"
)

// Schema returns the JSON Schema (draft 2020-12) of an action's params object, to be put into a larger one: it has no
// "$schema". A parameter that is not a string accepts a string with "{{" in it too. Defaults are those of proto. It
// is a guide for writing: whether a string is a template that can be filled in, and that a required number is not 0,
// only [Decode] finds out. The map may be modified; it is nil for a value that [Describe] refuses.
func Schema(proto any) map[string]any {
	s, v, err := shapeOf(proto)
	if err != nil {
		return nil
	}
	if !v.IsValid() {
		v = reflect.Zero(s.typ)
	}
	return objectSchema(s, v)
}

// objectSchema describes a struct; v holds the defaults.
func objectSchema(s *shape, v reflect.Value) map[string]any {
	properties := make(map[string]any, len(s.fields))
	var required []string
	for _, f := range s.fields {
		fv := v.FieldByIndex(f.index)
		property := schemaOf(f.shape, fv, f.enum)
		if f.nonzero {
			property["not"] = map[string]any{"const": 0}
		}
		if f.single {
			property = map[string]any{"anyOf": []any{property, map[string]any{"type": "string", "minLength": 1}}}
		} else {
			property = orTemplate(f.shape, property)
		}
		if f.doc != "" {
			property["description"] = f.doc
		}
		if def, ok := defaultOf(f, fv); ok {
			property["default"] = def
		}
		if f.required {
			required = append(required, f.name)
			if !f.allowEmpty {
				refuseEmpty(f.shape, property)
			}
		}
		properties[f.name] = property
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// orTemplate adds that a template can stand in place of the value, unless the schema takes any string already.
func orTemplate(s *shape, schema map[string]any) map[string]any {
	if !s.bindable() || s.plain().form == custom {
		return schema
	}
	return map[string]any{"anyOf": []any{schema, templateSchema()}}
}

func templateSchema() map[string]any {
	return map[string]any{"type": "string", "pattern": `\{\{`}
}

// schemaOf describes a value; v holds the default, which matters only for the fields of a struct.
func schemaOf(s *shape, v reflect.Value, enum []string) map[string]any {
	switch s.form {
	case pointer:
		return schemaOf(s.elem, reflect.Zero(s.elem.typ), enum)
	case boolean:
		return map[string]any{"type": "boolean"}
	case integer, unsigned:
		return integerSchema(s)
	case float:
		return map[string]any{"type": "number"}
	case list:
		return map[string]any{"type": "array", "items": elemSchema(s.elem, enum)}
	case dict:
		return map[string]any{"type": "object", "additionalProperties": elemSchema(s.elem, enum)}
	case object:
		return objectSchema(s, v)
	case custom:
		if s.viaJSON {
			return map[string]any{} // what it accepts is its own affair
		}
		return map[string]any{"type": "string"}
	}
	if len(enum) > 0 {
		return map[string]any{"anyOf": []any{map[string]any{"enum": enum}, templateSchema()}}
	}
	return map[string]any{"type": "string"}
}

func elemSchema(s *shape, enum []string) map[string]any {
	return orTemplate(s, schemaOf(s, reflect.Zero(s.typ), enum))
}

func integerSchema(s *shape) map[string]any {
	schema := map[string]any{"type": "integer"}
	bits := s.typ.Bits()
	switch {
	case s.form == unsigned:
		schema["minimum"] = 0
		if bits <= 32 {
			schema["maximum"] = uint64(math.MaxUint64) >> (64 - bits)
		}
	case bits < 32:
		schema["minimum"], schema["maximum"] = int64(math.MinInt64)>>(64-bits), int64(math.MaxInt64)>>(64-bits)
	}
	return schema
}

// refuseEmpty adds that a required parameter must not be empty, where there is a plain way to say so.
func refuseEmpty(s *shape, schema map[string]any) {
	key := map[form]string{text: "minLength", list: "minItems", dict: "minProperties"}[s.form]
	if key == "" {
		return
	}
	// With anyOf, the first alternative is the value itself.
	if either, ok := schema["anyOf"].([]any); ok && s.form == list {
		schema = either[0].(map[string]any)
	}
	schema[key] = 1
}

// defaultOf returns the prototype's value as encoding/json would decode it.
func defaultOf(f field, v reflect.Value) (any, bool) {
	if f.required || f.shape.form == object || isEmpty(f.shape, v) {
		return nil, false
	}
	e := &encoder{}
	if e.value(f.shape, v, reflect.Value{}, nil) != nil {
		return nil, false
	}
	var def any
	if json.Unmarshal(e.buf, &def) != nil {
		return nil, false
	}
	return def, true
}
