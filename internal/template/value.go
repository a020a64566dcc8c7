package template

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxLen limits an expanded text, in bytes, and a list or object, in which each value counts as 64 bytes plus its text.
// Without it, a short text with many references to long lists could use all memory.
const MaxLen = 64 << 20

// MaxDepth limits how deeply lists and objects may be nested.
const MaxDepth = 100

// ErrTooLong reports that an expanded text or value would be longer than [MaxLen].
var ErrTooLong = errors.New("expanded text is too long")

func tooLong() *Error {
	return &Error{Reason: fmt.Sprintf("%v: more than %d bytes", ErrTooLong, MaxLen), Err: ErrTooLong}
}

// kind is the type of a value in JSON.
type kind uint8

const (
	none kind = iota // no value
	null
	boolean
	number
	text
	list
	object
)

func kindOf(v any) (kind, reflect.Value) {
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Invalid:
		return null, rv
	case reflect.Bool:
		return boolean, rv
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return number, rv
	case reflect.Float32, reflect.Float64:
		if f := rv.Float(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return number, rv
		}
	case reflect.String:
		n, ok := v.(json.Number)
		switch {
		case !ok:
			return text, rv
		case strings.Trim(string(n), "-+.eE0123456789") == "" && json.Valid([]byte(n)):
			return number, rv
		}
	case reflect.Slice, reflect.Array:
		return list, rv
	case reflect.Map:
		if rv.Type().Key().Kind() == reflect.String {
			return object, rv
		}
	}
	return none, rv
}

