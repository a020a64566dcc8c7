package condition

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/strictjson"
)

// Problem is one mistake in a condition.
type Problem struct {
	// the JSON field: "type", "step_ref", "value", "path", or one that does not belong there; "" for the whole
	Field   string
	Code    string // stable: one of the Code constants
	Message string // such as "condition type 'count_eq' requires value"
	Hint    string // what to write instead, if that is known
}

// The codes of problems.
const (
	CodeUnknownType  = "unknown_type"
	CodeMissingField = "missing_field"
	CodeUnknownField = "unknown_field" // also one that does not belong to the type
	CodeWrongType    = "wrong_type"    // not a string, not a whole number, not an object
	CodeBadValue     = "bad_value"
	CodeInvalidJSON  = "invalid_json"
)

// The JSON fields.
const (
	fieldType    = "type"
	fieldStepRef = "step_ref"
	fieldValue   = "value"
	fieldPath    = "path"
)

// Error is all problems of a condition, at least one.
type Error struct {
	Problems []Problem
}

// Error returns the messages and hints, separated by semicolons.
func (e *Error) Error() string {
	all := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		all[i] = p.Message
		if p.Hint != "" {
			all[i] += ": " + p.Hint
		}
	}
	return strings.Join(all, "; ")
}

// New returns the condition that the fields describe, whatever they were read from, or all problems there are (and
// the zero Condition). "" and nil stand for a field that is absent. A field that the type needs must be there, and
// one that it does not need must not be. Whether there is such a step is for the caller to check.
func New(typ, stepRef, path string, value *int) (Condition, []Problem) {
	var problems []Problem
	if typ == "" {
		return Condition{}, []Problem{{
			Field: fieldType, Code: CodeMissingField, Message: "condition requires type", Hint: hintTypes(),
		}}
	}
	needsStep, needsValue, needsPath, ok := Type(typ).needs()
	if !ok {
		return Condition{}, []Problem{unknownType(typ)}
	}
	check := func(field string, needed, given bool) {
		switch {
		case needed && !given:
			problems = append(problems, Problem{
				Field: field, Code: CodeMissingField, Message: fmt.Sprintf("condition type '%s' requires %s", typ, field),
			})
		case given && !needed:
			problems = append(problems, Problem{
				Field: field, Code: CodeUnknownField, Message: fmt.Sprintf("condition type '%s' does not take %s", typ, field),
				Hint: "leave it out",
			})
		}
	}
	check(fieldStepRef, needsStep, stepRef != "")
	check(fieldValue, needsValue, value != nil)
	check(fieldPath, needsPath, path != "")
	for _, f := range []struct{ name, text string }{{fieldStepRef, stepRef}, {fieldPath, path}} {
		if !utf8.ValidString(f.text) {
			// Every pipeline can be written as JSON, and JSON has no way to write such a name.
			problems = append(problems, Problem{
				Field: f.name, Code: CodeBadValue, Message: fmt.Sprintf("condition %s %q is not valid UTF-8", f.name, f.text),
			})
		}
	}
	if len(problems) > 0 {
		return Condition{}, problems
	}
	c := Condition{typ: Type(typ), step: stepRef, path: path}
	if value != nil {
		c.value = *value
	}
	return c, nil
}

// Check returns what is wrong with a condition that a constructor has made: a step id or a path that is empty or not
// valid UTF-8. Nothing is wrong with the zero Condition.
func (c Condition) Check() []Problem {
	if c.IsZero() {
		return nil
	}
	var value *int
	if _, needed, _, _ := c.typ.needs(); needed {
		value = &c.value
	}
	_, problems := New(string(c.typ), c.step, c.path, value)
	return problems
}

func unknownType(typ string) Problem {
	p := Problem{
		Field: fieldType, Code: CodeUnknownType, Message: fmt.Sprintf("unknown condition type '%s'", typ), Hint: hintTypes(),
	}
	if near, ok := strictjson.Nearest(typ, typeNames()); ok {
		p.Hint = fmt.Sprintf("did you mean '%s'?", near)
	}
	return p
}

func hintTypes() string { return "the types are " + strings.Join(typeNames(), ", ") }

func typeNames() []string {
	types := Types()
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return names
}
