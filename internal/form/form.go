// Package form describes the form of JSON values. Package params makes the form of a Go struct and of a table of
// fields; lenient decoding repairs values by it, hints for wrong names come from it, and actions are described by it.
package form

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/nearest"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// Kind is what a value should be.
type Kind uint8

// The kinds. Any, the zero value, is never repaired.
const (
	Any    Kind = iota
	Text        // a string
	Flag        // true or false
	Number      // a number
	List        // a list of Elem
	Object      // the Fields, and no others
	Map         // any names, each with an Elem
)

// Form is what a value should look like.
type Form struct {
	Kind Kind
	// Fields are those of an Object. A Number that has some can be an object of them instead.
	Fields []Field
	// Elem is what is in a List or a Map.
	Elem *Form
	// Enum are the strings that a Text can be. Nil means any.
	Enum []string
	// ID means that a Text is a word without spaces and commas: a number stands for its digits, and a string for a
	// list of such words may have several, separated by commas.
	ID bool
}

// Field is a name in an object.
type Field struct {
	Name string
	// Aliases are other names that lenient decoding takes for it, separated by spaces. One that is the name of another
	// field, or an alias of two, counts for none.
	Aliases string
	Form    *Form
	// Wants describes what the value is, in the words of messages: "a list of strings". Doc is a sentence on what it
	// means.
	Wants, Doc string
	// Required means that an object must have it.
	Required bool
	// Bytes reports that it takes any bytes, as {"base64": "..."}.
	Bytes bool
}

// Field returns the field of exactly that name, or nil.
func (f *Form) Field(name string) *Field {
	for i := range f.Fields {
		if f.Fields[i].Name == name {
			return &f.Fields[i]
		}
	}
	return nil
}

// Names returns the names of the fields of an Object.
func (f *Form) Names() []string {
	names := make([]string, len(f.Fields))
	for i := range f.Fields {
		names[i] = f.Fields[i].Name
	}
	return names
}

// Innermost returns what lists and maps hold in the end.
func (f *Form) Innermost() *Form {
	for f.Elem != nil {
		f = f.Elem
	}
	return f
}

// At returns the form of what stands at a JSON pointer, or nil if it is not known.
func (f *Form) At(pointer string) *Form {
	tokens, _ := strictjson.SplitPointer(pointer)
	for _, token := range tokens {
		if f.Kind == List || f.Kind == Map {
			f = f.Elem
		} else if field := f.Field(token); field != nil {
			f = field.Form
		} else {
			return nil
		}
	}
	return f
}

// Plain returns a name without what people write differently: case, underscores, hyphens and spaces.
func Plain(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if separates(r) {
			return -1
		}
		return r
	}, name))
}

func separates(r rune) bool { return r == '_' || r == '-' || r == ' ' }

// Same reports whether two names differ only in case, underscores, hyphens and spaces. It is asked for every name in
// a text and every name that there is, so it makes no copies.
func Same(a, b string) bool {
	for {
		a, b = strings.TrimLeftFunc(a, separates), strings.TrimLeftFunc(b, separates)
		if a == "" || b == "" {
			return a == b
		}
		x, n := utf8.DecodeRuneInString(a)
		y, m := utf8.DecodeRuneInString(b)
		if x != y && unicode.ToLower(x) != unicode.ToLower(y) {
			return false
		}
		a, b = a[n:], b[m:]
	}
}

// Match returns the name of the field that a name stands for: a field that differs only as Same allows, that has the
// name as an alias, or that the name misspells. ok is false if there is none, or more than one.
func (f *Form) Match(name string) (field string, ok bool) {
	if field, ok = f.Known(name); ok || IsRemark(name) {
		return field, ok
	}
	near, ok := nearest.Alone(name, f.Names())
	// Text before a whole name is not a misspelling, but more likely means the opposite, as in "noforce".
	if !ok || strings.HasSuffix(Plain(name), Plain(near)) || OtherUnit(name, near) {
		return "", false
	}
	return near, true
}

// OtherUnit reports whether a name is that of a field in another unit, as "timeoutMs" of "timeout".
func OtherUnit(name, field string) bool { return Plain(name) == Plain(field)+"ms" }

// Known is Match without misspellings.
func (f *Form) Known(name string) (field string, ok bool) {
	for i := range f.Fields {
		if Same(f.Fields[i].Name, name) {
			return f.Fields[i].Name, true
		}
	}
	for i := range f.Fields {
		for alias := range strings.FieldsSeq(f.Fields[i].Aliases) {
			if !Same(alias, name) {
				continue
			}
			if field != "" {
				return "", false
			}
			field = f.Fields[i].Name
			break
		}
	}
	return field, field != ""
}

// IsRemark reports whether a name is that of a remark: a member whose text has nothing to do with the work.
func IsRemark(name string) bool {
	switch Plain(name) {
	case "description", "comment", "comments", "note", "notes", "title", "label", "summary", "explanation", "reason",
		"reasoning", "rationale", "thought", "thoughts", "purpose", "goal", "author", "created", "version",
		"schemaversion", "$schema", "tags", "meta", "metadata", "extra", "displayname", "$comment":
		return true
	}
	return false
}
