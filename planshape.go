package millrace

import (
	"encoding"
	"reflect"
	"strings"

	"github.com/millrace-go/millrace/internal/strictjson"
)

// planShape is what the JSON of a plan has to look like: encoding/json by itself takes names in any case, and the last of
// those that are repeated, so that who reads a plan before it is committed may see another one than is committed.
func planShape() *strictjson.Shape { return shapeOf(reflect.TypeFor[planJSON]()) }

// shapeOf returns the shape of the JSON of a type: nil for what is a string, a number or a bool there.
func shapeOf(t reflect.Type) *strictjson.Shape {
	switch {
	case t.Kind() == reflect.Pointer:
		return shapeOf(t.Elem())
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return nil
		}
		return &strictjson.Shape{List: true, Each: shapeOf(t.Elem())}
	case reflect.Map:
		return &strictjson.Shape{Each: shapeOf(t.Elem())}
	case reflect.Struct:
		s := &strictjson.Shape{Names: make(map[string]*strictjson.Shape)}
		addFields(s, t)
		return s
	default:
		return nil
	}
}

func addFields(s *strictjson.Shape, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "":
			addFields(s, f.Type)
		default:
			if name == "" {
				name = f.Name
			}
			s.Names[name] = shapeOf(f.Type)
		}
	}
	// These two write their durations by hand.
	switch t {
	case reflect.TypeFor[Result]():
		s.Names["total_duration"] = nil
	case reflect.TypeFor[StepResult]():
		s.Names["duration"] = nil
	}
}

// checkPlanShape returns why the text is not the JSON of a plan.
func (x Executor) checkPlanShape(data []byte) error {
	return strictjson.Check(data, strictjson.Limits{MaxDepth: jsonDepth(x.MaxJSONDepth)}, planShape())
}
