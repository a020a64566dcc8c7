package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Resolve returns a deep copy of a tree of strings, lists and objects, with the references in its strings replaced by
// their values in data. The roots of references are the keys of data that have only letters, digits, "-" and "_". A
// root can be followed by any path, or by nothing:
//
//	{{name}}                   data["name"]
//	{{step1.items[0].id}}      a member of an element of a list
//	{{step1["a.b"][-1]}}       the last element of a list, whose key has a dot
//
// A string that is exactly one reference becomes its value, with its type. In longer strings, texts are inserted
// unchanged, and all other values as compact JSON. Keys of objects and inserted values are not expanded.
//
// Resolve is strict: a reference with an unknown root is an error, and so is a path without a value. A backslash before
// a reference makes it text; see [EscapeData].
//
// Both arguments can have slices, arrays, and maps with strings as keys, of any element type; in the result they are
// []any and map[string]any. Numbers, strings and booleans of any type, including [encoding/json.Number], stay
// unchanged. Other values (NaN, functions, structs, pointers) are refused. So are values nested deeper than [MaxDepth]
// and results larger than [MaxLen]. Neither argument is changed, and the result shares nothing with them. The error is
// an [*Error] for the first problem in the order of the keys.
func Resolve(value any, data map[string]any) (any, error) {
	c := copier{left: MaxLen}
	c.expand = func(s string) (any, *Error) { return c.resolve(s, data) }
	v, err := c.copy(value, 0)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// resolve expands one text for [Resolve].
func (c *copier) resolve(s string, data map[string]any) (any, *Error) {
	var ref Ref // the most recent known candidate
	var bad error
	known := func(found *candidate) (ok bool) {
		ref = Ref{Root: found.base, Type: Any, Source: s[found.start:found.end]}
		ref.Path, ok, bad = inData(found, data)
		return ok
	}
	var b strings.Builder
	plain := true
	for piece, found := range pieces(s, known) {
		plain = false
		if found.base != "" {
			v, err := ref.in(data, bad)
			if err != nil {
				return nil, err
			}
			if found.start == 0 && found.end == len(s) {
				inner := copier{left: c.left}
				v, err = inner.copy(v, 0)
				c.left = inner.left
				return v, err.of(ref)
			}
			if piece, err = textOf(v, c.left); err != nil {
				return nil, err.of(ref)
			}
		}
		if err := c.spend(len(piece), 1); err != nil {
			return nil, err
		}
		b.WriteString(piece)
	}
	if plain {
		return s, c.spend(len(s), 1)
	}
	return b.String(), nil
}

// inData reports whether a candidate is a reference for [Resolve], perhaps a wrong one. It returns its path, or the
// reason why the path is invalid.
func inData(c *candidate, data map[string]any) (path Path, ok bool, bad error) {
	path, bad = parsePath(c.rest)
	_, ok = data[c.base]
	return path, ok || bad == nil, bad
}

// in returns the value of a reference whose root is in data. bad is the error of an invalid path.
func (r Ref) in(data map[string]any, bad error) (any, *Error) {
	v, ok := data[r.Root]
	switch {
	case !ok:
		near := meant(r.Root, slices.Sorted(maps.Keys(data)))
		return nil, &Error{Source: r.Source, Reason: fmt.Sprintf("there is no '%s'%s", r.Root, near)}
	case bad != nil:
		return nil, &Error{Source: r.Source, Path: r.Root, Reason: bad.Error()}
	}
	return r.follow(v)
}

// EscapeData returns a text that [Resolve] with the same data turns into the given text. See [Escape].
func EscapeData(text string, data map[string]any) string {
	return escape(text, func(c *candidate) bool {
		_, ok, _ := inData(c, data)
		return ok
	})
}
