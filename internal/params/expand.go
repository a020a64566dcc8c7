package params

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/strictjson"
	"github.com/millrace-go/millrace/internal/template"
)

// Expand returns a deep copy of an action in which every string, and every parameter in binds, is replaced by the
// result of expand. Expand calls expand with the pointer and the text of each string, in the order of [Action.Strings],
// and of each binding at its place among them. The result may be nil, a []string, which means the files of a step, or
// any value that [template.Copy] accepts, if it fits:
//
//   - for a string: a string, a number or bool in JSON form, files joined by commas, another list or an object as
//     compact JSON
//   - for an element of a list of strings, numbers or bools: the same, but a list replaces the element by all its
//     elements, or none
//   - for a bound number or bool: a value of its kind, or a string with the text of such a value
//   - for a bound list: a list, or one value, which becomes its only element; for a list of strings, only strings
//   - for a bound type with methods of its own: any value that the methods accept
//   - for a value of type any, or in such a value: anything; for a bound map of them: an object
//
// Nil only fits a value of type any. Results are not expanded again. An error of expand is returned as it is; other
// errors are a [*ValueError] for a value that does not fit or a binding without a parameter.
func (a Action) Expand(binds map[string]string, expand func(pointer, text string) (any, error)) (any, error) {
	e := &expander{binds: binds, expand: expand}
	c, err := e.value(a.shape, a.value, nil)
	if err != nil {
		return nil, err
	}
	if e.bound != len(binds) {
		return nil, newBindings(binds).leftOver(a.shape, a.value)
	}
	return a.with(c), nil
}

// expander copies values; with a nil expand, all texts stay unchanged.
type expander struct {
	binds  map[string]string
	bound  int  // bindings expanded
	whole  bool // in a field in which a template must be the whole string
	expand func(pointer, text string) (any, error)
}

// step returns the path of a part of the value at a path, nil if the path is not needed.
func (e *expander) step(at *path, name string, index int) *path {
	if e.expand == nil {
		return nil
	}
	return &path{up: at, name: name, index: index}
}

func (e *expander) value(s *shape, v reflect.Value, at *path) (reflect.Value, error) {
	if got, ok, err := e.given(s, v, at); err != nil {
		return v, err
	} else if ok {
		return e.replaced(s, v, got, at)
	}
	return e.inner(s, v, at)
}

// inner is value without a template in place of the value itself.
func (e *expander) inner(s *shape, v reflect.Value, at *path) (reflect.Value, error) {
	switch s.kind {
	case anything:
		return e.tree(s, v, at)
	case pointer:
		if v.IsNil() {
			return v, nil
		}
		to, err := e.value(s.elem, v.Elem(), at)
		if err != nil {
			return v, err
		}
		c := reflect.New(s.elem.typ)
		c.Elem().Set(to)
		return c, nil
	case list:
		if v.IsNil() {
			return v, nil
		}
		return e.list(s, v, at)
	case dict:
		if v.IsNil() {
			return v, nil
		}
		c := reflect.MakeMapWithSize(s.typ, v.Len())
		for _, key := range sortedKeys(v) { // sorted, so that expand is called in the same order each time
			elem, err := e.value(s.elem, v.MapIndex(key), e.step(at, key.String(), -1))
			if err != nil {
				return v, err
			}
			c.SetMapIndex(key, elem)
		}
		return c, nil
	case object:
		c := reflect.New(s.typ).Elem()
		c.Set(v)
		for i := range s.fields {
			f := &s.fields[i]
			here, bound, outer := e.step(at, f.name, -1), e.bound, e.whole
			e.whole = outer || f.whole
			elem, err := e.value(f.shape, v.FieldByIndex(f.index), here)
			e.whole = outer
			if err != nil {
				return v, err
			}
			if f.nonzero && e.bound > bound && elem.IsZero() {
				return v, valueError(here, nil, "cannot be 0, which its template gave. %s", f.doc)
			}
			c.FieldByIndex(f.index).Set(elem)
		}
		return c, nil
	case custom:
		return cloneCustom(v), nil
	default:
		return v, nil
	}
}

// given returns the value of the template of a binding or a string, if any.
func (e *expander) given(s *shape, v reflect.Value, at *path) (got any, ok bool, err error) {
	if len(e.binds) > 0 && at != nil {
		to := at.pointer()
		if template, bound := e.binds[to]; bound {
			e.bound++
			got, err = e.expand(to, template)
			return got, true, err
		}
	}
	if s.kind != text || e.expand == nil || e.whole && !isWhole(v.String()) {
		return nil, false, nil
	}
	got, err = e.expand(at.pointer(), v.String())
	return got, true, err
}

// isWhole reports whether a text has the form of a single template and nothing else.
func isWhole(text string) bool {
	inner, opens := strings.CutPrefix(text, "{{")
	inner, closes := strings.CutSuffix(inner, "}}")
	return opens && closes && !strings.ContainsAny(inner, "{}\r\n")
}

