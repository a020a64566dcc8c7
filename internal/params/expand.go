package params

import (
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/strictjson"
	"github.com/millrace-go/millrace/template"
)

// Expand returns a deep copy of an action in which every string, and every parameter in binds, is replaced by what
// expand makes of it: it is called with the pointer and the text of each string as [Action.Strings] visits them, and
// of each binding at its place among them. What it returns may be a string, an int, int64, float64, bool or []string,
// whatever fits:
//
//   - for a string: itself, a number as decimal text, true or false, a list joined by commas
//   - for an element of a list of strings: the same, but a list takes the element's place with all its elements, or
//     none
//   - for a bound number or bool: one of its kind, or a string that is written like one
//   - for a bound list: a list, or one value, which becomes its only element
//   - for a bound type with methods of its own: what these accept
//
// Nothing that is expanded is expanded again. An error of expand is returned as it is; the others are a [*ValueError]
// for what does not fit and for a binding of nothing.
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

// expander copies values; a nil expand leaves all texts as they are.
type expander struct {
	binds  map[string]string
	bound  int  // bindings expanded
	whole  bool // in a field whose templates are the whole string
	expand func(pointer, text string) (any, error)
}

// step returns the path of a part of what is at a path, nil if no one is going to ask for it.
func (e *expander) step(at *path, name string, index int) *path {
	if e.expand == nil {
		return nil
	}
	return &path{up: at, name: name, index: index}
}

func (e *expander) value(s *shape, v reflect.Value, at *path) (reflect.Value, error) {
	if len(e.binds) > 0 && at != nil {
		to := at.pointer()
		if template, ok := e.binds[to]; ok {
			e.bound++
			got, err := e.expand(to, template)
			if err != nil {
				return v, err
			}
			return convert(s, got, at)
		}
	}
	switch s.kind {
	case text:
		if !e.expands(v) {
			return v, nil
		}
		got, err := e.expand(at.pointer(), v.String())
		if err != nil {
			return v, err
		}
		return e.text(s, v, got, at)
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

// expands reports whether templates in a string are to be replaced.
func (e *expander) expands(v reflect.Value) bool {
	return e.expand != nil && (!e.whole || isWhole(v.String()))
}

// isWhole reports whether a text has the form of one template and nothing else.
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
		var err error
		if s.elem.kind != text {
			elem, err = e.value(s.elem, elem, here)
		} else if e.expands(elem) {
			var got any
			if got, err = e.expand(here.pointer(), elem.String()); err != nil {
				return v, err
			}
			if all, ok := got.([]string); ok {
				for _, one := range all {
					c = reflect.Append(c, reflect.ValueOf(one).Convert(s.elem.typ))
				}
				continue
			}
			elem, err = e.text(s.elem, elem, got, here)
		}
		if err != nil {
			return v, err
		}
		c = reflect.Append(c, elem)
	}
	return c, nil
}

// text returns what takes the place of the string v.
func (e *expander) text(s *shape, v reflect.Value, got any, at *path) (reflect.Value, error) {
	if same, ok := got.(string); ok && same == v.String() {
		return v, nil
	}
	return convert(s, got, at)
}

// convert turns what a template gave into a new value of the type.
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
	case list:
		return convertList(s, got, at)
	case text:
		var joined string
		if joined, fits = asText(got); fits {
			into.SetString(joined)
		}
	case boolean:
		switch one := got.(type) {
		case bool:
			into.SetBool(one)
			fits = true
		case string:
			into.SetBool(one == "true")
			fits = one == "true" || one == "false"
		}
	case integer, unsigned, float:
		_, isList := got.([]string) // of one number, joined, it would look like one
		if number, ok := asText(got); ok && !isList {
			fits = setNumber(s, into, number) == nil
		}
	case custom:
		fits, cause = convertCustom(s, into, got)
	}
	if !fits {
		msg := "must be " + s.wants() + ", but its template gave " + given(got)
		if cause != nil {
			msg += ": " + cause.Error()
		}
		return into, &ValueError{Pointer: at.pointer(), Msg: msg, Err: cause}
	}
	return into, nil
}

func convertList(s *shape, got any, at *path) (reflect.Value, error) {
	all, isList := got.([]string)
	if !isList {
		all = make([]string, 1)
	}
	c := reflect.MakeSlice(s.typ, len(all), len(all))
	for i := range all {
		one := got
		if isList {
			one = all[i]
		}
		elem, err := convert(s.elem, one, at.elem(i))
		if err != nil {
			return c, err
		}
		c.Index(i).Set(elem)
	}
	return c, nil
}

func convertCustom(s *shape, into reflect.Value, got any) (fits bool, cause error) {
	data, ok := asText(got)
	if !ok {
		return false, nil
	}
	switch got.(type) {
	case string, []string:
		// What a template gives can come from any file. JSON cannot hold it then, and nothing is to be replaced silently.
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

// asText writes what a template gave as text; ok is false for what no template gives.
func asText(got any) (s string, ok bool) {
	switch got := got.(type) {
	case string:
		return got, true
	case int:
		return strconv.Itoa(got), true
	case int64:
		return strconv.FormatInt(got, 10), true
	case float64:
		return strconv.FormatFloat(got, 'f', -1, 64), true
	case bool:
		return strconv.FormatBool(got), true
	case []string:
		return template.Join(got), true
	default:
		return "", false
	}
}
