package template

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/nearest"
)

// MaxParts limits the keys and indices of a reference after its root.
const MaxParts = 64

// Path leads from a value to a value inside it.
type Path []Part

// Part is one step of a [Path]: a key of an object, or an index of a list.
type Part struct {
	Key     string
	Index   int // from 0, or from -1 backwards; only if Indexed
	Indexed bool
}

// String returns the path as it is written in a reference, such as `.items[0]["a.b"]`.
func (p Path) String() string {
	var b strings.Builder
	for _, part := range p {
		switch {
		case part.Indexed:
			fmt.Fprintf(&b, "[%d]", part.Index)
		case isKey(part.Key):
			b.WriteString("." + part.Key)
		default:
			quoted, _ := appendQuoted(nil, part.Key, MaxLen)
			fmt.Fprintf(&b, "[%s]", strings.NewReplacer("{", `\u007b`, "}", `\u007d`).Replace(string(quoted)))
		}
	}
	return b.String()
}

// noKey are the characters that need quotes in a key.
const noKey = ".[]{}\"\r\n"

func isKey(s string) bool {
	return s != "" && !strings.ContainsAny(s, noKey) && strings.Trim(s, blanks) == s
}

// errLarge is used as the end of a message.
var errLarge = errors.New("is too large")

// parsePath reads the part of a reference after its root. The error is a text for the user.
func parsePath(s string) (Path, error) {
	var path Path
	for s != "" {
		if len(path) == MaxParts {
			return nil, fmt.Errorf("more than %d keys and indices", MaxParts)
		}
		part, n, err := parsePart(s)
		if err != nil {
			return nil, err
		}
		path = append(path, part)
		s = s[n:]
	}
	return path, nil
}

// parsePart reads the first part of a path and returns its length n in bytes.
func parsePart(s string) (part Part, n int, err error) {
	if key, ok := strings.CutPrefix(s, "."); ok {
		if n = strings.IndexAny(key, noKey); n >= 0 {
			key = key[:n]
		}
		if !isKey(key) {
			return part, 0, fmt.Errorf("'%s' is not a key", key)
		}
		return Part{Key: key}, 1 + len(key), nil
	}
	if n, ok := quotedKey(s); ok && utf8.ValidString(s[1:n-1]) && json.Unmarshal([]byte(s[1:n-1]), &part.Key) == nil {
		return part, n, nil
	}
	number, _, closed := strings.Cut(strings.TrimPrefix(s, "["), "]")
	switch {
	case s[0] != '[' || !closed || !digits(strings.TrimPrefix(number, "-")):
		return part, 0, fmt.Errorf("'%s' is not an index", s)
	case len(strings.TrimPrefix(number, "-")) > 9:
		return part, 0, fmt.Errorf("index %s %w", number, errLarge)
	}
	part.Index, err = strconv.Atoi(number)
	part.Indexed = true
	return part, len(number) + 2, err
}

// quotedKey returns the length of the key in quotes and brackets at the beginning of s.
func quotedKey(s string) (n int, ok bool) {
	if !strings.HasPrefix(s, `["`) {
		return 0, false
	}
	for i := 2; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 2, strings.HasPrefix(s[i+1:], "]")
		}
	}
	return 0, false
}

// of returns the element or member of v that the part names. ok is false if it does not exist.
func (p Part) of(v any) (any, bool) {
	kind, rv := kindOf(v)
	switch {
	case kind == list && p.Indexed:
		i := p.Index
		if i < 0 {
			i += rv.Len()
		}
		if 0 <= i && i < rv.Len() {
			return rv.Index(i).Interface(), true
		}
	case kind == object && !p.Indexed:
		if elem := rv.MapIndex(reflect.ValueOf(p.Key).Convert(rv.Type().Key())); elem.IsValid() {
			return elem.Interface(), true
		}
	}
	return nil, false
}

// Member returns the member of an object with that key. The error is an [*Error] whose Path is name. It suggests a
// similar key of the object, or a similar word of others if no key is similar.
func Member(v any, name, key string, others ...string) (any, error) {
	part := Part{Key: key}
	if inner, ok := part.of(v); ok {
		return inner, nil
	}
	reason, hint := part.missing(v, name)
	if hint == "" {
		hint = meant(key, others)
	}
	return nil, &Error{Path: name, Reason: reason + hint}
}

// missing explains why the part has no value in v, whose name is name. hint suggests a similar key, or is "".
func (p Part) missing(v any, name string) (reason, hint string) {
	kind, rv := kindOf(v)
	switch {
	case p.Indexed && kind == list:
		return fmt.Sprintf("'%s' has %d elements, index %d is out of range", name, rv.Len(), p.Index), ""
	case p.Indexed:
		return fmt.Sprintf("'%s' is %s, so it has no element %d", name, describe(v), p.Index), ""
	case kind == object:
		keys := make([]string, 0, rv.Len())
		for _, key := range sortedKeys(rv) {
			keys = append(keys, key.String())
		}
		return fmt.Sprintf("'%s' has no member '%s'", name, p.Key), meant(p.Key, keys)
	default:
		return fmt.Sprintf("'%s' is %s, so it has no member '%s'", name, describe(v), p.Key), ""
	}
}

// meant returns a hint that suggests the word most similar to an unknown word, "" if none is similar.
func meant(word string, words []string) string {
	if near, ok := nearest.Of(word, words); ok {
		return fmt.Sprintf("; did you mean '%s'?", near)
	}
	return ""
}
