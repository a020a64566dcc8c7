// Package template finds references to the results of earlier steps in the parameters of a step and puts their values
// in: "{{find.files_count}} files" becomes "12 files".
//
// Parameters are mostly pieces of source text, and source text is full of braces that mean something to somebody else
// (Go, Helm, Jinja, Handlebars, regular expressions). So a reference is recognised by the step it names: [Parse] asks
// which steps there are, and everything that does not name one is text and stays as it is, byte for byte.
//
// # What a reference looks like
//
//	{{find.files}}         a field of the step "find"
//	{{ find.files }}       the same; spaces and tabs are allowed inside the braces
//	{{find.files[0]}}      an element of a list, {{find.files[-1]}} the last one
//	{{step1.files}}        the first step, if no step has the id "step1" ([Steps])
//	{{steps[0].files}}     the first step, too
//
// The fields are those of [Fields]. A reference stands on one line and has no braces in it. When the text between the
// braces begins with a known step and a dot, it has to be right: "{{find.fils}}" is a [Problem], since it would
// otherwise end up in somebody's file.
//
// # Backslashes
//
// A backslash directly before a reference makes it text, and is dropped: with a step "find", \{{find.files}} becomes
// {{find.files}}. To have a backslash before a value, double it: \\{{find.count}} becomes \12. In general, a run of
// backslashes directly before a reference to a known step is halved, and an odd one escapes it. All other backslashes,
// also those before braces that are no reference (such as \{{2} in a regular expression), are text. [Escape] does all
// this for a text that is to stay what it is.
//
// # Values
//
// A text that is one reference and nothing else ([Text.Whole]) keeps the type of its value: a number, a text or a list.
// Inside a longer text everything becomes text, lists as [Join] writes them. A value is never searched for references.
package template

import (
	"slices"
	"strings"
)

// Known reports whether a reference names a step, and which. It is given what stands before the dot, as written: the
// letters, digits, "-" and "_" of an id, or "steps[" number "]". See [Steps]. A nil Known knows no step.
type Known func(ref string) (step string, ok bool)

func (k Known) step(ref string) (string, bool) {
	if k == nil {
		return "", false
	}
	return k(ref)
}

// Ref is one reference to a result of a step.
type Ref struct {
	Step    string // the id, also if the reference was written by position
	Field   string // one of [Fields]
	Indexed bool   // whether an element of a list is asked for
	Index   int    // which, from 0, or from -1 backwards; only if Indexed
	Source  string // as written, with its braces
	Offset  int    // of Source in the text, in bytes
}

// Type returns the type of the value that the reference stands for.
func (r Ref) Type() Type {
	if r.Indexed {
		return String
	}
	t, _ := FieldType(r.Field)
	return t
}

// Problem is one mistake in a text, or, from [Text.NearMisses], one suspicion.
type Problem struct {
	Source  string // the reference as written, with its braces
	Offset  int    // of Source in the text, in bytes
	Code    string // stable: "unknown_field", "not_a_list", "bad_index" or "near_miss"
	Message string // such as "template '{{find.fils}}': unknown field 'fils'"; the caller puts "step 'x': " before it
	Hint    string // what to write instead
}

// Text is a text with its references found. It is immutable and safe for concurrent use; the zero Text is the empty
// text.
type Text struct {
	source  string
	parts   []part // nothing if source is to be taken as it is
	refs    []Ref
	foreign []foreign
	special bool
}

// part is a piece of the expanded text: literal text, or the value of refs[ref] if ref is not negative.
type part struct {
	literal string
	ref     int
}

// foreign is something that looks like a reference to a step that there is not.
type foreign struct {
	source string
	offset int
	id     string
}

// Parse finds the references in a text. The problems are in the order of the text; where there are any, the Text is
// good for finding out more (Refs has the references that are right) but not for being expanded. Parse takes time
// linear in the length of the text, and calls known once for each thing that looks like a reference.
func Parse(text string, known Known) (Text, []Problem) {
	t := Text{source: text}
	var problems []Problem
	done := 0 // everything before is in parts
	for c := range candidates(text) {
		step, ok := known.step(c.base)
		if !ok {
			t.foreign = append(t.foreign, foreign{source: text[c.start:c.end], offset: c.start, id: c.base})
			continue
		}
		t.special = true
		slashes := backslashes(text[done:c.start])
		t.literal(text[done : c.start-slashes+slashes/2])
		done = c.end
		if slashes%2 == 1 {
			t.literal(text[c.start:c.end])
			continue
		}
		ref, problem := c.resolve(text, step)
		if problem != nil {
			problems = append(problems, *problem)
			t.literal(text[c.start:c.end])
			continue
		}
		t.parts = append(t.parts, part{ref: len(t.refs)})
		t.refs = append(t.refs, ref)
	}
	if t.special {
		t.literal(text[done:])
	}
	return t, problems
}

func (t *Text) literal(s string) {
	if s != "" {
		t.parts = append(t.parts, part{literal: s, ref: -1})
	}
}

// backslashes returns the length of the run of backslashes that s ends with.
func backslashes(s string) int { return len(s) - len(strings.TrimRight(s, `\`)) }

// Source returns the text as it was given to [Parse].
func (t Text) Source() string { return t.source }

// IsTemplate reports whether the text names a known step anywhere, be it escaped or wrong. If it does not, expanding it
// gives the source.
func (t Text) IsTemplate() bool { return t.special }

// Refs returns the references in the order of the text, each as often as it stands there.
func (t Text) Refs() []Ref { return slices.Clone(t.refs) }

// Whole returns the reference if the text is that and nothing else, not even a space, so that its value keeps its type.
func (t Text) Whole() (Ref, bool) {
	if len(t.parts) == 1 && len(t.refs) == 1 {
		return t.refs[0], true
	}
	return Ref{}, false
}

// Escape returns a text that [Parse] with the same known takes for the given one, literally: each reference in it
// gets a backslash, and the backslashes before it are doubled.
func Escape(text string, known Known) string {
	var b strings.Builder
	done := 0
	for c := range candidates(text) {
		if _, ok := known.step(c.base); !ok {
			continue
		}
		b.WriteString(text[done:c.start])
		b.WriteString(strings.Repeat(`\`, backslashes(text[done:c.start])+1))
		b.WriteString(text[c.start:c.end])
		done = c.end
	}
	b.WriteString(text[done:])
	return b.String()
}
