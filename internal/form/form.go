// Package form describes JSON objects field by field: one table each, from which the object is read, mended and
// written, and its schema is made.
//
// A table is made for the Go values that its fields stand for, by a function from a pointer to [Fields]. For a
// schema, and for what only asks for names, it is made for a zero value.
package form

import (
	"strings"

	"github.com/millrace-go/millrace/internal/mend"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// Kind is what a field holds, and what its To points to.
type Kind uint8

// The kinds. What is empty is left out when it is written: "", no elements, a nil *int, and a flag that has its
// default.
const (
	Text   Kind = iota // a *string
	ID                 // a *string: the id of a step
	IDs                // a *[]string: ids of steps
	Flag               // a *bool, false by default
	Unless             // a *bool that holds the opposite: true by default in JSON, and false in Go
	Count              // a **int: a whole number that is not negative
	Number             // a **int: a whole number that may also stand in quotes
	Object             // a [Value]
	List               // a [Value]: a list of objects
)

// Field is one field of an object.
type Field struct {
	// Name is the name in JSON. Aliases are other names that lenient decoding takes for it, separated by spaces.
	Name    string
	Aliases string
	// Doc is the sentence in the schema.
	Doc string
	// Kind is what the field holds, To where that stands.
	Kind Kind
	To   any
	// Always says that the field is written even if it is empty.
	Always bool
	// Most is how many characters a text may have, 0 for any number. Enum are the texts that there are, nil for any.
	Most int
	Enum []string
}

// Value is an object, or a list of objects, that reads and writes itself.
type Value interface {
	// Fields returns the table of an object, nil if what may be in it depends on something else.
	Fields() Fields
	// Read reads what stands at a JSON pointer; of an [Object] it is an object.
	Read(n *strictjson.Node, pointer string)
	// Append appends the JSON text, or nothing if there is nothing to write.
	Append(dst []byte) ([]byte, error)
}

// Fields is the table of an object, in the order in which it is written.
type Fields []Field

// Field returns the field of exactly that name, or nil.
func (f Fields) Field(name string) *Field {
	for i := range f {
		if f[i].Name == name {
			return &f[i]
		}
	}
	return nil
}

// Mend returns what package mend has to know of the object.
func (f Fields) Mend() *mend.Form {
	m := &mend.Form{Kind: mend.Object, Fields: make([]mend.Field, len(f))}
	for i := range f {
		m.Fields[i] = mend.Field{Name: f[i].Name, Aliases: strings.Fields(f[i].Aliases), Form: f[i].mend()}
	}
	return m
}

func (f *Field) mend() *mend.Form {
	switch f.Kind {
	case ID:
		return &mend.Form{Kind: mend.Text, ID: true}
	case IDs:
		return &mend.Form{Kind: mend.List, Elem: &mend.Form{Kind: mend.Text, ID: true}}
	case Flag, Unless:
		return &mend.Form{Kind: mend.Flag}
	case Count, Number:
		return &mend.Form{Kind: mend.Number}
	case Object:
		return f.To.(Value).Fields().Mend() // of what it does not know, no fields
	case List:
		return &mend.Form{Kind: mend.List, Elem: &mend.Form{Kind: mend.Object}}
	default:
		return &mend.Form{Kind: mend.Text, Enum: f.Enum}
	}
}
