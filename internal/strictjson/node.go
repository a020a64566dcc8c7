// Package strictjson reads JSON written by people and models, and refuses input that encoding/json accepts: repeated
// names, text after the value, invalid UTF-8, halves of surrogate pairs, numbers that no float64 can hold, and nesting,
// size or number of values beyond a limit.
//
// [Parse] returns a tree of [Node] in which each value has its place in the text, so that a mistake found later can
// still be shown with its line. Names keep their case and their order. A mistake in the text is a [*SyntaxError] with
// line and column.
//
// [Whole] reads whole numbers exactly, and [AppendQuoted] and [Node.AppendJSON] write JSON.
//
// Everything that Parse accepts, encoding/json also accepts, with the same value. [Limits] bounds the memory: at most
// about 150 bytes per value in addition to the text.
package strictjson

import (
	"strconv"
	"strings"
)

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds of JSON values. Null is the zero value.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String returns the word used in messages, as in "got list".
func (k Kind) String() string {
	return [...]string{"null", "bool", "number", "string", "list", "object"}[k]
}

// Node is one value in a JSON text. Nodes are made by [Parse] and must not be modified; then they are safe for
// concurrent use. The zero Node is a null without a place.
type Node struct {
	Kind Kind
	// Bool is the value of a Bool.
	Bool bool
	// Offset is the offset of the first byte of the value in the text, End the offset after its last byte.
	Offset, End int
	// Text is the value of a String, with escapes resolved.
	Text string
	// Number is a Number as written in the text; [Whole] and strconv.ParseFloat read it.
	Number string
	// Elems are the values of an Array.
	Elems []*Node
	// Members are the names and values of an Object in the order of the text. No name appears twice.
	Members []Member
}

// Member is one name of an object and its value.
type Member struct {
	Name string
	// NameOffset is the offset of the opening quote of the name.
	NameOffset int
	Value      *Node
}

// Get returns the value of that name in an Object, or nil if it has none or n is another kind. Case matters.
func (n *Node) Get(name string) *Node {
	if n == nil {
		return nil
	}
	for i := range n.Members {
		if n.Members[i].Name == name {
			return n.Members[i].Value
		}
	}
	return nil
}

// Values returns the members of an Object by name, for callers that need many names. A nil node has none.
func (n *Node) Values() map[string]*Node {
	if n == nil {
		return nil
	}
	values := make(map[string]*Node, len(n.Members))
	for _, m := range n.Members {
		values[m.Name] = m.Value
	}
	return values
}

// EscapeToken returns a name as a part of a JSON pointer: "~" becomes "~0" and "/" becomes "~1".
func EscapeToken(name string) string {
	if !strings.ContainsAny(name, "~/") {
		return name
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// SplitPointer returns the parts of a JSON pointer with their escapes resolved. ok is false for an invalid JSON
// pointer.
func SplitPointer(pointer string) (tokens []string, ok bool) {
	if pointer == "" {
		return nil, true
	}
	if pointer[0] != '/' {
		return nil, false
	}
	tokens = strings.Split(pointer[1:], "/")
	for i, token := range tokens {
		// "~01" means "~1", so "~1" must be replaced before "~0".
		plain := strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		if EscapeToken(plain) != token {
			return nil, false // a "~" is not followed by 0 or 1
		}
		tokens[i] = plain
	}
	return tokens, true
}

// AppendJSON appends the value in compact form, with numbers as written.
func (n *Node) AppendJSON(dst []byte) []byte {
	switch n.Kind {
	case Bool:
		return strconv.AppendBool(dst, n.Bool)
	case Number:
		return append(dst, n.Number...)
	case String:
		return AppendQuoted(dst, n.Text)
	case Array:
		dst = append(dst, '[')
		for i, e := range n.Elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.AppendJSON(dst)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i, m := range n.Members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendQuoted(dst, m.Name)
			dst = append(dst, ':')
			dst = m.Value.AppendJSON(dst)
		}
		return append(dst, '}')
	default:
		return append(dst, "null"...)
	}
}
