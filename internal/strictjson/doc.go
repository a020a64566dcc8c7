// Package strictjson reads JSON that people and models write by hand, and refuses what encoding/json lets through:
// repeated names, text after the value, invalid UTF-8, halves of surrogate pairs, numbers that no float64 can hold, and
// nesting, size or number of values beyond a limit.
//
// [Parse] gives a tree of [Node] in which each value knows where it stands in the text and what its JSON pointer is, so
// that whoever finds a mistake later can still name the line. Names keep their case and their order. What is wrong with
// the text itself is a [*SyntaxError] with line and column.
//
// [Nearest] finds the word that was probably meant, [Whole] reads whole numbers exactly, and [AppendQuoted] and
// [Node.AppendJSON] write JSON again.
//
// Everything that Parse accepts, encoding/json accepts too, with the same value. Memory is bounded by [Limits]: at most
// about 150 bytes a value beside the text.
package strictjson
