package template

// Type is the type of the value that a field has.
type Type uint8

// The types, and what stands for them in Go. The zero Type is none of them.
const (
	String Type = iota + 1 // string
	Int                    // int
	List                   // []string
)

// String returns "string", "number" or "list", as in messages to users.
func (t Type) String() string {
	switch t {
	case String:
		return "string"
	case Int:
		return "number"
	case List:
		return "list"
	}
	return "unknown"
}

// The fields of a step that a reference can name.
const (
	FieldAggregated = "aggregated_content" // string: the text that the step has put together
	FieldCount      = "count"              // number: the sum of the step's counts
	FieldEdits      = "edits"              // number: the replacements made
	FieldFiles      = "files"              // list: the paths matched; within a text joined by commas
	FieldFilesCount = "files_count"        // number: the length of that list
	FieldRisk       = "risk"               // string: LOW, MEDIUM, HIGH or CRITICAL
)

// Fields returns the names of all fields, sorted.
func Fields() []string {
	return []string{FieldAggregated, FieldCount, FieldEdits, FieldFiles, FieldFilesCount, FieldRisk}
}

// FieldType returns the type of a field, or false if there is no field of that name.
func FieldType(field string) (Type, bool) {
	switch field {
	case FieldAggregated, FieldRisk:
		return String, true
	case FieldCount, FieldEdits, FieldFilesCount:
		return Int, true
	case FieldFiles:
		return List, true
	}
	return 0, false
}
