// Package mend repairs the near-JSON of models and people, before a strict decoder reads it.
//
// [JSON] works on the text: it extracts the JSON from code fences and prose, and mends commas, comments, quotes, words
// of Python and JavaScript, line breaks in strings, and brackets that are missing at the end. [Fitter] works on the
// parsed values: it replaces nearly correct names by the correct ones, and converts values to the expected kind.
//
// # Repairs
//
// Only a value with one meaning is repaired. A value that could have two meanings, or may be incomplete, is refused or
// left unchanged, so that the strict decoder refuses it: two objects, a truncated text, a name that resembles two
// others, a list in one string. Anything that could restrict a change is never dropped.
//
// Both are for input that a strict decoder has refused. Valid JSON text, and a value of the expected kind, stay
// unchanged.
package mend
