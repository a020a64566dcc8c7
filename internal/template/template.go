// Package template finds references to the results of earlier steps in the parameters of a step and replaces them by
// their values: "{{find.files_count}} files" becomes "12 files". [Resolve] does the same with data of any other origin.
//
// Parameters are mostly pieces of source text, and source text is full of braces that mean something to another program
// (Go, Helm, Jinja, Handlebars, regular expressions). So a reference is recognised by its root, which is usually the id
// of a step. The caller of [Parse] passes the known roots; all other text stays unchanged, byte for byte.
//
// # References
//
//	{{find.files}}          a field of the step "find"
//	{{ find.files }}        the same; spaces and tabs are allowed inside the braces
//	{{find.files[0]}}       an element of a list, {{find.files[-1]}} the last one
//	{{step1.files}}         the first step, if no step has the id "step1" ([Steps])
//	{{steps[0].files}}      the first step, too
//	{{call.items[0].id}}    a path into the data of a root that has data ([Root])
//	{{call["a.b"].id}}      a key of any characters, as a string of JSON; braces in it are \u007b and \u007d
//	{{call}}                all of the data
//	{{find.files|raw}}      unquoted, where a regular expression quotes values ([Ref.Raw])
//
// A reference is on one line, has no braces in it, and has at most [MaxParts] keys and indices after its root. A text
// that begins with a known root and a dot must be a valid reference: "{{find.fils}}" is a [Problem], because it would
// otherwise end up in a user's file. If the root has no data, "{{find}}" and "{{find[0]}}" are text.
//
// # Backslashes
//
// A backslash directly before a reference makes it text, and is dropped: with a step "find", \{{find.files}} becomes
// {{find.files}}. To get a backslash before a value, double it: \\{{find.count}} becomes \12. In general, a run of
// backslashes directly before a reference to a known root is halved, and an odd one escapes it. All other backslashes,
// including those before braces that are not a reference (such as \{{2} in a regular expression), are text. [Escape]
// escapes a text that must not change.
//
// # Values
//
// A text that is exactly one reference ([Text.Whole]) keeps the type of its value: null, a boolean, a number, a text,
// a list or an object. Inside a longer text everything becomes text: the files of a step as [Join] writes them, other
// lists and objects as compact JSON. A value is never searched for references.
package template

import (
	"fmt"
	"slices"
	"strings"
)

// Root is the first part of a reference: a step, or another named source of values.
type Root struct {
	Name   string  // such as the id of the step
	Fields []Field // the fields that can follow the name and a dot
	// Data means that the root has data of unknown shape: any path can follow its name, or nothing.
	Data bool
	// Missing explains why the root does not exist although the name can only mean a root: each reference to it is a
	// [Problem]. "" means that the root exists.
	Missing string
}

// Known returns the root of that name; ok is false if it does not exist. The name is the first part of a possible
// reference, as written: letters, digits, "-" and "_", or "steps[" number "]", where the number can be negative. See
// [Steps]. A nil Known has no roots.
type Known func(name string) (root Root, ok bool)

// root returns the root that a candidate names, if the candidate is a reference, even a wrong one.
func (k Known) root(c *candidate) (Root, bool) {
	if k == nil {
		return Root{}, false
	}
	if index, rest, ok := strings.Cut(c.rest, "]"); ok && c.base == stepsPrefix && index[0] == '[' &&
		digits(strings.TrimPrefix(index[1:], "-")) {
		c.base, c.rest = c.base+index+"]", rest
	}
	if c.rest != "" && c.rest[0] != '.' && c.rest[0] != '[' { // as in steps[0]x
		return Root{}, false
	}
	root, ok := k(c.base)
	return root, ok && (root.Data || strings.HasPrefix(c.rest, "."))
}

// Ref is one reference, such as to a result of a step.
type Ref struct {
	Root   string // the [Root.Name], so the id of a step even if the reference uses its position
	Field  string // the key after the root; "" if no key follows or the key is empty, and then Path has everything
	Path   Path   // what follows the field
	Type   Type   // the type of the reference's value
	Source string // as written, with its braces
	Offset int    // of Source in the text, in bytes
	Raw    bool   // it ends in "|raw": in a regular expression the value is not quoted
}

