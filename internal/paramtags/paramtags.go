// Package paramtags reads the param tag of a struct's fields, which describes a parameter of an action.
package paramtags

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Param is a parsed tag. The words of the tag are the names of the fields in small letters.
type Param struct {
	Required bool
	Empty    bool // may be empty although it is required
	Single   bool // for a list of strings: a single string means a list of one
	Whole    bool // a template is only recognised if it is the whole string
	Nonzero  bool // an explicit 0 is a mistake, because zero means the default
	Count    bool // not negative, also in the schema
	ID       bool // a step id, or a list of them
	Quoted   bool // a whole number that may also be in quotes
	Bytes    bool // a string of any bytes, which JSON writes as an object if they are not UTF-8
}

// Parse reads the tag of a field of type t: words separated by commas. A word without effect is an error, because its
// author expects an effect.
func Parse(tag string, t reflect.Type) (Param, error) {
	var p Param
	words := [...]string{"required", "empty", "single", "whole", "nonzero", "count", "id", "quoted", "bytes"}
	flags := [...]*bool{&p.Required, &p.Empty, &p.Single, &p.Whole, &p.Nonzero, &p.Count, &p.ID, &p.Quoted, &p.Bytes}
	for word := range strings.SplitSeq(tag, ",") {
		i := slices.Index(words[:], word)
		switch {
		case i < 0:
			return p, fmt.Errorf("param tag has the word %q: use some of %s", word, strings.Join(words[:], ", "))
		case *flags[i]:
			return p, fmt.Errorf("param tag has the word %q twice", word)
		case (word == "empty" || word == "single") && !p.Required:
			return p, fmt.Errorf("param tag has the word %q, which stands only after required", word)
		}
		*flags[i] = true
	}
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Pointer {
		if p.Single && t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String {
			return p, nil
		}
		t = t.Elem()
	}
	switch {
	case p.Single:
		return p, fmt.Errorf("only a list of strings can be a single string too")
	case p.Whole && t.Kind() != reflect.String:
		return p, fmt.Errorf("only a string, or a list or map of them, can be a template as a whole")
	case p.Bytes && t.Kind() != reflect.String:
		return p, fmt.Errorf("only a string can hold any bytes")
	case p.Nonzero && !reflect.Zero(t).CanInt() && !reflect.Zero(t).CanUint():
		return p, fmt.Errorf("only a whole number can be refused for being 0")
	}
	return p, nil
}
