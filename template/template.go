// Package template expands references in data: in "{{find.files_count}} files" the reference becomes "12". [Resolve]
// has the rules. The parameters of a step have the same rules, and the results of earlier steps as values.
//
// # References
//
//	{{name}}                all of a root
//	{{ find.files }}        a member; spaces and tabs are allowed inside the braces
//	{{find.files[0]}}       an element of a list, {{find.files[-1]}} the last element
//	{{call.items[0].id}}    a path into data
//	{{call["a.b"].id}}      a key with any characters, as a JSON string; braces in it are \u007b and \u007d
//
// A reference is on one line, has no braces in it, and at most 64 keys and indices after its root.
//
// # Backslashes
//
// A backslash directly before a reference makes the reference text, and is dropped: \{{find.files}} becomes
// {{find.files}}. For a backslash before a value, double it: \\{{find.count}} becomes \12. All other backslashes are
// text. [EscapeData] escapes a text that must stay unchanged.
package template

import "github.com/millrace-go/millrace/internal/template"

// ErrTooLong reports that a result of [Resolve] would have more than 64 MiB. Each value in a list or object
// counts as 64 bytes plus its text.
var ErrTooLong = template.ErrTooLong

// Error reports that a reference has no value, or no usable value. Source is the reference as written, Path its longest
// beginning that has a value, Pointer the JSON pointer of the text, Reason the reason, Err the cause or nil. Code
// returns "INTERPOLATION_FAILED".
type Error = template.Error

// Type is the type of a value that a reference can have. The zero Type is not valid.
type Type = template.Type

// The types, with their types in Go.
const (
	String = template.String // string
	Int    = template.Int    // int, or another integer type
	List   = template.List   // []string: the files of a step
	Bool   = template.Bool   // bool
	Number = template.Number // an integer, a float, or a json.Number
	Object = template.Object // a map whose keys are strings
	Any    = template.Any    // any value that [Resolve] accepts: the type is not known before the step has run
)

// Resolve returns a deep copy of a tree of strings, lists and objects, in which each reference in a string is replaced
// by its value in data. The roots of references are the keys of data that have only letters, digits, "-" and "_". Any
// path, or nothing, follows a root:
//
//	{{name}}                   data["name"]
//	{{step1.items[0].id}}      a member of an element of a list
//	{{step1["a.b"][-1]}}       the last element of a list, whose key has a dot
//
// A string that is exactly one reference becomes its value, with its type. In longer strings, texts are inserted
// unchanged, and all other values as compact JSON. Keys of objects are not expanded, nor are inserted values.
//
// Resolve is strict: a reference with an unknown root is an error, and so is a path without a value. A backslash before
// it makes it text; see [EscapeData].
//
// Both arguments can have slices, arrays, and maps with strings as keys, of any element type; the result has []any
// and map[string]any for them. Numbers, strings and booleans of any type, [encoding/json.Number] too, stay what they
// are. Other values (NaN, functions, structs, pointers) are refused. So are values nested deeper than 100 and
// results larger than 64 MiB. Neither argument is changed, and the result shares nothing with them. The error is an
// [*Error] of the first problem in the order of the keys.
func Resolve(value any, data map[string]any) (any, error) { return template.Resolve(value, data) }

// EscapeData returns a text from which [Resolve] with the same data returns the given text, unchanged.
func EscapeData(text string, data map[string]any) string { return template.EscapeData(text, data) }

// Join returns a list as text, its elements separated by commas. A comma or a backslash in an element gets a backslash,
// so that "a,b.txt" cannot be mistaken for two files.
func Join(list []string) string { return template.Join(list) }

// Format returns a value in the form for a longer text: a text unchanged; null, booleans and numbers as in JSON; a
// []string as from [Join]; any other list or object as compact JSON. The error is an [*Error].
func Format(v any) (string, error) { return template.Format(v) }
