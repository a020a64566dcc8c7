package params

import (
	"bytes"
	"reflect"
)

// Clone returns a deep copy of an action: slices, maps and what pointers point to are copied, nil stays nil. What is
// no parameter, and what the unexported fields of a type with methods of its own refer to, is shared as by an
// assignment. A value that [Describe] refuses is returned as it is.
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
	switch s.kind {
	case pointer:
		if v.IsNil() {
			return v
		}
		c := reflect.New(s.elem.typ)
		c.Elem().Set(clone(s.elem, v.Elem()))
		return c
	case list:
		if v.IsNil() {
			return v
		}
		c := reflect.MakeSlice(s.typ, v.Len(), v.Len())
		reflect.Copy(c, v)
		if s.elem.refers() {
			for i := range v.Len() {
				c.Index(i).Set(clone(s.elem, v.Index(i)))
			}
		}
		return c
	case dict:
		if v.IsNil() {
			return v
		}
		c := reflect.MakeMapWithSize(s.typ, v.Len())
		for iter := v.MapRange(); iter.Next(); {
			c.SetMapIndex(iter.Key(), clone(s.elem, iter.Value()))
		}
		return c
	case object:
		c := reflect.New(s.typ).Elem()
		c.Set(v)
		for _, f := range s.fields {
			c.FieldByIndex(f.index).Set(clone(f.shape, v.FieldByIndex(f.index)))
		}
		return c
	case custom:
		return cloneCustom(v)
	default:
		return v
	}
}

// refers reports whether an assignment of a value may share something with the original.
func (s *shape) refers() bool {
	switch s.kind {
	case pointer, list, dict, object, custom:
		return true
	default:
		return false
	}
}

// equalCustom compares what the type writes, since that is all that decoding can bring back.
func equalCustom(s *shape, v, w reflect.Value) bool {
	x, errX := appendCustom(s, nil, v)
	y, errY := appendCustom(s, nil, w)
	if errX != nil || errY != nil {
		return reflect.DeepEqual(v.Interface(), w.Interface())
	}
	return bytes.Equal(x, y)
}

// isEmpty reports whether a value is as good as absent. It is the same for equal values.
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
