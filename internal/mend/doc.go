// Package mend repairs what models and people send in place of JSON, before a strict decoder reads it.
//
// [JSON] works on the text: it takes the JSON out of code fences and prose, and mends commas, comments, quotes, words
// of Python and JavaScript, line breaks in strings, and brackets that are missing at the end. [Fitter] works on the
// values that were read: it gives names that are almost right the name they stand for, and values the kind that is
// wanted.
//
// # Repairs
//
// Only a value with one meaning is repaired. A value that could have two meanings, or may have lost a part, is refused
// or left as it is, so that the strict decoder refuses it: two objects, a text that was cut off, a name that is near
// two others, a list in one string. Nothing that could restrain a change is ever dropped.
//
// Both are for input that a strict decoder has refused. A text that is JSON, and a value that is as wanted, stay as
// they are.
package mend
