package params

import (
	"reflect"
	"strings"
)

// Field describes one parameter.
type Field struct {
	// Name is the name in JSON.
	Name string
	// Type is the Go type.
	Type reflect.Type
	// Wants says what the parameter takes, in the words of messages: "a list of strings".
	Wants string
	// Required says that JSON must have it; AllowEmpty that it may then be empty all the same.
	Required   bool
	AllowEmpty bool
	// Enum are the strings allowed, in the order of the tag. Nil means any.
	Enum []string
	// Doc is the sentence of the doc tag.
	Doc string
	// Fields are those of a struct, or of the structs in a list or map or behind a pointer. Nil for all else.
	Fields []Field
}

// Describe returns the parameters of an action, in the order of its fields. The error is a [*TypeError] if a field
// has a type or a tag that is not supported; such a type must not be registered. Only the type of proto matters.
func Describe(proto any) ([]Field, error) {
	s, _, err := shapeOf(proto)
	if err != nil {
		return nil, err
	}
	return describe(s), nil
}

func describe(s *shape) []Field {
	fields := make([]Field, len(s.fields))
	for i, f := range s.fields {
		wants := f.shape.wants()
		if f.single {
			wants = "a string or " + wants
		}
		fields[i] = Field{
			Name: f.name, Type: f.shape.typ, Wants: wants, Required: f.required, AllowEmpty: f.allowEmpty, Enum: f.enum, Doc: f.doc,
		}
		if inner := f.shape.innermost(); inner.form == object {
			fields[i].Fields = describe(inner)
		}
	}
	return fields
}

// innermost returns what lists, maps and pointers hold in the end.
func (s *shape) innermost() *shape {
	for s.elem != nil {
		s = s.elem
	}
	return s
}

// Get returns the parameter of that JSON name, not one within another. ok is false if there is none or value is a nil
// pointer. It is for reading: what it returns may share memory with value.
func Get(value any, name string) (v reflect.Value, ok bool) {
	v = reflect.Indirect(reflect.ValueOf(value))
	if v.Kind() != reflect.Struct {
		return reflect.Value{}, false
	}
	// Only the one field is looked at. That the names are told apart and the types can be parameters is the caller's
	// business, who has checked the action, or will.
	b := builder{root: v.Type()}
	return b.get(v, name)
}

func (b *builder) get(v reflect.Value, name string) (reflect.Value, bool) {
	t := v.Type()
	for i := range t.NumField() {
		tags, err := b.tags(t.Field(i), "")
		switch {
		case err != nil || tags.ignored:
		case tags.embedded:
			if found, ok := b.get(v.Field(i), name); ok {
				return found, true
			}
		case tags.name == name:
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

// TypeAt returns the type of what stands at a JSON pointer below "params", without the pointer if it is one. ok is
// false if nothing stands there: no such name, an index past the end, a name that a map does not have, the inside of
// a nil pointer.
func (a Action) TypeAt(pointer string) (t reflect.Type, ok bool) {
	_, found, _, ok := follow(a.shape, a.value, pointer)
	if !ok {
		return nil, false
	}
	return found.plain().typ, true
}

// Strings calls visit for every string in the parameters that can be a template and contains the given one, with its
// JSON pointer, in the order of the fields, map keys sorted. Map keys and what types with methods of their own hold
// are no such strings.
func (a Action) Strings(containing string, visit func(pointer, s string)) {
	visitStrings(a.shape, a.value, nil, containing, visit)
}

func visitStrings(s *shape, v reflect.Value, at *path, containing string, visit func(pointer, s string)) {
	no := func(s *shape, v reflect.Value) bool {
		return s.form == text && !strings.Contains(v.String(), containing)
	}
	switch s.form {
	case text:
		visit(at.pointer(), v.String())
	case pointer:
		if !v.IsNil() && !no(s.elem, v.Elem()) {
			visitStrings(s.elem, v.Elem(), at, containing, visit)
		}
	case list:
		if !s.elem.hasText() {
			return
		}
		for i := range v.Len() {
			if elem := v.Index(i); !no(s.elem, elem) {
				visitStrings(s.elem, elem, at.elem(i), containing, visit)
			}
		}
	case dict:
		if !s.elem.hasText() {
			return
		}
		for _, key := range sortedKeys(v) {
			if elem := v.MapIndex(key); !no(s.elem, elem) {
				visitStrings(s.elem, elem, at.member(key.String()), containing, visit)
			}
		}
	case object:
		for i := range s.fields {
			f := &s.fields[i]
			fv := v.FieldByIndex(f.index)
			if no(f.shape, fv) || !f.shape.hasText() {
				continue
			}
			inner := visit
			if f.whole {
				inner = func(pointer, s string) {
					if isWhole(s) {
						visit(pointer, s)
					}
				}
			}
			visitStrings(f.shape, fv, at.member(f.name), containing, inner)
		}
	}
}

// hasText reports whether there can be strings in a value.
func (s *shape) hasText() bool {
	switch s = s.innermost(); s.form {
	case text:
		return true
	case object:
		for _, f := range s.fields {
			if f.shape.hasText() {
				return true
			}
		}
	}
	return false
}
