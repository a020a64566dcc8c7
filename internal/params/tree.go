package params

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/strictjson"
	"github.com/millrace-go/millrace/internal/template"
)

// Tree returns a deep copy of a value in the form of a parameter of type any: nil, bool, int64, float64, json.Number,
// string, []any and map[string]any. Whole numbers of any type that fit are an int64. A number with more digits than a
// float64 keeps is a json.Number, any other is a float64. The error is from [template.Copy], or reports that a number
// is beyond all floats.
func Tree(v any) (any, error) {
	v, err := template.Copy(v)
	if err != nil {
		return nil, err
	}
	return plainTree(v)
}

// plainTree is [Tree] of a value that is a copy already, and may be changed.
func plainTree(v any) (_ any, err error) {
	switch v := v.(type) {
	case []any:
		for i := range v {
			if v[i], err = plainTree(v[i]); err != nil {
				return nil, err
			}
		}
		return v, nil
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) { // sorted, so that the error is the same each time
			if v[key], err = plainTree(v[key]); err != nil {
				return nil, err
			}
		}
		return v, nil
	case json.Number:
		return number(string(v))
	}
	rv := reflect.ValueOf(v)
	switch {
	case !rv.IsValid():
		return nil, nil
	case rv.Kind() == reflect.Bool:
		return rv.Bool(), nil
	case rv.CanInt():
		return rv.Int(), nil
	case rv.CanUint() && rv.Uint() <= math.MaxInt64:
		return int64(rv.Uint()), nil
	case rv.CanUint():
		return number(strconv.FormatUint(rv.Uint(), 10))
	case rv.CanFloat():
		return wholeFloat(rv.Float()), nil
	}
	return rv.String(), nil
}

// wholeFloat returns an int64 for a whole number that fits. JSON has only one zero.
func wholeFloat(f float64) any {
	const beyond = 1 << 63
	if f == math.Trunc(f) && -beyond <= f && f < beyond {
		return int64(f)
	}
	return f
}

// number returns a number from its text in JSON. The error is [strictjson.ErrRange].
func number(text string) (any, error) {
	switch negative, magnitude, err := strictjson.Whole(text); {
	case err != nil:
	case negative && magnitude <= -math.MinInt64:
		return -int64(magnitude), nil // also right for the smallest int64, which is its own negative
	case magnitude <= math.MaxInt64:
		return int64(magnitude), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return nil, strictjson.ErrRange
	case !strictjson.SameNumber(text, strconv.FormatFloat(f, 'e', -1, 64)):
		return json.Number(text), nil
	}
	return f, nil
}

// treeIn returns the value as a value of the type, which is an interface.
func treeIn(t reflect.Type, v any) reflect.Value {
	into := reflect.New(t).Elem()
	if v != nil {
		into.Set(reflect.ValueOf(v))
	}
	return into
}

// tree reads any value.
func (d *decoder) tree(into reflect.Value, n *strictjson.Node, at *path) {
	mistakes := d.mistakes()
	v := d.node(n, at, 0)
	if d.mistakes() > mistakes {
		return
	}
	if _, err := template.Copy(v); err != nil { // v is too large
		d.add(at, CodeBadValue, n.Offset, "", "'%s' is not valid: %v", at, err)
		return
	}
	into.Set(treeIn(into.Type(), v))
}

func (d *decoder) node(n *strictjson.Node, at *path, depth int) any {
	if depth > template.MaxDepth {
		d.add(at, CodeBadValue, n.Offset, "", "lists and objects are nested more than %d deep", template.MaxDepth)
		return nil
	}
	switch n.Kind {
	case strictjson.Bool:
		return n.Bool
	case strictjson.Number:
		v, err := number(n.Number)
		if err != nil {
			d.add(at, CodeOutOfRange, n.Offset, "", "'%s' is out of range, got %s", at, shown(n.Number))
		}
		return v
	case strictjson.String:
		return n.Text
	case strictjson.Array:
		all := make([]any, len(n.Elems))
		for i, e := range n.Elems {
			all[i] = d.node(e, at.elem(i), depth+1)
		}
		return all
	case strictjson.Object:
		all := make(map[string]any, len(n.Members))
		for _, m := range n.Members {
			all[m.Name] = d.node(m.Value, at.member(m.Name), depth+1)
		}
		return all
	}
	return nil
}

