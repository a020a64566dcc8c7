package params

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/strictjson"
)

var errBadText = errors.New("text is not valid UTF-8")

// custom reads a value through the methods of its type. It starts from the type's zero value, so that the result does
// not depend on the default.
func (d *decoder) custom(s *shape, into reflect.Value, n *strictjson.Node, at *path) {
	if !s.viaJSON && n.Kind != strictjson.String {
		d.wrongType(s, n, at)
		return
	}
	data := []byte(n.Text)
	if s.viaJSON {
		data = n.AppendJSON(nil)
	}
	if err := readCustom(s, into, data); err != nil {
		d.add(at, CodeBadValue, n.Offset, "", "'%s' is not valid: %v", at, err)
	}
}

// readCustom sets a value from JSON or text, depending on its type. After an error the value is unchanged.
func readCustom(s *shape, into reflect.Value, data []byte) error {
	v := reflect.New(s.typ)
	var err error
	if s.viaJSON {
		err = v.Interface().(json.Unmarshaler).UnmarshalJSON(data)
	} else {
		err = v.Interface().(encoding.TextUnmarshaler).UnmarshalText(data)
	}
	if err != nil {
		return err
	}
	into.Set(v.Elem())
	return nil
}

// appendCustom appends the value as its type writes it, as compact JSON.
func appendCustom(s *shape, dst []byte, v reflect.Value) ([]byte, error) {
	p := reflect.New(s.typ) // the methods may need a pointer, and v may not be addressable
	p.Elem().Set(v)
	if !s.viaJSON {
		data, err := p.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return dst, err
		}
		if !utf8.Valid(data) {
			return dst, errBadText
		}
		return strictjson.AppendQuoted(dst, string(data)), nil
	}
	data, err := p.Interface().(json.Marshaler).MarshalJSON()
	if err != nil {
		return dst, err
	}
	// Decoding is strict, so the type must write JSON that can be read back.
	n, err := strictjson.Parse(data, strictjson.Limits{})
	if err != nil {
		return dst, err
	}
	return n.AppendJSON(dst), nil
}

// isNull reports whether the value is written as null, which means that it is absent.
func isNull(s *shape, v reflect.Value) bool {
	if !s.viaJSON {
		return false
	}
	data, err := appendCustom(s, nil, v)
	return err == nil && string(data) == "null"
}

// cloneCustom copies the visible parts of a value: the elements of a slice or map, the fields of a struct. Values
// in unexported fields are shared, as by an assignment.
func cloneCustom(v reflect.Value) reflect.Value {
	switch {
	case v.Kind() == reflect.Slice && !v.IsNil():
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(c, v)
		return c
	case v.Kind() == reflect.Map && !v.IsNil():
		c := reflect.MakeMapWithSize(v.Type(), v.Len())
		for iter := v.MapRange(); iter.Next(); {
			c.SetMapIndex(iter.Key(), iter.Value())
		}
		return c
	default:
		return v
	}
}

// Clone returns a deep copy of an action: slices, maps and values that pointers point to are copied, nil stays nil.
// Fields that are not parameters, and values in the unexported fields of a type with methods of its own, are
// shared, as by an assignment. A value that [Describe] refuses is returned as it is.
func Clone(value any) any {
	a, err := Of(value)
	if err != nil {
		return value
	}
	return a.Clone()
}

// Clone is [Clone] of the action.
func (a Action) Clone() any { return a.with(clone(a.shape, a.value)) }

func clone(s *shape, v reflect.Value) reflect.Value {
	c, _ := new(expander).value(s, v, nil) // which fails only for templates
	return c
}

// equalCustom compares the written forms, because decoding can restore only these.
func equalCustom(s *shape, v, w reflect.Value) bool {
	x, errX := appendCustom(s, nil, v)
	y, errY := appendCustom(s, nil, w)
	if errX != nil || errY != nil {
		return reflect.DeepEqual(v.Interface(), w.Interface())
	}
	return bytes.Equal(x, y)
}

// isEmpty reports whether a value is equivalent to an absent value. The result is the same for equal values.
func isEmpty(s *shape, v reflect.Value) bool {
	switch s.kind {
	case list, dict:
		return v.Len() == 0
	case object:
		for _, f := range s.fields {
			if !isEmpty(f.shape, v.FieldByIndex(f.index)) {
				return false
			}
		}
		return true
	case custom:
		return isNull(s, v) || equalCustom(s, v, reflect.Zero(s.typ))
	default:
		return v.IsZero() || s.kind == float && v.Float() == 0
	}
}