// Problem is a mistake in a text, or, from [Text.NearMisses], a suspicion.
type Problem struct {
	Source string // the reference as written, with its braces
	Offset int    // of Source in the text, in bytes
	// Code is stable: "unknown_root", "unknown_field", "not_a_list", "bad_path", "bad_index", "near_miss" or "too_many".
	Code    string
	Message string // such as "template '{{find.fils}}': unknown field 'fils'"; the caller puts "step 'x': " before it
	Hint    string // what to write instead
}

// Text is a text with its references found. It is immutable and safe for concurrent use; the zero Text is the empty
// text.
type Text struct {
	source  string
	parts   []part // nil if source needs no expansion
	refs    []Ref
	foreign []candidate // look like references to steps that do not exist, at most 2 * mostForeign
}

// A text has at most mostProblems problems, and a last problem that counts the rest. Of the pieces that look like
// references, it keeps the first mostForeign. After these it keeps only the first piece of each new name, up to
// mostForeign names. A hostile text could have millions.
const (
	mostProblems = 100
	mostForeign  = 1000
)

// part is a piece of the expanded text: literal text, or the value of refs[ref] if ref is not negative.
type part struct {
	literal string
	ref     int
}

// Parse finds the references in a text. The problems are in the order of the text: the first 100, and a last problem
// that counts the rest. A Text with problems can be inspected (Refs has the valid references) but not expanded. Parse
// takes time linear in the length of the text, and calls known once for each candidate.
func Parse(text string, known Known) (Text, []Problem) {
	if !strings.Contains(text, "{{") {
		return Text{source: text}, nil
	}
	t := Text{source: text}
	var problems []Problem
	more := 0
	bases := make(map[string]bool) // of foreign
	var root Root                  // root of the most recent known candidate
	isKnown := func(c *candidate) (ok bool) {
		if root, ok = known.root(c); !ok && strings.HasPrefix(c.rest, ".") &&
			(len(t.foreign) < mostForeign || !bases[c.base] && len(bases) < mostForeign) {
			t.foreign = append(t.foreign, *c)
			bases[c.base] = true
		}
		return ok
	}
	for literal, c := range pieces(text, isKnown) {
		if c.base == "" {
			t.parts = append(t.parts, part{literal: literal, ref: -1})
			continue
		}
		full := len(problems) == mostProblems
		ref, problem := c.reference(text, root, full)
		if problem != nil && full {
			more++
			continue
		}
		if problem != nil {
			problems = append(problems, *problem)
			t.parts = append(t.parts, part{literal: ref.Source, ref: -1})
			continue
		}
		t.parts = append(t.parts, part{ref: len(t.refs)})
		t.refs = append(t.refs, ref)
	}
	if more > 0 {
		problems = append(problems, Problem{
			Offset: len(text), Code: "too_many", Message: fmt.Sprintf("%d more templates are wrong", more),
			Hint: "correct the others first",
		})
	}
	return t, problems
}

// Source returns the text as it was given to [Parse].
func (t Text) Source() string { return t.source }

// IsTemplate reports whether the text names a known root anywhere, even escaped or wrongly. If not, expanding it
// returns the source.
func (t Text) IsTemplate() bool { return t.parts != nil }

// Refs returns the references in the order of the text, with repetitions.
func (t Text) Refs() []Ref { return slices.Clone(t.refs) }

// Whole returns the reference if it is the entire text, without even a space around it. Its value then keeps its type.
func (t Text) Whole() (Ref, bool) {
	if len(t.parts) == 1 && len(t.refs) == 1 {
		return t.refs[0], true
	}
	return Ref{}, false
}

// Escape returns a text that [Parse] with the same known turns into the given text: each reference in it gets a
// backslash, and the backslashes before it are doubled.
func Escape(text string, known Known) string {
	return escape(text, func(c *candidate) bool {
		_, ok := known.root(c)
		return ok
	})
}
