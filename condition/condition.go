// Package condition decides whether a step of a pipeline runs: if an earlier step found something, or if a file exists.
//
//	condition.HasMatches("find")           // the step "find" found files
//	condition.CountGT("left", 0)           // the counts of the step "left" add up to more than 0
//	condition.FileNotExists("go.mod")
//
// A [Condition] is a value without state, from a constructor, from [New] or from JSON. It is evaluated once, just
// before its step runs: [Condition.Holds] reads the run through [Facts]. A step whose condition does not hold is
// skipped, and the reason becomes its skip_reason.
//
// # Unknown facts do not hold
//
// A skipped step has not searched, and a failed step has not finished, so its matches are unknown: then no_matches is
// as false as has_matches, and so are all count conditions. A pipeline that deletes files after no_matches must not do
// so because the search did not run. A skipped step has neither succeeded nor failed; step_failed is the only condition
// that holds for a failed step.
package condition

import (
	"slices"
	"strconv"
)

// Type is the kind of a condition, the JSON field "type". The zero Condition has the zero Type, "".
type Type string

// The types.
const (
	typeHasMatches    Type = "has_matches"     // the step found files
	typeNoMatches     Type = "no_matches"      // the step found no files
	typeCountGT       Type = "count_gt"        // the sum of the step's counts is greater than the value
	typeCountLT       Type = "count_lt"        // ... less than the value
	typeCountEQ       Type = "count_eq"        // ... the value
	typeFileExists    Type = "file_exists"     // a file or directory exists at the path
	typeFileNotExists Type = "file_not_exists" // nothing exists at the path
	typeStepSucceeded Type = "step_succeeded"  // the step ran and did not fail
	typeStepFailed    Type = "step_failed"     // the step ran and failed; this marks the failure as handled
	typePrevError     Type = "prev_error"      // the step that was executed before has an error
)

// Short is another JSON form of {"type": "prev_error"}.
const Short = "prev.error"

// kinds is the table of the types, in the order of the documentation, with the JSON fields of each besides "type":
// exactly these are allowed.
var kinds = [...]struct {
	typ    Type
	fields []string
}{
	{typeHasMatches, []string{"step_ref"}},
	{typeNoMatches, []string{"step_ref"}},
	{typeCountGT, []string{"step_ref", "value"}},
	{typeCountLT, []string{"step_ref", "value"}},
	{typeCountEQ, []string{"step_ref", "value"}},
	{typeFileExists, []string{"path"}},
	{typeFileNotExists, []string{"path"}},
	{typeStepSucceeded, []string{"step_ref"}},
	{typeStepFailed, []string{"step_ref"}},
	{typePrevError, nil},
}

// Types returns all types in the order of the documentation.
func Types() []Type {
	types := make([]Type, len(kinds))
	for i, k := range kinds {
		types[i] = k.typ
	}
	return types
}

// Fields returns the JSON fields of conditions of the type, which are all required: "type" and the type's own fields.
// It returns nil for an unknown type.
func (t Type) Fields() []string {
	for _, k := range kinds {
		if k.typ == t {
			return append([]string{"type"}, k.fields...)
		}
	}
	return nil
}

func (t Type) has(field string) bool { return slices.Contains(t.Fields(), field) }

// Fields is a condition in its JSON form, which is also the source of its schema and its JSON in pipelines. "" and nil
// mean that a field is absent.
type Fields struct {
	Type    string `json:"type"`
	StepRef string `json:"step_ref,omitempty" param:"id"`
	Path    string `json:"path,omitempty"`
	// Value is a whole number, in JSON optionally in quotes. Nil means none.
	Value *int `json:"value,omitempty" param:"quoted"`
}

// each calls visit for each field except the type, in the order in which they are written, with its JSON name and a
// pointer to it: a *string or a **int.
func (f *Fields) each(visit func(name string, to any)) {
	visit("step_ref", &f.StepRef)
	visit("value", &f.Value)
	visit("path", &f.Path)
}

// Condition is a condition of a step. It is immutable, and conditions can be compared with ==. The zero Condition
// always holds.
//
// The constructors accept any arguments; a step id that is empty or unknown is reported when the pipeline is built, see
// [Condition.Check].
type Condition struct {
	typ   Type
	step  string
	path  string
	value int
}

// HasMatches holds if the step succeeded and found at least one file.
func HasMatches(step string) Condition { return Condition{typ: typeHasMatches, step: step} }

// NoMatches holds if the step succeeded and found no files.
func NoMatches(step string) Condition { return Condition{typ: typeNoMatches, step: step} }

// CountGT holds if the step succeeded and the sum of its counts is greater than n.
func CountGT(step string, n int) Condition {
	return Condition{typ: typeCountGT, step: step, value: n}
}

// CountLT holds if the step succeeded and the sum of its counts is less than n.
func CountLT(step string, n int) Condition {
	return Condition{typ: typeCountLT, step: step, value: n}
}

// CountEQ holds if the step succeeded and the sum of its counts is n.
func CountEQ(step string, n int) Condition {
	return Condition{typ: typeCountEQ, step: step, value: n}
}

// FileExists holds if something exists at the path just before the step runs. It takes files into account that earlier
// steps have created, moved and deleted, in a dry run too.
func FileExists(path string) Condition { return Condition{typ: typeFileExists, path: path} }

// FileNotExists holds if FileExists does not.
func FileNotExists(path string) Condition { return Condition{typ: typeFileNotExists, path: path} }

// StepSucceeded holds if the step ran and did not fail.
func StepSucceeded(step string) Condition { return Condition{typ: typeStepSucceeded, step: step} }

// StepFailed holds if the step ran and failed. A step that waits for the failure marks it as handled, so it does not
// stop the run.
func StepFailed(step string) Condition { return Condition{typ: typeStepFailed, step: step} }

// PrevError holds if the step that was executed before has an error: it failed, or made a backward jump. Skipped steps
// do not count. It does not hold for the first step.
func PrevError() Condition { return Condition{typ: typePrevError} }

// IsZero reports whether the condition is empty.
func (c Condition) IsZero() bool { return c == Condition{} }

// Type returns the type, "" for the zero Condition.
func (c Condition) Type() Type { return c.typ }

// StepRef returns the id of the condition's step, "" if it is about a file.
func (c Condition) StepRef() string { return c.step }

// Path returns the path of the condition, "" if it is about a step.
func (c Condition) Path() string { return c.path }

// WithPath returns the same condition with another path. A condition that is not about a file stays unchanged.
func (c Condition) WithPath(path string) Condition {
	if c.typ.has("path") {
		c.path = path
	}
	return c
}

// Value returns the number to compare a count with, 0 if the condition has no number.
func (c Condition) Value() int { return c.value }

// Fields returns the fields of the condition; [New] returns the condition for them.
func (c Condition) Fields() Fields {
	f := Fields{Type: string(c.typ), StepRef: c.step, Path: c.path}
	if c.typ.has("value") {
		f.Value = &c.value
	}
	return f
}

// String returns the condition for messages, such as "count_gt(find, 5)", and "" for the zero Condition.
func (c Condition) String() string {
	switch {
	case c.typ == "", c.typ == typePrevError:
		return string(c.typ)
	case c.typ.has("value"):
		return string(c.typ) + "(" + c.step + ", " + strconv.Itoa(c.value) + ")"
	default:
		return string(c.typ) + "(" + c.step + c.path + ")"
	}
}
