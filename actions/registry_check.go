package actions

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/paramtags"
)

// deepestField is the depth to which nested structs are checked, because a type may contain itself.
const deepestField = 10

// checkFields returns the reason why the fields of a struct cannot be parameters, nil if they can. names has the JSON
// names of the fields around the embedded struct t.
func checkFields(t reflect.Type, names map[string]bool, depth int) error {
	for i := 0; i < t.NumField() && depth < deepestField; i++ {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct && !readsItself(f.Type) {
			if err := checkFields(f.Type, names, depth+1); err != nil {
				return err
			}
			continue
		}
		if !f.IsExported() || tag == "-" {
			if f.Tag.Get("param") != "" || f.Tag.Get("enum") != "" {
				return fmt.Errorf("field %s: it has a param or enum tag, but is not a parameter", f.Name)
			}
			continue
		}
		if name == "" {
			name = f.Name
		}
		if names[name] {
			return fmt.Errorf("field %s: another field has the name %q in JSON too", f.Name, name)
		}
		names[name] = true
		if err := checkField(f, depth); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	return nil
}

// checkField returns the reason why a field cannot be a parameter, because of its tags or its type.
func checkField(f reflect.StructField, depth int) error {
	if tag, ok := f.Tag.Lookup("param"); ok {
		if _, err := paramtags.Parse(tag, f.Type); err != nil {
			return err
		}
	}
	t := f.Type
	for (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map) && !readsItself(t) {
		t = t.Elem()
	}
	if tag, ok := f.Tag.Lookup("enum"); ok {
		switch {
		case t.Kind() != reflect.String || readsItself(t):
			return fmt.Errorf("only strings, and lists and maps of them, can have an enum tag, not %v", f.Type)
		case slices.Contains(strings.Split(tag, ","), ""):
			return fmt.Errorf("enum tag has an empty value")
		}
	}
	if readsItself(t) {
		return nil
	}
	switch t.Kind() {
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return fmt.Errorf("%v is a type that JSON has no values of", t)
	case reflect.Struct:
		return checkFields(t, make(map[string]bool), depth+1)
	}
	return nil
}

// readsItself reports whether a type has its own form in JSON, or in text.
func readsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}
