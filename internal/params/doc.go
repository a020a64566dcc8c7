// Package params is the bridge between an action, which is a Go struct, and its parameters in JSON, in templates and
// in schemas. All of it works by reflection on the struct, so that an action of another package is equal to
// a built-in one.
//
// # Parameters
//
// Each exported field of the struct is a parameter, under the name in its json tag or, without one, its Go name. Fields
// of embedded structs count as the struct's own. A field tagged json:"-" is not a parameter: it is never written, read,
// compared or expanded, and copies share what it refers to. The tags are
//
//	json:"name,omitempty"   the name; an empty value is left out of JSON (omitzero means the same here)
//	param:"required"        JSON must have it, and it must not be empty, in Go neither
//	param:"required,empty"  JSON must have it; it may be empty
//	param:"required,single" the same as "required", of a list of strings of which one may be given as it is
//	param:"whole"           a template counts only if it is the whole string, and is text within one
//	param:"nonzero"         a 0 that JSON or a template gives is refused: in Go it stands for the default
//	param:"count"           the schema allows no negative whole number
//	param:"id"              a string is the id of a step
//	param:"quoted"          a whole number may also stand in quotes
//	param:"bytes"           a string of any bytes: {"base64": "..."} stands for bytes that are not UTF-8
//	alias:"one other"       names that lenient decoding takes for it, in place of the usual ones
//	enum:"auto,literal"     the strings that are allowed, in the field, or in its list or map
//	doc:"one sentence"      for people and schemas
//
// A field can be a string, bool, whole number or float, a slice, a map with string keys or a struct of these, a
// pointer to one of these, or a type that has both MarshalJSON and UnmarshalJSON or both MarshalText and
// UnmarshalText, which then does the reading and writing. It can also be any, or hold any: see below. All else is
// refused by [Describe]. A struct that is empty and not required is left out of JSON, as is a nil pointer.
//
// # Any
//
// A parameter of type any, also as the element of a slice or a map, takes every JSON value, and null: nil, bool, int64,
// float64, json.Number, string, []any and map[string]any, nested at most [template.MaxDepth] deep. Whole numbers that
// fit are an int64, and a json.Number has more digits than a float64 keeps, wherever numbers come from: in Go other
// types can be given, and copies have these. The strings in it can be templates. One that is a template and nothing
// else becomes what that gives, of whatever type; so an element that becomes a list is a list within the list.
//
// # Templates and bindings
//
// A string can hold a template as it is. For a parameter that is not a string the template is kept beside the value,
// in a map from the parameter's JSON pointer (RFC 6901, below "params": "/start_line", "/ranges/0/end") to the text:
// a binding. The caller decides what is a template.
//
// # Values
//
// A value is the struct or a pointer to it. No function here modifies what it is given, none keeps it, and all are safe
// for concurrent use as far as the types' own methods are. Equal values are written as the same JSON, and
// Decode(Encode(v)) is Equal to v if v passes [Check], and both were given the same prototype.
package params
