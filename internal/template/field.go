package template

// Type is the type of the value of a field or a reference.
type Type uint8

// The types, with their types in Go. The zero Type is not valid.
const (
	String Type = iota + 1 // string
	Int                    // int, or another integer type
	List                   // []string: the files of a step
	Bool                   // bool
	Number                 // an integer, a float, or a json.Number
	Object                 // a map whose keys are strings
	Any                    // any value that [Resolve] accepts: the type is unknown before the step has run
)

// String returns the name of the type in messages to users.
func (t Type) String() string {
	switch t {
	case String:
		return "string"
	case Int, Number:
		return "number"
	case List:
		return "list"
	case Bool:
		return "boolean"
	case Object:
		return "object"
	case Any:
		return "value"
	}
	return "unknown"
}

// Field is one field of a step, or of another root.
type Field struct {
	Name string
	Type Type
}

// The fields that a step can have.
const (
	FieldAggregated = "aggregated_content" // string: the text that the step has collected
	FieldContent    = "content"            // object: the text of each path that the step has read
	FieldCount      = "count"              // number: the sum of the step's counts
	FieldCounts     = "counts"             // object: the count of each path
	FieldData       = "data"               // any value: the result that the step returned
	FieldEdits      = "edits"              // number: the replacements made
	FieldError      = "error"              // string: the message of a failed step, else ""
	FieldErrorCode  = "error_code"         // string: the code of that error, else ""
	FieldFiles      = "files"              // list: the paths matched; in a longer text joined by commas
	FieldFilesCount = "files_count"        // number: the length of that list
	FieldOK         = "ok"                 // boolean: whether the step has succeeded
	FieldOutput     = "output"             // string: the text that the step has printed or answered
	FieldRenames    = "renames"            // object: the new name for each old name
	FieldRisk       = "risk"               // string: LOW, MEDIUM, HIGH or CRITICAL
	FieldSkipped    = "skipped"            // boolean: whether the step was skipped
	FieldVisits     = "visits"             // number: how many times the step was reached
)

// Fields returns the [ResultFields] about files, sorted by name.
func Fields() []Field {
	return []Field{
		{FieldAggregated, String}, {FieldCount, Int}, {FieldEdits, Int}, {FieldFiles, List}, {FieldFilesCount, Int},
		{FieldRisk, String},
	}
}

// ResultFields returns the fields that each step of a pipeline has, sorted by name.
func ResultFields() []Field {
	return []Field{
		{FieldAggregated, String}, {FieldContent, Object}, {FieldCount, Int}, {FieldCounts, Object}, {FieldData, Any},
		{FieldEdits, Int}, {FieldError, String}, {FieldErrorCode, String}, {FieldFiles, List}, {FieldFilesCount, Int},
		{FieldOK, Bool}, {FieldOutput, String}, {FieldRenames, Object}, {FieldRisk, String}, {FieldSkipped, Bool},
		{FieldVisits, Int},
	}
}
