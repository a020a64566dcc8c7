package params

import (
	"encoding/json"
	"math"
	"reflect"
)

// Schema returns the JSON Schema (draft 2020-12) of an action's params object, for use in a larger schema: it has no
// "$schema". A parameter that is not a string also accepts a string with "{{" in it. Defaults come from proto. The
// schema is a guide for writing: only [Decode] checks whether a template is valid, and that a required number is not 0.
// The map may be modified; it is nil for a value that [Describe] refuses.
func Schema(proto any) map[string]any {
	s, v, err := shapeOf(proto)
	if err != nil {
		return nil
	}
	if !v.IsValid() {
		v = reflect.Zero(s.typ)
	}
	return schemer{templates: true}.object(s, v)
}

// PartSchema returns the JSON Schema of a struct in a [Table], or nil like [Schema]. It allows no templates.
func PartSchema(proto any) map[string]any {
	s, v, err := shapeOf(proto)
	if err != nil {
		return nil
	}
	return schemer{}.object(s, v)
}

// schemer makes schemas.
type schemer struct {
	templates bool // allow templates in place of values, and empty strings unless they are required
}

// object describes a struct; v has the defaults.
func (c schemer) object(s *shape, v reflect.Value) map[string]any {
	properties := make(map[string]any, len(s.fields))
	var required []string
	for i := range s.fields {
		f := &s.fields[i]
		properties[f.name] = c.property(f, v.FieldByIndex(f.index))
		if f.required {
			required = append(required, f.name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// property describes a field; v is its default.
func (c schemer) property(f *field, v reflect.Value) map[string]any {
	property := c.value(f.shape, v, f)
	if f.nonzero {
		property["not"] = map[string]any{"const": 0}
	}
	switch {
	case f.single:
		property = anyOf(property, map[string]any{"type": "string", "minLength": 1})
	case f.bytes:
		property = anyOf(property, bytesSchema())
	case f.quoted:
		property = anyOf(property, map[string]any{"type": "string", "pattern": "^-?[0-9]+$"})
	default:
		property = c.orTemplate(f.shape, property)
	}
	if f.doc != "" {
		property["description"] = f.doc
	}
	if f.count {
		property["minimum"] = 0
	}
	if def, ok := defaultOf(f, v); ok {
		property["default"] = def
	} else if !c.templates && f.shape.kind == boolean {
		property["default"] = false
	}
	if f.required && !f.allowEmpty {
		refuseEmpty(f.shape, property)
	}
	return property
}

func anyOf(schemas ...any) map[string]any { return map[string]any{"anyOf": schemas} }

// orTemplate allows a template in place of the value, unless the schema accepts any string already.
func (c schemer) orTemplate(s *shape, schema map[string]any) map[string]any {
	if !c.templates || !s.bindable() || s.plain().kind == custom {
		return schema
	}
	return anyOf(schema, templateSchema())
}

func templateSchema() map[string]any {
	return map[string]any{"type": "string", "pattern": `\{\{`}
}

// value describes a value of a field; v is the default, which matters only for the fields of a struct.
func (c schemer) value(s *shape, v reflect.Value, f *field) map[string]any {
	elem := func() map[string]any { return c.orTemplate(s.elem, c.value(s.elem, reflect.Zero(s.elem.typ), f)) }
	switch s.kind {
	case pointer:
		return c.value(s.elem, reflect.Zero(s.elem.typ), f)
	case boolean:
		return map[string]any{"type": "boolean"}
	case integer, unsigned:
		return integerSchema(s)
	case float:
		return map[string]any{"type": "number"}
	case list:
		list := map[string]any{"type": "array", "items": elem()}
		if f.id {
			list["uniqueItems"] = true
		}
		return list
	case dict:
		return map[string]any{"type": "object", "additionalProperties": elem()}
	case object:
		return c.object(s, v)
	case anything:
		return map[string]any{}
	case custom:
		if s.viaJSON {
			return map[string]any{} // the type decides which values it accepts
		}
		return map[string]any{"type": "string"}
	}
	switch {
	case f.id:
		return map[string]any{"$ref": "#/$defs/id"}
	case len(f.enum) > 0:
		return anyOf(map[string]any{"enum": f.enum}, templateSchema())
	case !c.templates:
		return map[string]any{"type": "string", "minLength": 1}
	}
	return map[string]any{"type": "string"}
}

func integerSchema(s *shape) map[string]any {
	schema := map[string]any{"type": "integer"}
	bits := s.typ.Bits()
	switch {
	case s.kind == unsigned:
		schema["minimum"] = 0
		if bits <= 32 {
			schema["maximum"] = uint64(math.MaxUint64) >> (64 - bits)
		}
	case bits < 32:
		schema["minimum"], schema["maximum"] = int64(math.MinInt64)>>(64-bits), int64(math.MaxInt64)>>(64-bits)
	}
	return schema
}

// refuseEmpty requires that a parameter is not empty, if the schema has a keyword for it.
func refuseEmpty(s *shape, schema map[string]any) {
	key := map[kind]string{text: "minLength", list: "minItems", dict: "minProperties"}[s.kind]
	if key == "" {
		return
	}
	// With anyOf, the first alternative is the value itself.
	if either, ok := schema["anyOf"].([]any); ok && (s.kind == list || s.kind == dict) {
		schema = either[0].(map[string]any)
	}
	schema[key] = 1
}

// defaultOf returns the prototype's value as encoding/json would decode it.
func defaultOf(f *field, v reflect.Value) (any, bool) {
	if f.required || f.shape.kind == object || isEmpty(f.shape, v) {
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
