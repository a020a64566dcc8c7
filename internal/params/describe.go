package params

import (
	"reflect"
	"strings"

	"github.com/millrace-go/millrace/internal/form"
)

// Describe returns the form of the parameters of an action, in the order of its fields. The error is a [*TypeError] if a
// field has a type or a tag that is not supported; such a type must not be registered. Only the type of proto matters.
func Describe(proto any) (*form.Form, error) {
	s, _, err := shapeOf(proto)
	if err != nil {
		return nil, err
	}
	return s.describe(new(field)), nil
}

// describe returns the form of a value of the field.
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
		aliases = usualAliases[f.name]
	}
	return form.Field{Name: f.name, Aliases: aliases, Form: f.shape.describe(f), Wants: wants, Doc: f.doc, Required: f.required}
}

// usualAliases are the names that other tools give parameters of these names.
var usualAliases = map[string]string{
	"old_text":         "old_string old_str old search search_text find find_text",
	"new_text":         "new_string new_str new replace replace_text replace_with replacement",
	"old_str":          "old_text old_string old search find",
	"new_str":          "new_text new_string new replace replace_with replacement",
	"replacement":      "replace replace_with new_text new_string",
	"pattern":          "regex regexp query search search_text",
	"edits":            "replacements changes",
	"patterns":         "transforms rules replacements",
	"files":            "file file_path file_paths path paths",
	"path":             "file file_path dir directory root folder",
	"file_types":       "extensions exts",
	"include":          "glob globs include_globs include_patterns",
	"exclude":          "exclude_globs exclude_patterns excludes",
	"exclude_patterns": "exclude excludes exclude_globs",
	"destination":      "dest dst target target_dir destination_dir to_dir",
	"ignore_case":      "case_insensitive",
	"start_line":       "start from_line line_start",
	"start":            "start_line from_line line_start",
	"end_line":         "end to_line line_end",
	"end":              "end_line to_line line_end",
	"content":          "file_text contents text",
	"file_text":        "content contents text",
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
		return s.kind == text && !strings.Contains(v.String(), containing)
	}
	switch s.kind {
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
	for s.elem != nil {
		s = s.elem
	}
	switch s.kind {
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
