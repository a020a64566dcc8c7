package mend

import "github.com/millrace-go/millrace/internal/strictjson"

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
	// Fields are those of an Object.
	Fields []Field
	// Elem is what is in a List or a Map.
	Elem *Form
	// Enum are the strings that a Text can be. Nil means any.
	Enum []string
	// ID says that a Text is a word without spaces and commas: a number stands for its digits, and a string for a list of
	// such words may have several, separated by commas.
	ID bool
}

// Field is a name in an object.
type Field struct {
	Name string
	// Aliases are other names that are taken for it, if they are not the name of another field.
	Aliases []string
	Form    *Form
}

// Has reports whether an Object has a field of exactly that name.
func (f *Form) Has(name string) bool { return f.field(name) != nil }

func (f *Form) field(name string) *Field {
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

// At returns the form of what stands at a JSON pointer, or nil if nobody knows it.
func (f *Form) At(pointer string) *Form {
	tokens, _ := strictjson.SplitPointer(pointer)
	for _, token := range tokens {
		if f.Kind == List || f.Kind == Map {
			f = f.Elem
			continue
		}
		field := f.field(token)
		if field == nil {
			return nil
		}
		f = field.Form
	}
	return f
}
