package planfile

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/millrace-go/millrace/internal/strictjson"
)

// maxObjects limits the objects of a stored plan: two for each of two million edits. An object written in two bytes can
// take hundreds of bytes of memory.
const maxObjects = 4 << 20

// Limits bound the text of a plan. Negative means no limit.
type Limits struct {
	MaxBytes int
	MaxDepth int
}

// Decode reads a text into v, a pointer to a struct that has the [Changes]. The text must be strict JSON of exactly
// that form. encoding/json alone accepts names in any case, and uses the last of repeated names, so a person could read
// a plan that differs from the committed plan. byHand are the names that types with their own MarshalJSON add to their
// fields. The error is an *Error.
func Decode(data []byte, v any, limits Limits, byHand map[reflect.Type]string) error {
	err := checkText(data, limits)
	if err == nil {
		err = strictjson.Check(data, strictjson.Limits{MaxDepth: limits.MaxDepth}, shapeOf(reflect.TypeOf(v), byHand))
	}
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if bad, ok := errors.AsType[*Error](err); ok {
		return bad
	}
	if err != nil {
		return &Error{Err: err}
	}
	return nil
}

// checkText checks the text against the limits before it is parsed.
func checkText(data []byte, limits Limits) error {
	if most := limits.MaxBytes; most > 0 && len(data) > most {
		return fmt.Errorf("the text is too large: %d bytes, at most %d are allowed; if it is to be trusted, "+
			"raise MaxPlanBytes", len(data), most)
	}
	objects, err := strictjson.CheckDepth(data, limits.MaxDepth)
	if err == nil && objects > maxObjects {
		err = fmt.Errorf("the text has too many objects (max %d, got %d)", maxObjects, objects)
	}
	return err
}

// EachElement calls read for each element of a list, which may be null. Unknown names in it are refused.
func EachElement(data []byte, read func(dec *json.Decoder) error) error {
	if string(data) == "null" {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if open, err := dec.Token(); err != nil || open != json.Delim('[') {
		return errors.Join(errors.New("a list was expected"), err)
	}
	for dec.More() {
		if err := read(dec); err != nil {
			return err
		}
	}
	return nil
}

// shapeOf returns the shape of the JSON of a type: nil for a string, a number or a bool.
func shapeOf(t reflect.Type, byHand map[reflect.Type]string) *strictjson.Shape {
	switch {
	case t.Kind() == reflect.Pointer:
		return shapeOf(t.Elem(), byHand)
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return nil
	}
	switch t.Kind() {
	case reflect.Interface:
		return strictjson.Anything()
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return nil
		}
		return &strictjson.Shape{List: true, Each: shapeOf(t.Elem(), byHand)}
	case reflect.Map:
		return &strictjson.Shape{Each: shapeOf(t.Elem(), byHand)}
	case reflect.Struct:
		s := &strictjson.Shape{Names: make(map[string]*strictjson.Shape)}
		add := func(t reflect.Type) {
			if name := byHand[t]; name != "" {
				s.Names[name] = nil
			}
		}
		add(t)
		for _, f := range reflect.VisibleFields(t) {
			switch name, _, _ := strings.Cut(f.Tag.Get("json"), ","); {
			case f.Anonymous && name == "":
				add(f.Type) // its fields come next
			case name != "-" && f.IsExported():
				s.Names[cmp.Or(name, f.Name)] = shapeOf(f.Type, byHand)
			}
		}
		return s
	default:
		return nil
	}
}
