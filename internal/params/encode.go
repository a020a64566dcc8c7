package params

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/strictjson"
)

// ValueError means that [Encode] could not write a parameter, or [Expand] could not fill it in.
type ValueError struct {
	// Pointer is the JSON pointer below "params".
	Pointer string
	// Msg is the complete description of the mistake.
	Msg string
	// Err is the error of a type's own methods, if that was the cause.
	Err error
}

// Error returns the message with the pointer.
func (e *ValueError) Error() string { return "parameter " + e.Pointer + ": " + e.Msg }

// Unwrap returns Err.
func (e *ValueError) Unwrap() error { return e.Err }

func valueError(at *path, cause error, format string, args ...any) error {
	return &ValueError{Pointer: at.pointer(), Msg: fmt.Sprintf(format, args...), Err: cause}
}

// Encode writes the parameters as one compact JSON object: in the order of the fields, map keys sorted, with only the
// escapes that JSON demands. Optional parameters that are empty are left out if their tags allow it, unless they are
// not empty in proto, from which decoding will start; required parameters are always written. A nil proto means zero
// values. For a parameter in binds its template is written, as a string, instead of its value.
//
// The error is a [*TypeError] for a value that is not an action, or a [*ValueError] for a string that is not valid
// UTF-8, a float that is not a number, a nil pointer in a list or map, a type whose own method fails, and a binding
// without a parameter.
func Encode(value, proto any, binds map[string]string) ([]byte, error) {
	a, err := Of(value)
	if err != nil {
		return nil, err
	}
	e := &encoder{binds: newBindings(binds)}
	if err := e.object(a.shape, a.value, defaultsOf(a.shape, proto), nil); err != nil {
		return nil, err
	}
	if e.bound != len(binds) {
		return nil, e.binds.leftOver(a.shape, a.value)
	}
	return e.buf, nil
}

type encoder struct {
	buf   []byte
	binds bindings
	bound int // bindings written
}

// defaultsOf returns the struct of a prototype of that shape, or the zero reflect.Value.
func defaultsOf(s *shape, proto any) reflect.Value {
	if proto == nil {
		return reflect.Value{}
	}
	v := reflect.Indirect(reflect.ValueOf(proto)) // also of a nil action in an interface
	if !v.IsValid() || v.Type() != s.typ {
		return reflect.Value{}
	}
	return v
}

// object writes a struct; def is the value from which decoding will start, if it is not the zero value.
func (e *encoder) object(s *shape, v, def reflect.Value, at *path) error {
	e.buf = append(e.buf, '{')
	first := true
	for i := range s.fields {
		f := &s.fields[i]
		fv, here := v.FieldByIndex(f.index), at.member(f.name)
		var fd reflect.Value
		if def.IsValid() {
			fd = def.FieldByIndex(f.index)
		}
		if e.absent(f, fv, here) && (!fd.IsValid() || isEmpty(f.shape, fd) || f.shape.kind == pointer ||
			isNull(f.shape, fv)) {
			continue
		}
		if !first {
			e.buf = append(e.buf, ',')
		}
		first = false
		e.buf = append(strictjson.AppendQuoted(e.buf, f.name), ':')
		if f.bytes && (len(e.binds.texts) == 0 || !e.binds.at(here.pointer())) {
			e.buf = appendBytes(e.buf, fv.String())
			continue
		}
		if err := e.value(f.shape, fv, fd, here); err != nil {
			return err
		}
	}
	e.buf = append(e.buf, '}')
	return nil
}

// absent reports whether a field is left out.
func (e *encoder) absent(f *field, v reflect.Value, at *path) bool {
	to := ""
	if len(e.binds.texts) > 0 {
		if to = at.pointer(); e.binds.at(to) {
			return false
		}
	}
	switch s := f.shape; {
	case s.kind == pointer && v.IsNil():
		return true
	case s.kind == custom && isNull(s, v):
		return true
	default:
		return f.omit && isEmpty(s, v) && !e.binds.within[to]
	}
}

func (e *encoder) value(s *shape, v, def reflect.Value, at *path) error {
	if len(e.binds.texts) > 0 {
		if template, ok := e.binds.texts[at.pointer()]; ok {
			e.bound++
			return e.text(template, at)
		}
	}
	switch s.kind {
	case text:
		return e.text(v.String(), at)
	case boolean:
		e.buf = strconv.AppendBool(e.buf, v.Bool())
	case integer:
		e.buf = strconv.AppendInt(e.buf, v.Int(), 10)
	case unsigned:
		e.buf = strconv.AppendUint(e.buf, v.Uint(), 10)
	case float:
		f := v.Float()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return valueError(at, nil, "JSON has no number %v", f)
		}
		e.buf = append(e.buf, formatFloat(f, s.typ.Bits())...)
	case pointer:
		if v.IsNil() {
			return valueError(at, nil, "a list or map cannot hold nil")
		}
		if def.IsValid() {
			def = def.Elem() // the zero reflect.Value for nil
		}
		return e.value(s.elem, v.Elem(), def, at)
	case list:
		return e.list(s, v, at)
	case dict:
		return e.dict(s, v, at)
	case object:
		return e.object(s, v, def, at)
	case anything:
		return e.tree(v, at)
	case custom:
		var err error
		if e.buf, err = appendCustom(s, e.buf, v); err != nil {
			return valueError(at, err, "%v", err)
		}
		if isNull(s, v) {
			return valueError(at, nil, "it would be written as null")
		}
	}
	return nil
}

func (e *encoder) text(s string, at *path) error {
	if !utf8.ValidString(s) {
		return valueError(at, errBadText, "%v", errBadText)
	}
	e.buf = strictjson.AppendQuoted(e.buf, s)
	return nil
}

func (e *encoder) list(s *shape, v reflect.Value, at *path) error {
	e.buf = append(e.buf, '[')
	for i := range v.Len() {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		if err := e.value(s.elem, v.Index(i), reflect.Value{}, at.elem(i)); err != nil {
			return err
		}
	}
	e.buf = append(e.buf, ']')
	return nil
}

func (e *encoder) dict(s *shape, v reflect.Value, at *path) error {
	e.buf = append(e.buf, '{')
	for i, key := range sortedKeys(v) {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		if err := e.text(key.String(), at); err != nil {
			return err
		}
		e.buf = append(e.buf, ':')
		if err := e.value(s.elem, v.MapIndex(key), reflect.Value{}, at.member(key.String())); err != nil {
			return err
		}
	}
	e.buf = append(e.buf, '}')
	return nil
}

// sortedKeys returns the keys of a map with string keys.
func sortedKeys(v reflect.Value) []reflect.Value {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	return keys
}

// formatFloat writes the shortest number that reads back as f. JSON has only one zero.
func formatFloat(f float64, bits int) string {
	if f == 0 {
		return "0"
	}
	format := byte('f')
	if abs := math.Abs(f); abs < 1e-6 || abs >= 1e21 {
		format = 'e'
	}
	return strconv.FormatFloat(f, format, -1, bits)
}
