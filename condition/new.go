package condition

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/synonyms"
)

// Problem is a mistake in a condition.
type Problem struct {
	// the JSON field: "type", "step_ref", "value", "path", or a field that does not belong to the condition; "" for the
	// whole
	Field   string
	Code    string // stable, such as "missing_field"
	Message string // for example "condition type 'count_eq' requires value"
	Hint    string // the correction, if it is known
}

// The codes of problems.
const (
	codeUnknownType  = "unknown_type"
	codeMissingField = "missing_field"
	codeUnknownField = "unknown_field" // also a field that does not belong to the type
	codeWrongType    = "wrong_type"    // not a string, not a whole number, not an object
	codeBadValue     = "bad_value"
	codeInvalidJSON  = "invalid_json"
)

// problemsError is all problems of a condition, at least one.
type problemsError struct {
	Problems []Problem
}

// Error returns the messages and hints, separated by semicolons.
func (e *problemsError) Error() string {
	all := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		all[i] = p.Message
		if p.Hint != "" {
			all[i] += ": " + p.Hint
		}
	}
	return strings.Join(all, "; ")
}

// MarshalJSON returns the code, the message and the problems.
func (e *problemsError) MarshalJSON() ([]byte, error) {
	problems := make([]errorform.Problem, len(e.Problems))
	for i, p := range e.Problems {
		problems[i] = errorform.Problem{Code: p.Code, Message: p.Message, Hint: p.Hint}
		if p.Field != "" {
			problems[i].Pointer = "/" + p.Field
		}
	}
	return errorform.Marshal("invalid_condition", e, problems...)
}

// New returns the condition with the fields, or all problems and the zero Condition. Exactly the fields of the type
// must be set. The caller must check that the step exists.
func New(f Fields) (Condition, []Problem) {
	typ := Type(f.Type)
	if !typ.has("type") {
		return Condition{}, []Problem{noType(f.Type)}
	}
	var problems []Problem
	add := func(field, code, hint, format string, args ...any) {
		problems = append(problems,
			Problem{Field: field, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint})
	}
	f.each(func(name string, to any) {
		text, _ := to.(*string)
		number, _ := to.(**int)
		given := text != nil && *text != "" || number != nil && *number != nil
		switch needed := typ.has(name); {
		case needed && !given:
			add(name, codeMissingField, "", "condition type '%s' requires %s", typ, name)
		case given && !needed:
			add(name, codeUnknownField, "leave it out", "condition type '%s' does not take %s", typ, name)
		case text != nil && !utf8.ValidString(*text):
			// Every pipeline can be written as JSON, and JSON cannot express such a name.
			add(name, codeBadValue, "", "condition %s %q is not valid UTF-8", name, *text)
		}
	})
	if len(problems) > 0 {
		return Condition{}, problems
	}
	c := Condition{typ: typ, step: f.StepRef, path: f.Path}
	if f.Value != nil {
		c.value = *f.Value
	}
	return c, nil
}

// Check returns the problems of a condition from a constructor: a step id or a path that is empty or not valid UTF-8.
// The zero Condition has no problems.
func (c Condition) Check() []Problem {
	if c.IsZero() {
		return nil
	}
	_, problems := New(c.Fields())
	return problems
}

// noType returns the problem of a missing or unknown type.
func noType(typ string) Problem {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k.typ)
	}
	p := Problem{Field: "type", Code: codeMissingField, Message: "condition requires type",
		Hint: "the types are " + strings.Join(names, ", ")}
	if typ == "" {
		return p
	}
	p.Code, p.Message = codeUnknownType, fmt.Sprintf("unknown condition type '%s'", typ)
	if near, ok := synonyms.Suggest(typ, names); ok {
		// the nearest type may mean something else
		p.Hint = fmt.Sprintf("did you mean '%s'? The types are %s", near, strings.Join(names, ", "))
	}
	return p
}
