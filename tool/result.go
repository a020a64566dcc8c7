package tool

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/millrace-go/millrace/internal/nearest"
	"github.com/millrace-go/millrace/internal/template"
)

// CheckPath reports the problem of a path into the data of the tool called name: a member that its Spec.Result does
// not have. The problem's Pointer is "". ok is true if the path may be valid: a type with its own JSON, or a map, can
// have any member.
func (s Set) CheckPath(name string, path template.Path) (p Problem, ok bool) {
	t := s.tools[name].spec.Result
	for i, part := range path {
		for t != nil && t.Kind() == reflect.Pointer && !writesItself(t) {
			t = t.Elem()
		}
		if t == nil || t.Kind() == reflect.Interface || writesItself(t) {
			return p, true
		}
		message := fmt.Sprintf("tool '%s' returns no '%s'", name, strings.TrimPrefix(path[:i+1].String(), "."))
		switch kind := t.Kind(); {
		case kind == reflect.Struct && !part.Indexed:
			names, types := fields(t, nil)
			next, found := types[part.Key]
			if !found {
				near, _ := nearest.Of(part.Key, names)
				hint := "it has " + strings.Join(names, ", ")
				if near != "" {
					hint = fmt.Sprintf("did you mean '%s'?", near)
				}
				return Problem{Message: message, Hint: hint}, false
			}
			t = next
		case kind == reflect.Map && !part.Indexed:
			t = t.Elem()
		case (kind == reflect.Slice || kind == reflect.Array) && t.Elem().Kind() != reflect.Uint8 && part.Indexed:
			t = t.Elem()
		default:
			return Problem{Message: message, Hint: "there it returns " + describe(t)}, false
		}
	}
	return p, true
}

// describe returns the JSON kind of a type.
func describe(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() != reflect.Uint8 {
			return "a list"
		}
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a number"
	default:
	}
	return "a string"
}

// writesItself reports whether methods of a type determine its JSON.
func writesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// fields returns the JSON names of a struct's fields, in order, and the types of their values. within are the structs
// that it is embedded in, because a type may embed a pointer to itself.
func fields(t reflect.Type, within []reflect.Type) (names []string, types map[string]reflect.Type) {
	types = make(map[string]reflect.Type)
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case f.Tag.Get("json") == "-":
		case f.Anonymous && tag == "" && inner.Kind() == reflect.Struct:
			for _, outer := range within {
				if outer == inner {
					return names, types
				}
			}
			more, of := fields(inner, append(within, t))
			for _, name := range more {
				if types[name] == nil {
					names, types[name] = append(names, name), of[name]
				}
			}
		case f.IsExported():
			name := cmp.Or(tag, f.Name)
			if types[name] == nil {
				names = append(names, name)
			}
			types[name] = f.Type // wins over fields of embedded structs
		}
	}
	return names, types
}