// tree checks any value.
func (c *checker) tree(v reflect.Value, at *path) {
	tree, err := Tree(v.Interface())
	if err == nil {
		err = checkTexts(tree)
	}
	if err != nil {
		c.add(at, CodeBadValue, 0, "", "'%s' is not valid: %v", at, err)
	}
}

// checkTexts returns an error for texts that JSON cannot represent.
func checkTexts(v any) error {
	switch v := v.(type) {
	case string:
		if !utf8.ValidString(v) {
			return errBadText
		}
	case []any:
		for _, elem := range v {
			if err := checkTexts(elem); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, elem := range v {
			if err := errors.Join(checkTexts(key), checkTexts(elem)); err != nil {
				return errBadText // the same error in any order
			}
		}
	}
	return nil
}

// tree writes any value.
func (e *encoder) tree(v reflect.Value, at *path) error {
	tree, err := Tree(v.Interface())
	if err != nil {
		return valueError(at, err, "%v", err)
	}
	return e.node(tree, at)
}

func (e *encoder) node(v any, at *path) error {
	switch v := v.(type) {
	case bool:
		e.buf = strconv.AppendBool(e.buf, v)
	case int64:
		e.buf = strconv.AppendInt(e.buf, v, 10)
	case float64:
		e.buf = append(e.buf, formatFloat(v, 64)...)
	case json.Number:
		e.buf = append(e.buf, v...)
	case string:
		return e.text(v, at)
	case []any:
		e.buf = append(e.buf, '[')
		for i, elem := range v {
			if i > 0 {
				e.buf = append(e.buf, ',')
			}
			if err := e.node(elem, at.elem(i)); err != nil {
				return err
			}
		}
		e.buf = append(e.buf, ']')
	case map[string]any:
		e.buf = append(e.buf, '{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				e.buf = append(e.buf, ',')
			}
			if err := e.text(key, at); err != nil {
				return err
			}
			e.buf = append(e.buf, ':')
			if err := e.node(v[key], at.member(key)); err != nil {
				return err
			}
		}
		e.buf = append(e.buf, '}')
	default:
		e.buf = append(e.buf, "null"...)
	}
	return nil
}

// tree visits the strings in any value. A value that cannot be copied has no strings: [Check] reports the reason.
func (w *visitor) tree(v reflect.Value, at *path) {
	if tree, err := Tree(v.Interface()); err == nil {
		_, _ = eachText(tree, at, func(at *path, text string) (any, error) {
			if strings.Contains(text, w.containing) {
				w.visit(at.pointer(), text)
			}
			return text, nil
		})
	}
}

// tree returns a copy of any value, with its templates expanded.
func (e *expander) tree(s *shape, v reflect.Value, at *path) (reflect.Value, error) {
	if v.IsNil() {
		return v, nil
	}
	tree, err := Tree(v.Interface())
	if err != nil && e.expand == nil {
		return v, nil // Check reports the reason
	}
	if err == nil && e.expand != nil {
		tree, err = eachText(tree, at, func(at *path, text string) (any, error) {
			got, err := e.expand(at.pointer(), text)
			if same, ok := got.(string); err != nil || ok && same == text {
				return text, err
			}
			if got, err = Tree(got); err != nil {
				return nil, valueError(at, err, "its template gave what is not a value: %v", err)
			}
			return got, nil
		})
		if err != nil {
			return v, err
		}
	} else if err != nil {
		return v, valueError(at, err, "%v", err)
	}
	return treeIn(s.typ, tree), nil
}

// eachText returns a tree with each text in it replaced, in the order in which [Encode] writes the texts. It changes
// the given lists and objects.
func eachText(v any, at *path, replace func(at *path, text string) (any, error)) (_ any, err error) {
	switch v := v.(type) {
	case string:
		return replace(at, v)
	case []any:
		for i := range v {
			if v[i], err = eachText(v[i], at.elem(i), replace); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if v[key], err = eachText(v[key], at.member(key), replace); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
