// Package params connects an action, which is a Go struct, with its parameters in JSON, in templates and in schemas. It
// works by reflection on the struct, so an action of another package works like a built-in action.
//
// # Parameters
//
// Each exported field of the struct is a parameter, under the name in its json tag or, without one, its Go name. Fields
// of embedded structs are fields of the struct. A field tagged json:"-" is not a parameter: it is never written, read,
// compared or expanded, and copies share its value. The tags are
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
// A field can be a string, bool, whole number or float, a slice, a map with string keys or a struct of these, a pointer
// to any of these, or a type that has both MarshalJSON and UnmarshalJSON or both MarshalText and UnmarshalText, which
// then reads and writes itself. It can also be any, or contain any: see below. [Describe] refuses everything else. A
// struct that is empty and not required is left out of JSON, as is a nil pointer.
//
// # Any
//
// A parameter of type any, also as the element of a slice or a map, accepts every JSON value, and null: nil, bool,
// int64, float64, json.Number, string, []any and map[string]any, nested at most [template.MaxDepth] deep. Whole numbers
// that fit are an int64, and a number with more digits than a float64 keeps is a json.Number, wherever the number comes
// from. Go code may pass other types, and copies have these types. The strings in the value can be templates. A string
// that is only a template becomes the value of the template, of any type; so an element that becomes a list is a list
// within the list.
//
// # Templates and bindings
//
// A string can contain a template directly. For a parameter that is not a string, the template is kept separately from
// the value, in a map from the parameter's JSON pointer (RFC 6901, below "params": "/start_line", "/ranges/0/end") to
// the text: a binding. The caller decides which strings are templates.
//
// # Values
//
// A value is the struct or a pointer to it. No function here modifies or keeps its arguments, and all are safe for
// concurrent use as far as the types' own methods are. Equal values are written as the same JSON, and Decode(Encode(v))
// is Equal to v if v passes [Check] and both use the same prototype.
package params