// describe names a value in messages.
func describe(v any) string {
	switch kind, rv := kindOf(v); {
	case kind != none:
		return kind.String()
	case rv.CanFloat():
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("a %T", v)
}

func (k kind) String() string {
	switch k {
	case null:
		return "null"
	case boolean:
		return "a boolean"
	case number:
		return "a number"
	case text:
		return "a string"
	case list:
		return "a list"
	}
	return "an object"
}

func refused(v any) *Error {
	return &Error{Reason: "value is " + describe(v) + ", which is no JSON value"}
}

// sortedKeys returns the keys of an object.
func sortedKeys(rv reflect.Value) []reflect.Value {
	keys := rv.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	return keys
}

// copier makes deep copies.
type copier struct {
	left   int                             // bytes that copies may still use
	expand func(text string) (any, *Error) // expands a text; nil leaves texts unchanged
}

// perValue is roughly the memory of a value in a list or object, in bytes.
const perValue = 64

// spend subtracts n times bytes from the remaining limit.
func (c *copier) spend(n, bytes int) *Error {
	if n > c.left/bytes {
		return tooLong()
	}
	c.left -= n * bytes
	return nil
}

// copy returns a copy of a value, in which each list is a []any and each object a map[string]any. Other values stay
// unchanged. Pointers in the error start at v.
func (c *copier) copy(v any, depth int) (any, *Error) {
	if depth > MaxDepth {
		return nil, &Error{Reason: fmt.Sprintf("lists and objects are nested more than %d deep", MaxDepth)}
	}
	kind, rv := kindOf(v)
	switch kind {
	case none:
		return nil, refused(v)
	case text:
		if c.expand == nil {
			return v, c.spend(rv.Len(), 1)
		}
		got, err := c.expand(rv.String())
		if same, ok := got.(string); ok && same == rv.String() {
			return v, err
		}
		return got, err
	case list:
		if err := c.spend(rv.Len(), perValue); err != nil {
			return nil, err
		}
		all := make([]any, rv.Len())
		for i := range all {
			var err *Error
			if all[i], err = c.copy(rv.Index(i).Interface(), depth+1); err != nil {
				return nil, err.below(strconv.Itoa(i))
			}
		}
		return all, nil
	case object:
		if err := c.spend(rv.Len(), perValue); err != nil {
			return nil, err
		}
		all := make(map[string]any, rv.Len())
		for _, key := range sortedKeys(rv) { // sorted, so that the error is the same each time
			name := key.String()
			err := c.spend(len(name), 1)
			if err == nil {
				all[name], err = c.copy(rv.MapIndex(key).Interface(), depth+1)
			}
			if err != nil {
				return nil, err.below(name)
			}
		}
		return all, nil
	}
	return v, nil
}

// Copy returns a deep copy of a value like [Resolve], but leaves all texts unchanged: lists are a []any, objects a
// map[string]any. The error is an [*Error], for values that Resolve refuses too.
func Copy(v any) (any, error) {
	c := copier{left: MaxLen}
	all, err := c.copy(v, 0)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Format returns the text of a value within a longer text: a text unchanged, null, booleans and numbers as in JSON, a
// []string as from [Join], any other list or object as compact JSON. The error is an [*Error].
func Format(v any) (string, error) {
	if files, ok := v.([]string); ok {
		return Join(files), nil
	}
	s, err := textOf(v, MaxLen)
	if err != nil {
		return "", err
	}
	return s, nil
}

// textOf returns the text of a value within a longer text. A list or object may have at most most bytes.
func textOf(v any, most int) (string, *Error) {
	kind, rv := kindOf(v)
	switch kind {
	case text:
		return rv.String(), nil
	case list, object, none:
		c := copier{left: most}
		v, err := c.copy(v, 0)
		if err != nil {
			return "", err
		}
		b, err := appendJSON(nil, v, most)
		return string(b), err
	}
	return scalar(v), nil
}

// scalar writes null, a boolean or a number as JSON does.
func scalar(v any) string {
	rv := reflect.ValueOf(v)
	switch {
	case !rv.IsValid():
		return "null"
	case rv.CanInt():
		return strconv.FormatInt(rv.Int(), 10)
	case rv.CanUint():
		return strconv.FormatUint(rv.Uint(), 10)
	case rv.Kind() == reflect.Float32:
		b, _ := json.Marshal(float32(rv.Float()))
		return string(b)
	case rv.Kind() == reflect.Float64:
		b, _ := json.Marshal(rv.Float())
		return string(b)
	}
	return fmt.Sprint(v) // a bool, or a json.Number
}

// appendJSON appends a value returned by [copier.copy], with sorted keys and without blanks.
func appendJSON(b []byte, v any, most int) (_ []byte, err *Error) {
	comma := func(i int) {
		if i > 0 {
			b = append(b, ',')
		}
	}
	switch v := v.(type) {
	case []any:
		b = append(b, '[')
		for i, elem := range v {
			comma(i)
			if b, err = appendJSON(b, elem, most); err != nil {
				return nil, err
			}
		}
		b = append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			comma(i)
			if b, err = appendQuoted(b, key, most); err != nil {
				return nil, err
			}
			if b, err = appendJSON(append(b, ':'), v[key], most); err != nil {
				return nil, err
			}
		}
		b = append(b, '}')
	default:
		if kind, rv := kindOf(v); kind == text {
			return appendQuoted(b, rv.String(), most)
		}
		b = append(b, scalar(v)...)
	}
	if len(b) > most {
		return nil, tooLong()
	}
	return b, nil
}

// appendQuoted appends a text as JSON. It writes the same bytes as encoding/json without HTML escaping, but stops at
// the limit, and refuses a text that JSON cannot represent.
func appendQuoted(b []byte, s string, most int) ([]byte, *Error) {
	if !utf8.ValidString(s) {
		return nil, &Error{Reason: "a text in it is not UTF-8, so it cannot be written as JSON"}
	}
	const short, letters, hex = "\b\f\n\r\t", "bfnrt", "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r >= ' ' && r != '\u2028' && r != '\u2029':
			b = utf8.AppendRune(b, r)
		case strings.ContainsRune(short, r):
			b = append(b, '\\', letters[strings.IndexRune(short, r)])
		default:
			b = append(b, '\\', 'u', hex[r>>12], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		}
		if len(b) > most {
			return nil, tooLong()
		}
	}
	return append(b, '"'), nil
}

// Join writes a list as text, with commas between its elements. A comma or a backslash in an element gets a backslash,
// so that "a,b.txt" cannot be read as two files.
func Join(list []string) string {
	if len(list) == 1 && !strings.ContainsAny(list[0], `,\`) {
		return list[0]
	}
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		for {
			n := strings.IndexAny(s, `,\`)
			if n < 0 {
				break
			}
			b.WriteString(s[:n])
			b.WriteByte('\\')
			b.WriteByte(s[n])
			s = s[n+1:]
		}
		b.WriteString(s)
	}
	return b.String()
}
