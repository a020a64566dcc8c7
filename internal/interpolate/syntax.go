package interpolate

import (
	"reflect"
	"regexp"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/template"
)

// syntax is the syntax of a parameter's text. Values of templates in it are quoted so that they are literal.
type syntax uint8

const (
	plainText   syntax = iota
	expression         // a regular expression
	guessed            // a regular expression if it looks like one
	replacement        // of a regular expression
	structure          // of code, or its replacement
	script             // of sed, with extended expressions
	re2Script          // of sed, with RE2 expressions
	basicScript        // of sed, with basic expressions
	glob               // in which names of files are quoted
	newName            // of a file, with {{name}} and other parts of its name
	globs              // an element of a list of globs, or the list
)

// syntaxOf returns the syntax of the parameter at a pointer. mode expands the value of a parameter that selects the
// syntax.
func syntaxOf(action any, pointer string, mode func(pointer, given string) string) syntax {
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	name := parts[0]
	last := parts[len(parts)-1]
	switch a := reflect.Indirect(reflect.ValueOf(action)).Interface().(type) {
	case actions.List, actions.Exec:
		switch name {
		case "include", "exclude", "needs", "writes":
			return globs
		}
	case actions.Edit:
		switch m := mode("/mode", a.Mode); {
		case m == match.Structural.String() && (name == "old_text" || name == "new_text"):
			return structure
		case m != match.Regex.String():
		case name == "old_text":
			return expression
		case name == "new_text":
			return replacement
		}
	case actions.MultiEdit:
		if a.Structural && name == "edits" {
			return structure
		}
	case actions.Copy:
		if name == "to" {
			return newName
		}
	case actions.RegexTransform, actions.Rename:
		switch {
		case last == "pattern":
			return expression
		case last == "replacement":
			return replacement
		case name == "to":
			return newName
		}
	case actions.CountOccurrences:
		switch m := mode("/mode", a.Mode); {
		case name != "pattern":
		case m == match.Regex.String():
			return expression
		case m == match.Structural.String():
			return structure
		}
	case actions.Search:
		switch m := mode("/mode", a.Mode); {
		case name == "include" || name == "exclude":
			return globs
		case name != "pattern" || m == match.Literal.String():
		case m == match.Structural.String():
			return structure
		case m == match.Regex.String():
			return expression
		default:
			return guessed
		}
	case actions.PatternReplace:
		switch syntax := mode("/syntax", a.Syntax); {
		case name == "file_pattern":
			return glob
		case name == "exclude_patterns":
			return globs
		case name != "sed_pattern":
		case syntax == "bre":
			return basicScript
		case syntax == "re2":
			return re2Script
		default:
			return script
		}
	}
	return plainText
}

// quoted returns an expression that matches exactly the value, even between brackets, where a hyphen makes a range.
func quoted(value string) string { return strings.ReplaceAll(regexp.QuoteMeta(value), "-", `\-`) }

// expandIn replaces the templates of a text with this syntax by their values.
func (s syntax) expandIn(text template.Text, values template.Values) (any, error) {
	if _, whole := text.Whole(); whole && s != plainText && s != globs {
		if v, err := text.Expand(values); err != nil || v == nil {
			return nil, err // null is not a text
		}
	}
	switch s {
	case expression:
		return text.ExpandQuoted(values, quoted)
	case replacement:
		return text.ExpandQuoted(values, strings.NewReplacer("$", "$$", `\`, `\\`).Replace)
	case structure:
		return expandStructure(text, values)
	case newName:
		return text.ExpandQuoted(values, strings.NewReplacer("{{", "{{{{}}").Replace)
	case glob:
		return expandGlob(text, values)
	case globs:
		return expandGlobs(text, values)
	case script:
		return extendedSed.expand(text, values)
	case re2Script:
		return re2Sed.expand(text, values)
	case basicScript:
		return basicSed.expand(text, values)
	case guessed:
		// The author's own characters decide, not those in the values.
		own, err := text.ExpandQuoted(values, func(string) string { return "x" })
		if err != nil {
			return nil, err
		}
		if p, err := match.Parse(own, match.Auto, match.Flags{}); err == nil && p.Mode() == match.Regex {
			return text.ExpandQuoted(values, quoted)
		}
		whole, err := text.ExpandString(values)
		return regexp.QuoteMeta(whole), err
	}
	return text.Expand(values)
}