func (e *expander) list(s *shape, v reflect.Value, at *path) (reflect.Value, error) {
	if e.expand == nil && s.elem.kind < list {
		c := reflect.MakeSlice(s.typ, v.Len(), v.Len())
		reflect.Copy(c, v)
		return c, nil
	}
	c := reflect.MakeSlice(s.typ, 0, v.Len())
	for i := range v.Len() {
		here, elem := e.step(at, "", i), v.Index(i)
		got, ok, err := e.given(s.elem, elem, here)
		switch {
		case err != nil:
			return v, err
		case !ok:
			elem, err = e.inner(s.elem, elem, here)
		case isList(got) && s.elem.kind <= float:
			var all []reflect.Value
			if all, err = convertEach(s.elem, got, here); err != nil {
				return v, err
			}
			c = reflect.Append(c, all...)
			continue
		default:
			elem, err = e.replaced(s.elem, elem, got, here)
		}
		if err != nil {
			return v, err
		}
		c = reflect.Append(c, elem)
	}
	return c, nil
}

// replaced returns the replacement of v.
func (e *expander) replaced(s *shape, v reflect.Value, got any, at *path) (reflect.Value, error) {
	if same, ok := got.(string); ok && s.kind == text && same == v.String() {
		return v, nil
	}
	return convert(s, got, at)
}

// convert converts the value of a template to a new value of the type.
func convert(s *shape, got any, at *path) (reflect.Value, error) {
	into := reflect.New(s.typ).Elem()
	var fits bool
	var cause error
	switch s.kind {
	case pointer:
		elem, err := convert(s.elem, got, at)
		if err != nil {
			return into, err
		}
		into.Set(reflect.New(s.elem.typ))
		into.Elem().Set(elem)
		return into, nil
	case anything:
		var tree any
		if tree, cause = Tree(got); cause == nil {
			return treeIn(s.typ, tree), nil
		}
	case list:
		if fits = got != nil; fits {
			all, err := convertEach(s.elem, got, at)
			return reflect.Append(reflect.MakeSlice(s.typ, 0, len(all)), all...), err
		}
	case dict:
		var tree any
		if tree, cause = Tree(got); cause == nil {
			if all, ok := tree.(map[string]any); ok && s.elem.kind == anything {
				return dictIn(s, all), nil
			}
		}
	case text:
		var joined string
		if joined, fits = asText(got); fits {
			into.SetString(joined)
		}
	case boolean:
		if one, ok := got.(string); ok {
			into.SetBool(one == "true")
			fits = one == "true" || one == "false"
		} else if one := reflect.ValueOf(got); one.Kind() == reflect.Bool {
			into.SetBool(one.Bool())
			fits = true
		}
	case integer, unsigned, float:
		// A list with one number, joined, would look like a number.
		if number, ok := asText(got); ok && !isList(got) {
			fits = setNumber(s, into, number) == nil
		}
	case custom:
		fits, cause = convertCustom(s, into, got)
	}
	if !fits {
		err := misfit(at, s.wants(), got)
		if err.Err = cause; cause != nil {
			err.Msg += ": " + cause.Error()
		}
		return into, err
	}
	return into, nil
}

// misfit reports that the value of a template is not of the wanted type.
func misfit(at *path, wants string, got any) *ValueError {
	return &ValueError{Pointer: at.pointer(), Msg: "must be " + wants + ", but its template gave " + given(got)}
}

// isList reports whether the value of a template is a list.
func isList(got any) bool {
	switch got.(type) {
	case []string, []any:
		return true
	}
	return false
}

// convertEach converts each element of a list from a template, or its only value, to a value of the type. A list of
// strings accepts only strings: a list or an object in place of a name is a mistake.
func convertEach(s *shape, got any, at *path) ([]reflect.Value, error) {
	var elems []any
	switch got := got.(type) {
	case []string:
		elems = make([]any, len(got))
		for i, one := range got {
			elems[i] = one
		}
	case []any:
		elems = got
	default:
		if _, ok := got.(string); !ok && s.kind == text {
			return nil, misfit(at, "a list of strings", got)
		}
		one, err := convert(s, got, at.elem(0))
		return []reflect.Value{one}, err
	}
	all := make([]reflect.Value, len(elems))
	for i, one := range elems {
		var err error
		if _, ok := one.(string); !ok && s.kind == text {
			err := misfit(at, "a list of strings", one)
			err.Msg += fmt.Sprintf(" as element %d", i)
			return nil, err
		}
		if all[i], err = convert(s, one, at.elem(i)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// dictIn returns an object as a map of the type.
func dictIn(s *shape, all map[string]any) reflect.Value {
	c := reflect.MakeMapWithSize(s.typ, len(all))
	for key, elem := range all {
		c.SetMapIndex(reflect.ValueOf(key).Convert(s.typ.Key()), treeIn(s.elem.typ, elem))
	}
	return c
}

func convertCustom(s *shape, into reflect.Value, got any) (fits bool, cause error) {
	data, ok := asText(got)
	if !ok {
		return false, nil
	}
	switch got.(type) {
	case string, []string:
		// The value of a template can come from any file. JSON cannot represent invalid UTF-8, and nothing must be replaced
		// silently.
		if !utf8.ValidString(data) {
			return false, errBadText
		}
		if s.viaJSON {
			data = string(strictjson.AppendQuoted(nil, data))
		}
	}
	cause = readCustom(s, into, []byte(data))
	return cause == nil, cause
}

// asText writes the value of a template as text; ok is false for nil, and for values that templates never have.
func asText(got any) (s string, ok bool) {
	if got == nil {
		return "", false
	}
	s, err := template.Format(got)
	return s, err == nil
}
