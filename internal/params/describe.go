package params

import (
	"reflect"
	"strings"

	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/synonyms"
)

// Describe returns the form of the parameters of an action, in the order of its fields. The error is a [*TypeError]
// if a field has a type or a tag that is not supported; such a type must not be registered. Only the type of proto
// matters.
func Describe(proto any) (*form.Form, error) {
	s, _, err := shapeOf(proto)
	if err != nil {
		return nil, err
	}
	return s.describe(new(field)), nil
}

// describe returns the form of a value of the field. A type that reads its own JSON may have a method Form.
func (s *shape) describe(f *field) *form.Form {
	switch s.kind {
	case pointer:
		return s.elem.describe(f)
	case text:
		return &form.Form{Kind: form.Text, Enum: f.enum, ID: f.id}
	case boolean:
		return &form.Form{Kind: form.Flag}
	case list:
		return &form.Form{Kind: form.List, Elem: s.elem.describe(f)}
	case dict:
		return &form.Form{Kind: form.Map, Elem: s.elem.describe(f)}
	case object:
		all := &form.Form{Kind: form.Object, Fields: make([]form.Field, len(s.fields))}
		for i := range s.fields {
			all.Fields[i] = s.fields[i].describe()
		}
		return all
	case custom:
		if f, ok := reflect.Zero(s.typ).Interface().(interface{ Form() *form.Form }); ok {
			return f.Form()
		}
		return &form.Form{}
	case anything:
		return &form.Form{}
	default:
		return &form.Form{Kind: form.Number}
	}
}

func (f *field) describe() form.Field {
	wants := f.shape.wants()
	if f.single {
		wants = "a string or " + wants
	}
	aliases := f.aliases
	if aliases == "" {
		aliases = synonyms.Of(f.name)
	}
	return form.Field{Name: f.name, Aliases: aliases, Form: f.shape.describe(f), Wants: wants, Doc: f.doc,
		Required: f.required, Bytes: f.bytes}
}

// Get returns the parameter of that JSON name, not one within another. ok is false if not found. The value is for
// reading only: it may share memory with the action.
func (a Action) Get(name string) (v reflect.Value, ok bool) {
	if a.shape != nil {
		if f := a.shape.field(name); f != nil {
			return a.value.FieldByIndex(f.index), true
		}
	}
	return v, false
}

// TypeAt returns the type of the value at a JSON pointer below "params"; for a pointer, the type that it points to. ok
// is false if the pointer leads to no value: an unknown name, an index past the end, a name that a map does not have,
// the inside of a nil pointer.
func (a Action) TypeAt(pointer string) (t reflect.Type, ok bool) {
	if a.shape != nil {
		if _, found, _, ok := follow(a.shape, a.value, pointer); ok {
			return found.plain().typ, true
		}
	}
	return nil, false
}

// Strings calls visit for every string in the parameters that can be a template and contains the given one, with its
// JSON pointer, in the order of the fields, map keys sorted. It does not visit map keys and the strings in types with
// methods of their own.
func (a Action) Strings(containing string, visit func(pointer, s string)) {
	if a.shape != nil {
		(&visitor{containing, visit}).value(a.shape, a.value, nil, false)
	}
}

// visitor visits the strings that contain a text.
type visitor struct {
	containing string
	visit      func(pointer, s string)
}

// part visits the strings in a part of the value at a path; whole means that a template counts only as a whole string.
func (w *visitor) part(s *shape, v reflect.Value, at *path, name string, index int, whole bool) {
	switch s.kind {
	case boolean, integer, unsigned, float, custom:
	case text:
		if text := v.String(); strings.Contains(text, w.containing) && (!whole || isWhole(text)) {
			w.visit((&path{up: at, name: name, index: index}).pointer(), text)
		}
	case anything:
		w.tree(v, &path{up: at, name: name, index: index})
	default:
		w.value(s, v, &path{up: at, name: name, index: index}, whole)
	}
}

func (w *visitor) value(s *shape, v reflect.Value, at *path, whole bool) {
	switch s.kind {
	case pointer:
		if !v.IsNil() {
			w.part(s.elem, v.Elem(), at.up, at.name, at.index, whole)
		}
	case list:
		for i := range v.Len() {
			w.part(s.elem, v.Index(i), at, "", i, whole)
		}
	case dict:
		for _, key := range sortedKeys(v) {
			w.part(s.elem, v.MapIndex(key), at, key.String(), -1, whole)
		}
	case object:
		for i := range s.fields {
			f := &s.fields[i]
			w.part(f.shape, v.FieldByIndex(f.index), at, f.name, -1, whole || f.whole)
		}
	}
}
