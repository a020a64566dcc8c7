// Package form describes the form of JSON values. Package params derives the form of a Go struct and of a table of
// fields. Forms are used to repair values in lenient decoding, to give hints for wrong names, and to describe actions.
package form

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/nearest"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// Kind is the expected kind of a value.
type Kind uint8

// The kinds. Any, the zero value, is never repaired.
const (
	Any    Kind = iota
	Text        // a string
	Flag        // true or false
	Number      // a number
	List        // a list of Elem
	Object      // the Fields and no others
	Map         // any names, each with an Elem
)

// Form is the expected form of a value.
type Form struct {
	Kind Kind
	// Fields are the fields of an Object. A Number with Fields can also be an object with these fields.
	Fields []Field
	// Elem is the form of the elements of a List or a Map.
	Elem *Form
	// Enum are the allowed strings of a Text. Nil means any.
	Enum []string
	// ID means that a Text is a word without spaces and commas: a number can be used for its digits, and one string can be
	// used for a list of such words, separated by commas.
	ID bool
}

// Field is a name in an object.
type Field struct {
	Name string
	// Aliases are other names that lenient decoding accepts for it, separated by spaces. An alias that is the name of
	// another field, or an alias of two fields, is ignored.
	Aliases string
	Form    *Form
	// Wants describes the value in the words of messages: "a list of strings". Doc is a sentence about its meaning.
	Wants, Doc string
	// Required means that an object must have it.
	Required bool
	// Bytes means that it accepts any bytes, as {"base64": "..."}.
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

// Innermost returns the form of the innermost elements of lists and maps.
func (f *Form) Innermost() *Form {
	for f.Elem != nil {
		f = f.Elem
	}
	return f
}

// At returns the form of the value at a JSON pointer, or nil if unknown.
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

// Plain returns a name without the differences in spelling that people make: case, underscores, hyphens and spaces.
func Plain(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if separates(r) {
			return -1
		}
		return r
	}, name))
}

func separates(r rune) bool { return r == '_' || r == '-' || r == ' ' }

// Same reports whether two names differ only in case, underscores, hyphens and spaces. It is called for every name in a
// text with every known name, so it makes no copies.
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

// Match returns the field that a name means: its name is the Same, or it has the name as an alias, or the name is a
// misspelling of it. ok is false if no field matches, or several do.
func (f *Form) Match(name string) (field string, ok bool) {
	if field, ok = f.Known(name); ok || IsRemark(name) {
		return field, ok
	}
	near, ok := nearest.Alone(name, f.Names())
	// Text before a correct name is not a misspelling: it more likely means the opposite, as in "noforce".
	if !ok || strings.HasSuffix(Plain(name), Plain(near)) || OtherUnit(name, near) {
		return "", false
	}
	return near, true
}

// OtherUnit reports whether a name is a field with another unit, such as "timeoutMs" for "timeout".
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

// IsRemark reports whether a name is that of a remark: a member whose text does not affect the work.
func IsRemark(name string) bool {
	switch Plain(name) {
	case "description", "comment", "comments", "note", "notes", "title", "label", "summary", "explanation", "reason",
		"reasoning", "rationale", "thought", "thoughts", "purpose", "goal", "author", "created", "version",
		"schemaversion", "$schema", "tags", "meta", "metadata", "extra", "displayname", "$comment":
		return true
	}
	return false
}
